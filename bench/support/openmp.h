/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * openmp.h: OpenMP with a fixed number of threads, the caller among them.
 */
#ifndef BENCH_SUPPORT_OPENMP_H
#define BENCH_SUPPORT_OPENMP_H

#include <omp.h>

#include "runner.h"

static inline void bench_openmp_setup(unsigned workers)
{
    omp_set_dynamic(0);
    omp_set_num_threads((int)workers);
}

#endif
