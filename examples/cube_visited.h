/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cube_visited.h: a bit for each state of the cube, for searches in no order:
 * 460 KB stay in a core's cache.  All threads share it.
 *
 * The atomic builtins of gcc and clang, so that C++ can read it as well.
 */
#ifndef CUBE_VISITED_H
#define CUBE_VISITED_H

#include "cube_levels.h"

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

#endif
