/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * matmul.h: square matrices of doubles, of 32 * 2^k rows, each as its four
 * quadrants one behind the other, and so on; blocks of 32 by 32 are stored row
 * by row.  The elements are small integers, so that no sum is rounded.
 */
#ifndef BENCH_MATMUL_MATMUL_H
#define BENCH_MATMUL_MATMUL_H

#include <stdlib.h>
#include <string.h>

#include "../support/runner.h"

#ifdef __cplusplus
#define MATMUL_RESTRICT __restrict
#else
#define MATMUL_RESTRICT restrict
#endif

enum {
    MATMUL_BLOCK = 32,
    MATMUL_LEAF = MATMUL_BLOCK * MATMUL_BLOCK
};

static double *matmul_a;
static double *matmul_b;
static double *matmul_c;
static size_t matmul_rows;
static size_t matmul_n; /* elements */

static inline int matmul_setup(const bench_args *args)
{
    uint64_t state = 1;
    size_t rows = MATMUL_BLOCK;
    while (rows < args->size) {
        rows *= 2;
    }
    if (rows != args->size) {
        return -1;
    }
    matmul_rows = rows;
    matmul_n = rows * rows;
    matmul_a = (double *)malloc(matmul_n * sizeof(double));
    matmul_b = (double *)malloc(matmul_n * sizeof(double));
    matmul_c = (double *)malloc(matmul_n * sizeof(double));
    if (matmul_a == NULL || matmul_b == NULL || matmul_c == NULL) {
        return -1;
    }
    for (size_t i = 0; i < matmul_n; i++) {
        matmul_a[i] = (double)(bench_random(&state) % 8);
        matmul_b[i] = (double)(bench_random(&state) % 8);
    }
    return 0;
}

static inline void matmul_prepare(void)
{
    memset(matmul_c, 0, matmul_n * sizeof(double));
}

static inline uint64_t matmul_check(void)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < matmul_n; i++) {
        hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)matmul_c[i];
    }
    return hash;
}

static inline uint64_t matmul_units(void)
{
    return (uint64_t)matmul_n * matmul_rows;
}

static inline void matmul_teardown(void)
{
    free(matmul_a);
    free(matmul_b);
    free(matmul_c);
}

/* c += a * b, for one block.  Not inlined: compiled the same for all, and in
 * loops long enough not to depend on where they begin. */
__attribute__((noinline)) static void matmul_leaf(
    double *MATMUL_RESTRICT c, const double *MATMUL_RESTRICT a,
    const double *MATMUL_RESTRICT b)
{
    for (size_t i = 0; i < MATMUL_LEAF; i += MATMUL_BLOCK) {
        for (size_t k = 0; k < MATMUL_BLOCK; k += 4) {
            const double *x = a + i + k;
            const double *row = b + k * MATMUL_BLOCK;
            for (size_t j = 0; j < MATMUL_BLOCK; j++) {
                c[i + j] += x[0] * row[j] + x[1] * row[j + MATMUL_BLOCK] +
                            x[2] * row[j + 2 * MATMUL_BLOCK] +
                            x[3] * row[j + 3 * MATMUL_BLOCK];
            }
        }
    }
}

#endif
