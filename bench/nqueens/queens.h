/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * queens.h: bit-mask boards: which columns and diagonals are taken.
 */
#ifndef BENCH_NQUEENS_QUEENS_H
#define BENCH_NQUEENS_QUEENS_H

#include "../support/runner.h"

typedef struct {
    uint32_t columns;
    uint32_t left;
    uint32_t right;
} queens_board;

static uint32_t queens_full; /* a bit for each column */
static uint64_t queens_result;
static uint64_t queens_tasks;

static inline uint32_t queens_free(const queens_board *b)
{
    return queens_full & ~(b->columns | b->left | b->right);
}

/* The board with a queen in the column of the bit, a row further down. */
static inline queens_board queens_place(const queens_board *b, uint32_t bit)
{
    queens_board next;
    next.columns = b->columns | bit;
    next.left = (b->left | bit) << 1;
    next.right = (b->right | bit) >> 1;
    return next;
}

static uint64_t queens_serial(const queens_board *b, uint64_t *tasks)
{
    uint64_t count = 0;
    if (b->columns == queens_full) {
        return 1;
    }
    for (uint32_t open = queens_free(b); open != 0; open &= open - 1) {
        queens_board next = queens_place(b, open & -open);
        ++*tasks;
        count += queens_serial(&next, tasks);
    }
    return count;
}

static int queens_setup(const bench_args *args)
{
    const queens_board empty = {0, 0, 0};
    queens_full = ((uint32_t)1 << args->size) - 1;
    queens_tasks = 0;
    queens_serial(&empty, &queens_tasks);
    return 0;
}

static uint64_t queens_check(void)
{
    return queens_result;
}

static uint64_t queens_units(void)
{
    return queens_tasks;
}

#endif
