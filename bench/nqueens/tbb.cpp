/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "queens.h"

#include <tbb/task_group.h>

static std::uint64_t count(const queens_board &b)
{
    std::uint64_t counts[32];
    std::uint64_t sum = 0;
    int n = 0;
    if (b.columns == queens_full) {
        return 1;
    }
    tbb::task_group group;
    for (std::uint32_t open = queens_free(&b); open != 0; open &= open - 1) {
        queens_board next = queens_place(&b, open & -open);
        group.run([next, to = &counts[n++]] { *to = count(next); });
    }
    group.wait();
    for (int i = 0; i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

static int setup(const bench_args *args)
{
    return queens_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute([] { queens_result = count(queens_board{0, 0, 0}); });
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, queens_check, queens_units,
        bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
