/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * parlay.hpp: parlaylib with the workers of the arguments, the caller among
 * them.
 */
#ifndef BENCH_SUPPORT_PARLAY_HPP
#define BENCH_SUPPORT_PARLAY_HPP

#include <cstdlib>
#include <string>

#include <parlay/parallel.h>

#include "runner.h"

static inline int bench_parlay_setup(const bench_args *args)
{
    /* read when the workers start, at the first use */
    setenv("PARLAY_NUM_THREADS", std::to_string(args->workers).c_str(), 1);
    return parlay::num_workers() == args->workers ? 0 : -1;
}

#endif
