/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * levels.h: the search by levels, examples/cube_levels.h, as a workload.
 */
#ifndef BENCH_CUBE2X2_LEVELS_H
#define BENCH_CUBE2X2_LEVELS_H

#include "../../examples/cube_levels.h"
#include "../support/runner.h"

static inline int levels_setup(const bench_args *args)
{
    if (args->size > 3) {
        return -1;
    }
    level_moves = (unsigned)args->size * 3;
    cube_make_tables();
    return 0;
}

/* Of the counts per depth. */
static inline uint64_t levels_check(void)
{
    uint64_t hash = 1;
    for (unsigned d = 0; d < level.depths; d++) {
        hash = hash * 0x9e3779b97f4a7c15u + level.counts[d];
    }
    return hash;
}

static inline uint64_t levels_units(void)
{
    return level.n_seen;
}

#endif
