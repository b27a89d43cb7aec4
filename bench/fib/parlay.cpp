/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/parlay.hpp"
#include "fib.h"

static std::uint64_t fib(std::uint64_t n)
{
    std::uint64_t a;
    std::uint64_t b;
    if (n < 2) {
        return n;
    }
    parlay::par_do([&a, n] { a = fib(n - 1); }, [&b, n] { b = fib(n - 2); });
    return a + b;
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return bench_parlay_setup(args);
}

static void sample()
{
    fib_result = fib(fib_n);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, fib_check, fib_units, nullptr,
    };
    return bench_main(argc, argv, &program);
}
