/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "fib.h"

typedef struct {
    uint64_t n;
    uint64_t result;
} fib_arg;

static int fib(void *arg)
{
    fib_arg *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib_arg a = {f->n - 1, 0};
    fib_arg b = {f->n - 2, 0};
    ws_join(fib, &a, fib, &b);
    f->result = a.result + b.result;
    return 0;
}

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
