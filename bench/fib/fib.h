/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fib.h: fib(n) by two calls, the second fork of each inner call offered.
 */
#ifndef BENCH_FIB_FIB_H
#define BENCH_FIB_FIB_H

#include "../support/runner.h"

static uint64_t fib_n;
static uint64_t fib_result;

static uint64_t fib_check(void)
{
    return fib_result;
}

/* Inner calls of fib(n): fib(n + 1) - 1. */
static uint64_t fib_units(void)
{
    uint64_t a = 0;
    uint64_t b = 1;
    for (uint64_t i = 0; i < fib_n; i++) {
        uint64_t sum = a + b;
        a = b;
        b = sum;
    }
    return b - 1;
}

#endif
