/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scope.h: a million spawns into one scope, of the kind that the flags say.
 */
#ifndef BENCH_FLAT_SPAWN_SCOPE_H
#define BENCH_FLAT_SPAWN_SCOPE_H

#include "../support/pool.h"
#include "flat.h"

static int flat_task(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    bench_counts[ws_current_index()].count++;
    return 0;
}

static int flat_body(struct ws_scope *scope, void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < flat_size; i++) {
        ws_scope_spawn(scope, flat_task, NULL);
    }
    return 0;
}

static int flat_pool_setup(const bench_args *args)
{
    if (flat_setup(args) != 0 || bench_pool_setup(args) != 0) {
        return -1;
    }
    return ws_pool_worker_slots(bench_pool) <= BENCH_COUNTS ? 0 : -1;
}

#endif
