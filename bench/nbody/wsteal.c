/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "nbody.h"

static int setup(const bench_args *args)
{
    return nbody_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static int move(size_t begin, size_t end, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end; i++) {
        nbody_move(i);
    }
    return 0;
}

static int steps(void *arg)
{
    (void)arg;
    for (int step = 0; step < NBODY_STEPS; step++) {
        ws_for(0, nbody_n, NULL, move, NULL);
        nbody_turn();
    }
    return 0;
}

static void sample(void)
{
    ws_pool_install(bench_pool, steps, NULL);
}

static void teardown(void)
{
    bench_pool_teardown();
    nbody_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nbody_prepare, sample, nbody_check, nbody_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
