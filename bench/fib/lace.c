/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fib.h"

#include <lace.h>

TASK_1(uint64_t, fib, uint64_t, n)
{
    if (n < 2) {
        return n;
    }
    SPAWN(fib, n - 2);
    uint64_t a = CALL(fib, n - 1);
    uint64_t b = SYNC(fib);
    return a + b;
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    lace_start(args->workers, 0);
    return 0;
}

static void sample(void)
{
    fib_result = RUN(fib, fib_n);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, fib_check, fib_units, lace_stop,
    };
    return bench_main(argc, argv, &program);
}
