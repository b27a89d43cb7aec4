/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pairs.h: fib as a function of a pointer, whose two calls are made by
 * FIB_BOTH(fn, arg, fn, arg): ws_join(), or what it costs without a pool.
 */
#ifndef BENCH_FIB_PAIRS_H
#define BENCH_FIB_PAIRS_H

#include "fib.h"

typedef struct {
    uint64_t n;
    uint64_t result;
} fib_arg;

static int fib(void *arg)
{
    fib_arg *f = (fib_arg *)arg;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib_arg a = {f->n - 1, 0};
    fib_arg b = {f->n - 2, 0};
    FIB_BOTH(fib, &a, fib, &b);
    f->result = a.result + b.result;
    return 0;
}

#endif
