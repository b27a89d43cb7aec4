/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"

#define FIB_BOTH ws_join
#include "pairs.h"

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return bench_pool_setup(args);
}

static void sample(void)
{
    fib_arg f = {fib_n, 0};
    ws_pool_install(bench_pool, fib, &f);
    fib_result = f.result;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, fib_check, fib_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
