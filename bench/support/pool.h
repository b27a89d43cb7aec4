/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pool.h: the one pool of a program that measures this library.
 */
#ifndef BENCH_SUPPORT_POOL_H
#define BENCH_SUPPORT_POOL_H

#include <wsteal.h>

#include "runner.h"

static ws_pool *bench_pool;

/* A pool with the workers of the arguments; 0 or a code. */
static inline int bench_pool_setup(const bench_args *args)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = args->workers;
    return ws_pool_create(&bench_pool, &config);
}

static inline void bench_pool_teardown(void)
{
    ws_pool_destroy(bench_pool);
}

#endif
