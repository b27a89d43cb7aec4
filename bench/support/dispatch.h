/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * dispatch.h: libdispatch with the workers of the arguments.  To be included
 * first, by a file that defines _GNU_SOURCE.
 */
#ifndef BENCH_SUPPORT_DISPATCH_H
#define BENCH_SUPPORT_DISPATCH_H

#include <sched.h>
#include <unistd.h>

/* It is written for clang and uses these before it gives them a default. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifndef __has_extension
#define __has_extension(x) 0
#endif
#include <dispatch/dispatch.h>

#include "runner.h"

/* Of main(). */
static char **bench_dispatch_argv;

/* The library counts the CPUs of the process when it is loaded, and nothing
 * else sets its workers: where there are more CPUs than workers, the program
 * starts anew with fewer.  Not 0: there are fewer, or it failed. */
static inline int bench_dispatch_setup(const bench_args *args)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) {
        return -1;
    }
    unsigned had = (unsigned)CPU_COUNT(&cpus);
    if (had <= args->workers) {
        return had == args->workers ? 0 : -1;
    }
    for (size_t i = CPU_SETSIZE; i-- > 0 && had > args->workers;) {
        if (CPU_ISSET(i, &cpus)) {
            CPU_CLR(i, &cpus);
            had--;
        }
    }
    if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0) {
        execv("/proc/self/exe", bench_dispatch_argv);
    }
    return -1;
}

#endif
