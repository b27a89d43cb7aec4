/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "quick.h"

#include <wsteal/sort_define.h>

#define NUMBER_LESS(a, b) (*(a) < *(b))
WS_SORT_DEFINE(sort_numbers, uint64_t, NUMBER_LESS)

static int setup(const bench_args *args)
{
    return quick_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static int sort(void *arg)
{
    (void)arg;
    return sort_numbers(quick_items, quick_n);
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
