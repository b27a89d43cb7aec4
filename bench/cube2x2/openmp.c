/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "levels.h"

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return levels_setup(args);
}

static void sample(void)
{
    uint64_t found = 1;
    while (found > 0) {
        level_open(found);
        found = 0;
        /* permutations differ in how many states they have at a depth */
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : found)
        for (size_t p = 0; p < PERMS; p++) {
            found += level_step(p, p + 1);
        }
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, level_begin, sample, levels_check, levels_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
