/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fib.h"

static uint64_t fib(uint64_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return 0;
}

static void sample(void)
{
    fib_result = fib(fib_n);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, fib_check, fib_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
