/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wsteal-compare.c: with a comparison function, as qsort(3) has one.
 */
#include "../support/pool.h"
#include "quick.h"

static int compare(const void *a, const void *b, void *ctx)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    (void)ctx;
    return (x > y) - (x < y);
}

static int setup(const bench_args *args)
{
    return quick_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static int sort(void *arg)
{
    (void)arg;
    return ws_sort(quick_items, quick_n, sizeof(*quick_items), compare, NULL);
}

static void sample(void)
{
    ws_pool_install(bench_pool, sort, NULL);
}

static void teardown(void)
{
    bench_pool_teardown();
    quick_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, quick_prepare, sample, quick_check, quick_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
