/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "idle.h"

#include <tbb/task_group.h>

static std::uint64_t tree(int depth)
{
    if (depth == 0) {
        return idle_leaf();
    }
    std::uint64_t b;
    tbb::task_group group;
    group.run([&b, depth] { b = tree(depth - 1); });
    std::uint64_t a = tree(depth - 1);
    group.wait();
    return a + b;
}

static std::uint64_t burst()
{
    return bench_arena->execute([] { return tree(IDLE_DEPTH); });
}

static void run(void (*job)())
{
    bench_arena->execute([job] {
        tbb::task_group group;
        group.run_and_wait([job] { job(); });
    });
}

static int setup(const bench_args *args)
{
    static const idle_pool pool = {burst, run};
    return bench_arena_setup(args) != 0 || idle_setup(args, &pool) != 0;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,      idle_prepare, idle_sample,
        idle_check, idle_units,   bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
