/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "merge.h"

#include <wsteal/sort_define.h>

#define ITEM_LESS(a, b) ((a)->key < (b)->key)
WS_SORT_DEFINE(sort_items, merge_item, ITEM_LESS)

static int setup(const bench_args *args)
{
    return merge_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static int sort(void *arg)
{
    (void)arg;
    return sort_items_stable(merge_items, merge_n);
}

static void sample(void)
{
    ws_pool_install(bench_pool, sort, NULL);
}

static void teardown(void)
{
    bench_pool_teardown();
    merge_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, merge_prepare, sample, merge_check, merge_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
