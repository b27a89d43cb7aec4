/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "flat.h"

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return flat_setup(args);
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    for (uint64_t i = 0; i < flat_size; i++) {
#pragma omp task
        bench_counts[omp_get_thread_num()].count++;
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, flat_check, flat_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
