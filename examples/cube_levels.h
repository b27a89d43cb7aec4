/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * cube_levels.h: all states of the 2x2x2 cube that are as many moves away, then
 * those that are one move further, and so on.
 *
 * A state is (permutation, twists), and a move maps each part for itself.  So a
 * level is 5,040 bitmaps of 729 bits, and the next level of one permutation
 * depends on the bitmaps of nine others of this level.  Whoever computes a
 * permutation's bitmap is the only one that writes it: no atomic operation, no
 * shared visited set, and depths for nothing.  Late levels are computed
 * backwards: which unseen states have a neighbour in this level?  The first
 * found ends the question.
 *
 *     level_begin();
 *     for (found = 1; found > 0;) {
 *         level_open(found);
 *         found = the sum of level_step() over parts of [0, PERMS);
 *     }
 */
#ifndef WSTEAL_EXAMPLES_CUBE_LEVELS_H
#define WSTEAL_EXAMPLES_CUBE_LEVELS_H

#include "cube.h"

#define LEVEL_WORDS 12 /* of 64 bits, for 729 */
#define LEVELS_MAX 16

typedef uint64_t level_bits[LEVEL_WORDS];

static struct {
    level_bits seen[PERMS];
    level_bits levels[2][PERMS];
    level_bits *now;
    level_bits *next;
    int backwards;
    uint64_t n_seen;
    unsigned depths;
    uint64_t counts[LEVELS_MAX]; /* per depth */
} level;

/* Which moves there are: the first so many. */
static unsigned level_moves = MOVES;

static inline void level_forwards(unsigned p, uint64_t *out)
{
    for (unsigned m = 0; m < level_moves; m++) {
        const unsigned inverse = cube_inverse(m);
        const uint64_t *in = level.now[perm_to[p][inverse] / TWISTS];
        for (unsigned w = 0; w < LEVEL_WORDS; w++) {
            for (uint64_t left = in[w]; left != 0; left &= left - 1) {
                const unsigned bit = (unsigned)__builtin_ctzll(left);
                const unsigned to = twist_to[w * 64 + bit][m];
                out[to / 64] |= (uint64_t)1 << (to % 64);
            }
        }
    }
}

static inline int level_has_neighbour(const uint64_t *const in[MOVES],
                                      unsigned twist)
{
    for (unsigned m = 0; m < level_moves; m++) {
        const unsigned to = twist_to[twist][m];
        if (in[m][to / 64] >> (to % 64) & 1) {
            return 1;
        }
    }
    return 0;
}

static inline void level_backwards(unsigned p, uint64_t *out)
{
    const uint64_t *in[MOVES];
    for (unsigned m = 0; m < level_moves; m++) {
        in[m] = level.now[perm_to[p][m] / TWISTS];
    }
    for (unsigned w = 0; w < LEVEL_WORDS; w++) {
        const uint64_t all = w < LEVEL_WORDS - 1
                                 ? ~(uint64_t)0
                                 : ((uint64_t)1 << TWISTS % 64) - 1;
        for (uint64_t left = all & ~level.seen[p][w]; left != 0;
             left &= left - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(left);
            if (level_has_neighbour(in, w * 64 + bit)) {
                out[w] |= (uint64_t)1 << bit;
            }
        }
    }
}

/** The next level of permutations [begin, end): how many states it has. */
static inline uint64_t level_step(size_t begin, size_t end)
{
    uint64_t found = 0;
    for (size_t p = begin; p < end; p++) {
        level_bits out = {0};
        (level.backwards ? level_backwards : level_forwards)((unsigned)p, out);
        for (unsigned w = 0; w < LEVEL_WORDS; w++) {
            out[w] &= ~level.seen[p][w];
            level.seen[p][w] |= out[w];
            found += (uint64_t)__builtin_popcountll(out[w]);
        }
        memcpy(level.next[p], out, sizeof(level_bits));
    }
    return found;
}

/** Only the solved state is seen, and will be the first level. */
static inline void level_begin(void)
{
    memset(&level, 0, sizeof level);
    level.now = level.levels[0];
    level.next = level.levels[1];
    level.next[0][0] = 1;
    level.seen[0][0] = 1;
}

/** What has been found, so many states, is the level of now. */
static inline void level_open(uint64_t found)
{
    level_bits *swap = level.now;
    level.now = level.next;
    level.next = swap;
    level.counts[level.depths++] = found;
    level.n_seen += found;
    /* Backwards costs a few looks per unseen state, forwards nine per state of
     * this level. */
    level.backwards = found > (STATES - level.n_seen) / 4;
}

#endif
