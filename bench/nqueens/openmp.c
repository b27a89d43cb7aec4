/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "queens.h"

static uint64_t count(queens_board b)
{
    uint64_t counts[32] = {0};
    uint64_t sum = 0;
    int n = 0;
    if (b.columns == queens_full) {
        return 1;
    }
    for (uint32_t open = queens_free(&b); open != 0; open &= open - 1, n++) {
        queens_board next = queens_place(&b, open & -open);
#pragma omp task shared(counts) firstprivate(next, n)
        counts[n] = count(next);
    }
#pragma omp taskwait
    for (int i = 0; i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return queens_setup(args);
}

static void sample(void)
{
    const queens_board empty = {0, 0, 0};
#pragma omp parallel
#pragma omp single
    queens_result = count(empty);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, queens_check, queens_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
