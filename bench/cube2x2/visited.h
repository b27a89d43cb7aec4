/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * visited.h: searches in no order: a bit for each state, that all share.  They
 * know no depths; what they have visited must be what the levels reach.
 */
#ifndef BENCH_CUBE2X2_VISITED_H
#define BENCH_CUBE2X2_VISITED_H

#include "levels.h"

static uint32_t visited[STATES / 32 + 1];

/* Is it new? */
static inline unsigned visited_look(uint32_t state)
{
    return ~(__atomic_load_n(&visited[state / 32], __ATOMIC_RELAXED) >>
             state % 32) &
           1;
}

/* Was it new?  No longer. */
static inline int visited_add(uint32_t state)
{
    uint32_t bit = (uint32_t)1 << state % 32;
    /* relaxed: the bit hands no data over */
    return (__atomic_fetch_or(&visited[state / 32], bit, __ATOMIC_RELAXED) &
            bit) == 0;
}

/* The states that follow and look new; how many.  Without a branch per state,
 * which nobody could predict. */
static inline unsigned visited_next(uint32_t state, uint32_t out[MOVES])
{
    const uint32_t *perm = perm_to[state / TWISTS];
    const uint16_t *twist = twist_to[state % TWISTS];
    unsigned n = 0;
    for (unsigned m = 0; m < level_moves; m++) {
        out[n] = perm[m] + twist[m];
        n += visited_look(out[n]);
    }
    return n;
}

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
