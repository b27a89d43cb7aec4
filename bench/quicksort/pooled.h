/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pooled.h: a sort of this library, in its pool.
 */
#ifndef BENCH_QUICKSORT_POOLED_H
#define BENCH_QUICKSORT_POOLED_H

#include "../support/pool.h"
#include "quick.h"

/* Sorts quick_items; arg is NULL. */
static int pooled_sort(void *arg);

static int pooled_setup(const bench_args *args)
{
    return quick_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void pooled_sample(void)
{
    ws_pool_install(bench_pool, pooled_sort, NULL);
}

static void pooled_teardown(void)
{
    bench_pool_teardown();
    quick_teardown();
}

static int pooled_main(int argc, char **argv)
{
    static const bench_program program = {
        pooled_setup, quick_prepare, pooled_sample,
        quick_check,  quick_units,   pooled_teardown,
    };
    return bench_main(argc, argv, &program);
}

#endif
