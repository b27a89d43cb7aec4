/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * passive.h: OpenMP whose threads sleep when they have nothing to do.
 *
 * The runtimes read OMP_WAIT_POLICY before main(), so main() begins again.
 */
#ifndef BENCH_SUPPORT_PASSIVE_H
#define BENCH_SUPPORT_PASSIVE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first thing in main(). */
static inline void bench_passive(char **argv)
{
    const char *policy = getenv("OMP_WAIT_POLICY");
    if (policy == NULL || strcmp(policy, "passive") != 0) {
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
}

#endif
