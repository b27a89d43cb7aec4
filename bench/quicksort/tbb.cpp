/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "quick.h"

#include <tbb/parallel_sort.h>

static int setup(const bench_args *args)
{
    return quick_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute(
        [] { tbb::parallel_sort(quick_items, quick_items + quick_n); });
}

static void teardown()
{
    bench_arena_teardown();
    quick_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, quick_prepare, sample, quick_check, quick_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
