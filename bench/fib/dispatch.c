/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * dispatch.c: both calls by dispatch_apply_f(), which its manual recommends
 * over single tasks.  It divides the CPUs among nested calls, so these soon run
 * in order; to wait for a group instead would block a thread in each call.
 */
#define _GNU_SOURCE

#include "../support/dispatch.h"
#include "fib.h"

typedef struct {
    uint64_t n;
    uint64_t results[2];
} fib_arg;

static uint64_t fib(uint64_t n);

static void call(void *arg, size_t i)
{
    fib_arg *f = arg;
    f->results[i] = fib(f->n - 1 - i);
}

static uint64_t fib(uint64_t n)
{
    if (n < 2) {
        return n;
    }
    fib_arg f = {n, {0, 0}};
    dispatch_apply_f(2, DISPATCH_APPLY_AUTO, &f, call);
    return f.results[0] + f.results[1];
}

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return bench_dispatch_setup(args);
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
    bench_dispatch_argv = argv;
    return bench_main(argc, argv, &program);
}
