/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * counts.h: a counter for each worker, on cache lines of its own.
 */
#ifndef BENCH_SUPPORT_COUNTS_H
#define BENCH_SUPPORT_COUNTS_H

#include <stdint.h>

enum {
    BENCH_COUNTS = 64
};

static struct {
    uint64_t count;
    char pad[120];
} bench_counts[BENCH_COUNTS];

/* Their sum; they are 0 again. */
static inline uint64_t bench_counts_take(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < BENCH_COUNTS; i++) {
        sum += bench_counts[i].count;
        bench_counts[i].count = 0;
    }
    return sum;
}

#endif
