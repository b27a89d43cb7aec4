/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * serial-call.c: both calls by a function that is not inlined and is given
 * pointers: what the interface of ws_join() costs by itself.
 */
typedef int (*fib_fn)(void *arg);

static int call_both(fib_fn a, void *arg_a, fib_fn b, void *arg_b)
{
    int code_a = a(arg_a);
    int code_b = b(arg_b);
    return code_a != 0 ? code_a : code_b;
}

/* volatile: what it is, the compiler does not know */
static int (*volatile call)(fib_fn, void *, fib_fn, void *) = call_both;

#define FIB_BOTH call
#include "pairs.h"

static int setup(const bench_args *args)
{
    fib_n = args->size;
    return 0;
}

static void sample(void)
{
    fib_arg f = {fib_n, 0};
    fib(&f);
    fib_result = f.result;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, fib_check, fib_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
