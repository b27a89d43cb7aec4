/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "matmul.h"

#include <tbb/parallel_invoke.h>

static void multiply(double *c, const double *a, const double *b, std::size_t n)
{
    std::size_t q = n / 4;
    if (n == MATMUL_LEAF) {
        matmul_leaf(c, a, b);
        return;
    }
    auto quadrant = [=](std::size_t i, std::size_t k) {
        return [=] {
            multiply(c + (2 * i + k) * q, a + 2 * i * q, b + k * q, q);
            multiply(c + (2 * i + k) * q, a + (2 * i + 1) * q, b + (2 + k) * q,
                     q);
        };
    };
    tbb::parallel_invoke(quadrant(0, 0), quadrant(0, 1), quadrant(1, 0),
                         quadrant(1, 1));
}

static int setup(const bench_args *args)
{
    return matmul_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute(
        [] { multiply(matmul_c, matmul_a, matmul_b, matmul_n); });
}

static void teardown()
{
    bench_arena_teardown();
    matmul_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, matmul_prepare, sample, matmul_check, matmul_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
