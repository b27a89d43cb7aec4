/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "fib.h"

#include <tbb/task_group.h>

static std::uint64_t fib(std::uint64_t n)
{
    std::uint64_t b;
    if (n < 2) {
        return n;
    }
    tbb::task_group group;
    group.run([&b, n] { b = fib(n - 2); });
    std::uint64_t a = fib(n - 1);
    group.wait();
    return a + b;
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute([] { fib_result = fib(fib_n); });
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, fib_check, fib_units, bench_arena_teardown,
    };
    return bench_main(argc, argv, &program);
}
