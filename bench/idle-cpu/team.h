/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * team.h: OpenMP with either wait policy.
 */
#ifndef BENCH_IDLE_CPU_TEAM_H
#define BENCH_IDLE_CPU_TEAM_H

#include "../support/openmp.h"
#include "idle.h"

static uint64_t team_tree(int depth)
{
    uint64_t a;
    uint64_t b;
    if (depth == 0) {
        return idle_leaf();
    }
#pragma omp task shared(b)
    b = team_tree(depth - 1);
    a = team_tree(depth - 1);
#pragma omp taskwait
    return a + b;
}

static uint64_t team_burst(void)
{
    uint64_t leaves = 0;
#pragma omp parallel
#pragma omp single
    leaves = team_tree(IDLE_DEPTH);
    return leaves;
}

static void team_run(void (*job)(void))
{
#pragma omp parallel
#pragma omp single
    job();
}

static int team_setup(const bench_args *args)
{
    static const idle_pool pool = {team_burst, team_run};
    bench_openmp_setup(args->workers);
    return idle_setup(args, &pool);
}

static int team_main(int argc, char **argv)
{
    static const bench_program program = {
        team_setup, idle_prepare, idle_sample, idle_check, idle_units, NULL,
    };
    return bench_main(argc, argv, &program);
}

#endif
