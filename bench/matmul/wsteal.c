/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "matmul.h"

/* One quadrant of c: two products, one after the other. */
typedef struct {
    double *c;
    const double *a[2];
    const double *b[2];
    size_t n;
} quadrant;

static void multiply(double *c, const double *a, const double *b, size_t n);

static int add_both(void *arg)
{
    const quadrant *q = arg;
    multiply(q->c, q->a[0], q->b[0], q->n);
    multiply(q->c, q->a[1], q->b[1], q->n);
    return 0;
}

static void multiply(double *c, const double *a, const double *b, size_t n)
{
    size_t q = n / 4;
    if (n == MATMUL_LEAF) {
        matmul_leaf(c, a, b);
        return;
    }
    quadrant parts[4];
    ws_task tasks[4];
    for (size_t i = 0; i < 4; i++) {
        const double *row = a + i / 2 * 2 * q;
        const double *column = b + i % 2 * q;
        parts[i] =
            (quadrant){c + i * q, {row, row + q}, {column, column + 2 * q}, q};
        tasks[i] = (ws_task){add_both, &parts[i], NULL};
    }
    ws_invoke(4, tasks);
}

static int all(void *arg)
{
    (void)arg;
    multiply(matmul_c, matmul_a, matmul_b, matmul_n);
    return 0;
}

static int setup(const bench_args *args)
{
    return matmul_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void sample(void)
{
    ws_pool_install(bench_pool, all, NULL);
}

static void teardown(void)
{
    bench_pool_teardown();
    matmul_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, matmul_prepare, sample, matmul_check, matmul_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
