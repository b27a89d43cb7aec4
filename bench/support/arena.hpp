/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * arena.hpp: oneTBB with the workers of the arguments, the caller among them.
 */
#ifndef BENCH_SUPPORT_ARENA_HPP
#define BENCH_SUPPORT_ARENA_HPP

#include <memory>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "runner.h"

static std::unique_ptr<tbb::global_control> bench_control;
static std::unique_ptr<tbb::task_arena> bench_arena;

static inline int bench_arena_setup(const bench_args *args)
{
    bench_control = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism, args->workers);
    bench_arena =
        std::make_unique<tbb::task_arena>(static_cast<int>(args->workers));
    bench_arena->initialize();
    return 0;
}

static inline void bench_arena_teardown()
{
    bench_arena.reset();
    bench_control.reset();
}

#endif
