/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tbb-execute.cpp: by task_arena::execute(): the caller enters the arena and
 * runs the job itself, so nobody need wake up.
 */
#include "../support/arena.hpp"
#include "tbb_leaf.hpp"

static std::uint64_t submit()
{
    std::uint64_t begin = bench_now_ns();
    bench_arena->execute(wake_job);
    return bench_now_ns() - begin;
}

static std::uint64_t leaf()
{
    wake_leaf_prepare();
    bench_arena->execute(tbb_busy_then_leaf);
    return wake_leaf_ns();
}

static int setup(const bench_args *args)
{
    bench_args own = *args;
    return wake_setup(&own) != 0 || bench_arena_setup(&own) != 0;
}

static void sample()
{
    wake_measure(submit, leaf);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, wake_check, wake_units, bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
