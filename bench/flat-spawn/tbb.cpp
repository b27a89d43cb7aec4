/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "flat.h"

#include <tbb/task_group.h>

static int setup(const bench_args *args)
{
    return flat_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute([] {
        tbb::task_group group;
        for (std::uint64_t i = 0; i < flat_size; i++) {
            group.run([] {
                bench_counts[tbb::this_task_arena::current_thread_index()].count++;
            });
        }
        group.wait();
    });
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, flat_check, flat_units, bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
