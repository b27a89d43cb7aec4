/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tbb.cpp: by task_arena::enqueue(), which a worker must wake up for.
 */
#include "../support/arena.hpp"
#include "tbb_leaf.hpp"

static std::uint32_t done;

/* Runs f on a worker. */
template <typename F> static void run(F f)
{
    __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
    bench_arena->enqueue([f] {
        f();
        wake_set(&done, 1);
    });
    wake_until(&done, 1);
}

static std::uint64_t submit()
{
    std::uint64_t begin = bench_now_ns();
    run(wake_job);
    return bench_now_ns() - begin;
}

static std::uint64_t leaf()
{
    wake_leaf_prepare();
    run(tbb_busy_then_leaf);
    return wake_leaf_ns();
}

/* The caller is no member: the arena has as many workers as it is told. */
static int setup(const bench_args *args)
{
    bench_args own = *args;
    int code = wake_setup(&own);
    bench_control = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism, own.workers + 1);
    bench_arena =
        std::make_unique<tbb::task_arena>(static_cast<int>(own.workers), 0);
    return code;
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
