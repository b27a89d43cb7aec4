/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "levels.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <functional>

static int setup(const bench_args *args)
{
    return levels_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void search()
{
    for (std::uint64_t found = 1; found > 0;) {
        level_open(found);
        found = tbb::parallel_reduce(
            tbb::blocked_range<std::size_t>(0, PERMS), std::uint64_t{0},
            [](const tbb::blocked_range<std::size_t> &some, std::uint64_t sum) {
                return sum + level_step(some.begin(), some.end());
            },
            std::plus<std::uint64_t>());
    }
}

static void sample()
{
    bench_arena->execute(search);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,        level_begin,  sample,
        levels_check, levels_units, bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
