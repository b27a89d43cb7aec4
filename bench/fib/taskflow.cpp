/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/executor.hpp"
#include "fib.h"

static std::uint64_t fib(std::uint64_t n)
{
    std::uint64_t b;
    if (n < 2) {
        return n;
    }
    tf::TaskGroup group = bench_executor->task_group();
    group.silent_async([&b, n] { b = fib(n - 2); });
    std::uint64_t a = fib(n - 1);
    group.corun();
    return a + b;
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return bench_executor_setup(args);
}

static void sample()
{
    fib_result = bench_executor->async([] { return fib(fib_n); }).get();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, fib_check, fib_units, bench_executor_teardown,
    };
    return bench_main(argc, argv, &program);
}
