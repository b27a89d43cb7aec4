/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * flat.h: each task counts itself, in a counter of its worker.
 */
#ifndef BENCH_FLAT_SPAWN_FLAT_H
#define BENCH_FLAT_SPAWN_FLAT_H

#include "../support/runner.h"

enum {
    FLAT_WORKERS = 64
};

static struct {
    uint64_t count;
    char pad[120];
} flat_ran[FLAT_WORKERS];
static uint64_t flat_size;

static int flat_setup(const bench_args *args)
{
    flat_size = args->size;
    return args->workers <= FLAT_WORKERS ? 0 : -1;
}

static uint64_t flat_check(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < FLAT_WORKERS; i++) {
        sum += flat_ran[i].count;
        flat_ran[i].count = 0;
    }
    return sum;
}

static uint64_t flat_units(void)
{
    return flat_size;
}

#endif
