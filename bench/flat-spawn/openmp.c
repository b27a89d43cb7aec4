/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "flat.h"

#include <omp.h>

static int setup(const bench_args *args)
{
    omp_set_dynamic(0);
    omp_set_num_threads((int)args->workers);
    return flat_setup(args);
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    for (uint64_t i = 0; i < flat_size; i++) {
#pragma omp task
        flat_ran[omp_get_thread_num()].count++;
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, flat_check, flat_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
