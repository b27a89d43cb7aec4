/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fib.h"

#include <memory>

#include <libfork/core.hpp>
#include <libfork/schedule.hpp>

static std::unique_ptr<lf::lazy_pool> pool;

static constexpr auto fib = [](auto self,
                               std::uint64_t n) -> lf::task<std::uint64_t> {
    std::uint64_t a;
    std::uint64_t b;
    if (n < 2) {
        co_return n;
    }
    co_await lf::fork(&a, self)(n - 1);
    co_await lf::call(&b, self)(n - 2);
    co_await lf::join;
    co_return a + b;
};

static int setup(const bench_args *args)
{
    fib_n = args->size;
    pool = std::make_unique<lf::lazy_pool>(args->workers);
    return 0;
}

static void sample()
{
    fib_result = lf::sync_wait(*pool, fib, fib_n);
}

static void teardown()
{
    pool.reset();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, fib_check, fib_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
