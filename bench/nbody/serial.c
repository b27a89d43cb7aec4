/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "nbody.h"

static void sample(void)
{
    for (int step = 0; step < NBODY_STEPS; step++) {
        for (size_t i = 0; i < nbody_n; i++) {
            nbody_move(i);
        }
        nbody_turn();
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        nbody_setup, nbody_prepare, sample,
        nbody_check, nbody_units,   nbody_teardown,
    };
    return bench_main(argc, argv, &program);
}
