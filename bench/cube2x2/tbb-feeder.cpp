/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "visited.h"

#include <tbb/parallel_for_each.h>

static int setup(const bench_args *args)
{
    return visited_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void visit(std::uint32_t state, tbb::feeder<std::uint32_t> &feeder)
{
    std::uint32_t next[MOVES];
    unsigned n = visited_next(state, next);
    for (unsigned i = 0; i < n; i++) {
        if (visited_add(next[i])) {
            feeder.add(next[i]);
        }
    }
}

static void sample()
{
    const std::uint32_t root = 0;
    visited_add(root);
    bench_arena->execute(
        [&root] { tbb::parallel_for_each(&root, &root + 1, visit); });
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,         visited_prepare, sample,
        visited_check, levels_units,    bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
