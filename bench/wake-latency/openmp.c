/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * openmp.c: an empty parallel region of sleeping threads.  The caller is one of
 * the team, so at least one other must wake up.
 */
#define _GNU_SOURCE

#include "../support/openmp.h"
#include "../support/passive.h"
#include "wake.h"

static uint64_t submit(void)
{
    uint64_t begin = bench_now_ns();
#pragma omp parallel
#pragma omp master
    wake_job();
    return bench_now_ns() - begin;
}

static void busy_then_leaf(void)
{
    uint64_t until = bench_now_ns() + WAKE_BUSY_NS;
    while (bench_now_ns() < until) {
#pragma omp task
        {
        }
#pragma omp taskwait
    }
#pragma omp task
    wake_note();
    wake_leaf();
#pragma omp taskwait
}

static uint64_t leaf(void)
{
    wake_leaf_prepare();
#pragma omp parallel
#pragma omp single
    busy_then_leaf();
    return wake_leaf_ns();
}

static int setup(const bench_args *args)
{
    bench_args own = *args;
    bench_openmp_setup(own.workers < 2 ? 2 : own.workers);
    return wake_setup(&own);
}

static void sample(void)
{
    wake_measure(submit, leaf);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, wake_check, wake_units, NULL,
    };
    bench_passive(argv);
    return bench_main(argc, argv, &program);
}
