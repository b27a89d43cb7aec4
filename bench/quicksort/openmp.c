/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * openmp.c: OpenMP has no sort; the first part of each split is a task.
 */
#include "../support/openmp.h"
#include "introsort.h"
#include "quick.h"

enum {
    CUT_OFF = 4096
};

static void sort(uint64_t *a, size_t n, unsigned levels)
{
    while (n > CUT_OFF && levels > 0) {
        levels--;
        size_t at = quick_split(a, n);
#pragma omp task firstprivate(a, at, levels)
        sort(a, at, levels);
        a += at;
        n -= at;
    }
    quick_serial(a, n, levels);
}

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return quick_setup(args);
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    sort(quick_items, quick_n, quick_levels(quick_n));
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, quick_prepare, sample, quick_check, quick_units, quick_teardown,
    };
    return bench_main(argc, argv, &program);
}
