/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * flat.h: each task counts itself, in a counter of its worker.
 */
#ifndef BENCH_FLAT_SPAWN_FLAT_H
#define BENCH_FLAT_SPAWN_FLAT_H

#include "../support/counts.h"
#include "../support/runner.h"

static uint64_t flat_size;

static int flat_setup(const bench_args *args)
{
    flat_size = args->size;
    return args->workers <= BENCH_COUNTS ? 0 : -1;
}

static uint64_t flat_check(void)
{
    return bench_counts_take();
}

static uint64_t flat_units(void)
{
    return flat_size;
}

#endif
