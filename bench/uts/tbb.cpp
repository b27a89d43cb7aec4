/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "uts.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>

#include <functional>

static std::uint64_t count(const uts_node &node)
{
    unsigned n = uts_children(&node);
    if (n == 0) {
        return 1;
    }
    return 1 + tbb::parallel_reduce(
                   tbb::blocked_range<unsigned>(0, n), std::uint64_t{0},
                   [&node](const tbb::blocked_range<unsigned> &some,
                           std::uint64_t sum) {
                       for (unsigned i = some.begin(); i < some.end(); i++) {
                           sum += count(uts_child(&node, i));
                       }
                       return sum;
                   },
                   std::plus<std::uint64_t>());
}

static int setup(const bench_args *args)
{
    return uts_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute([] { uts_result = count(uts_root); });
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, uts_check, uts_units, bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
