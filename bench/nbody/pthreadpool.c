/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "nbody.h"

#include <pthreadpool.h>

static pthreadpool_t pool;

static int setup(const bench_args *args)
{
    pool = pthreadpool_create(args->workers);
    return pool == NULL ? -1 : nbody_setup(args);
}

static void move(void *arg, size_t i)
{
    (void)arg;
    nbody_move(i);
}

static void sample(void)
{
    for (int step = 0; step < NBODY_STEPS; step++) {
        pthreadpool_parallelize_1d(pool, move, NULL, nbody_n, 0);
        nbody_turn();
    }
}

static void teardown(void)
{
    pthreadpool_destroy(pool);
    nbody_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nbody_prepare, sample, nbody_check, nbody_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
