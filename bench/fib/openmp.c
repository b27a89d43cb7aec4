/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "fib.h"

static uint64_t fib(uint64_t n)
{
    uint64_t a;
    uint64_t b;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(b)
    b = fib(n - 2);
    a = fib(n - 1);
#pragma omp taskwait
    return a + b;
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    bench_openmp_setup(args->workers);
    return 0;
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    fib_result = fib(fib_n);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, fib_check, fib_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
