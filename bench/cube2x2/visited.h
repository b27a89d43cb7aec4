/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * visited.h: searches in no order: a bit for each state, that all share.  They
 * know no depths; what they have visited must be what the levels reach.
 */
#ifndef BENCH_CUBE2X2_VISITED_H
#define BENCH_CUBE2X2_VISITED_H

#include "../../examples/cube_visited.h"
#include "levels.h"

static inline int visited_setup(const bench_args *args)
{
    if (levels_setup(args) != 0) {
        return -1;
    }
    level_begin();
    for (uint64_t found = 1; found > 0;) {
        level_open(found);
        found = level_step(0, PERMS);
    }
    return 0;
}

static inline void visited_prepare(void)
{
    memset(visited, 0, sizeof(visited));
}

static inline uint64_t visited_check(void)
{
    for (uint32_t state = 0; state < STATES; state++) {
        uint32_t twist = state % TWISTS;
        uint64_t seen =
            level.seen[state / TWISTS][twist / 64] >> (twist % 64) & 1;
        if (seen == visited_look(state)) {
            return 0;
        }
    }
    return levels_check();
}

#endif
