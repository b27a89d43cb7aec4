/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * item.h: the work that belongs to an item.
 */
#ifndef BENCH_RETRY_AS_EMPTY_ITEM_H
#define BENCH_RETRY_AS_EMPTY_ITEM_H

#include "../support/runner.h"

static uint64_t item_count;
static uint64_t item_result;

/* Some 130 ns. */
static inline uint64_t item_work(uint64_t item)
{
    uint64_t state = item;
    uint64_t x = 0;
    for (int i = 0; i < 40; i++) {
        x = bench_random(&state);
        state ^= x;
    }
    return x;
}

static uint64_t item_check(void)
{
    return item_result;
}

static uint64_t item_units(void)
{
    return item_count;
}

#endif
