/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "nbody.h"

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return nbody_setup(args);
}

static void sample(void)
{
    for (int step = 0; step < NBODY_STEPS; step++) {
#pragma omp parallel for
        for (size_t i = 0; i < nbody_n; i++) {
            nbody_move(i);
        }
        nbody_turn();
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nbody_prepare, sample, nbody_check, nbody_units, nbody_teardown,
    };
    return bench_main(argc, argv, &program);
}
