/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "nbody.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

static int setup(const bench_args *args)
{
    return nbody_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void steps()
{
    for (int step = 0; step < NBODY_STEPS; step++) {
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, nbody_n),
                          [](const tbb::blocked_range<std::size_t> &some) {
                              for (std::size_t i = some.begin(); i < some.end();
                                   i++) {
                                  nbody_move(i);
                              }
                          });
        nbody_turn();
    }
}

static void sample()
{
    bench_arena->execute(steps);
}

static void teardown()
{
    bench_arena_teardown();
    nbody_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nbody_prepare, sample, nbody_check, nbody_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
