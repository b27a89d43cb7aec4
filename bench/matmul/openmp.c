/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "matmul.h"

static void multiply(double *c, const double *a, const double *b, size_t n)
{
    size_t q = n / 4;
    if (n == MATMUL_LEAF) {
        matmul_leaf(c, a, b);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 2; k++) {
#pragma omp task
            {
                multiply(c + (2 * i + k) * q, a + 2 * i * q, b + k * q, q);
                multiply(c + (2 * i + k) * q, a + (2 * i + 1) * q,
                         b + (2 + k) * q, q);
            }
        }
    }
#pragma omp taskwait
}

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return matmul_setup(args);
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    multiply(matmul_c, matmul_a, matmul_b, matmul_n);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,        matmul_prepare, sample,
        matmul_check, matmul_units,   matmul_teardown,
    };
    return bench_main(argc, argv, &program);
}
