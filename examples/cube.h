/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * cube.h: the 2x2x2 cube as two tables.
 *
 * With one corner fixed a state is a permutation of the other seven corners and
 * their twists, of which six are free: 5,040 * 729 states.  A move acts on each
 * of the two for itself.  Moves: U U2 U' R R2 R' F F2 F'.
 */
#ifndef WSTEAL_EXAMPLES_CUBE_H
#define WSTEAL_EXAMPLES_CUBE_H

#include <stdint.h>
#include <string.h>

#define PERMS 5040
#define TWISTS 729
#define STATES (PERMS * TWISTS)
#define MOVES 9

/* Where each state of a part goes by each move; permutations times 729. */
static uint32_t perm_to[PERMS][MOVES];
static uint16_t twist_to[TWISTS][MOVES];

/* The corner that comes to each place, and how it is twisted, by U, R, F.
 * Places: URF UFL ULB UBR DFR DLF DRB. */
static const unsigned char turn_perm[3][7] = {
    {3, 0, 1, 2, 4, 5, 6}, {4, 1, 2, 0, 6, 5, 3}, {1, 5, 2, 3, 0, 4, 6}};
static const unsigned char turn_twist[3][7] = {
    {0, 0, 0, 0, 0, 0, 0}, {2, 0, 0, 1, 1, 0, 2}, {1, 2, 0, 0, 2, 1, 0}};

static inline unsigned perm_rank(const unsigned char perm[7])
{
    unsigned rank = 0;
    for (unsigned i = 0; i < 7; i++) {
        unsigned smaller = 0;
        for (unsigned k = i + 1; k < 7; k++) {
            smaller += perm[k] < perm[i];
        }
        rank = rank * (7 - i) + smaller;
    }
    return rank;
}

static inline void perm_unrank(unsigned rank, unsigned char perm[7])
{
    for (unsigned i = 7; i-- > 0;) {
        perm[i] = (unsigned char)(rank % (7 - i));
        rank /= 7 - i;
        for (unsigned k = i + 1; k < 7; k++) {
            perm[k] = (unsigned char)(perm[k] + (perm[k] >= perm[i]));
        }
    }
}

static inline unsigned twist_rank(const unsigned char twist[7])
{
    unsigned rank = 0;
    for (unsigned i = 0; i < 6; i++) {
        rank = rank * 3 + twist[i];
    }
    return rank;
}

static inline void twist_unrank(unsigned rank, unsigned char twist[7])
{
    unsigned sum = 0;
    for (unsigned i = 6; i-- > 0;) {
        twist[i] = (unsigned char)(rank % 3);
        sum += twist[i];
        rank /= 3;
    }
    twist[6] = (unsigned char)((3 - sum % 3) % 3);
}

/** Move m turns face m / 3 by m % 3 + 1 quarters. */
static inline void cube_make_tables(void)
{
    unsigned char part[7];
    unsigned char turned[7];
    for (unsigned p = 0; p < PERMS; p++) {
        for (unsigned face = 0; face < 3; face++) {
            perm_unrank(p, part);
            for (unsigned n = 0; n < 3; n++) {
                for (unsigned i = 0; i < 7; i++) {
                    turned[i] = part[turn_perm[face][i]];
                }
                memcpy(part, turned, 7);
                perm_to[p][face * 3 + n] = perm_rank(part) * TWISTS;
            }
        }
    }
    for (unsigned t = 0; t < TWISTS; t++) {
        for (unsigned face = 0; face < 3; face++) {
            twist_unrank(t, part);
            for (unsigned n = 0; n < 3; n++) {
                for (unsigned i = 0; i < 7; i++) {
                    turned[i] = (unsigned char)((part[turn_perm[face][i]] +
                                                 turn_twist[face][i]) %
                                                3);
                }
                memcpy(part, turned, 7);
                twist_to[t][face * 3 + n] = (uint16_t)twist_rank(part);
            }
        }
    }
}

static inline unsigned cube_inverse(unsigned move)
{
    return move - move % 3 + (2 - move % 3);
}

#endif
