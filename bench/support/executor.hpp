/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * executor.hpp: Taskflow with the workers of the arguments.
 */
#ifndef BENCH_SUPPORT_EXECUTOR_HPP
#define BENCH_SUPPORT_EXECUTOR_HPP

#include <memory>

#include <taskflow/taskflow.hpp>

#include "runner.h"

static std::unique_ptr<tf::Executor> bench_executor;

static inline int bench_executor_setup(const bench_args *args)
{
    bench_executor = std::make_unique<tf::Executor>(args->workers);
    return 0;
}

static inline void bench_executor_teardown()
{
    bench_executor.reset();
}

#endif
