/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * stats.c: reading the workers' counters; any thread.
 *
 * Layer: api.
 */
#include <wsteal/stats.h>

#include "core/registry.h"

static uint64_t read_counter(const wsi_atomic_u64 *counter)
{
    /* relaxed: the number only, see wsi_count() */
    return wsi_u64_load_relaxed(counter);
}

int ws_pool_worker_stats(const ws_pool *pool, unsigned index,
                         ws_worker_stats *out)
{
    if (pool == NULL || out == NULL || index >= pool->n_slots) {
        return WS_EINVAL;
    }
    const wsi_counters *c = &pool->workers[index].counters;
    *out = (ws_worker_stats){
        .jobs = read_counter(&c->jobs),
        .steals = read_counter(&c->steals),
        .injected = read_counter(&c->injected),
        .forced = read_counter(&c->forced),
        .sleeps = read_counter(&c->sleeps),
        .wakes = read_counter(&c->wakes),
        .errors = read_counter(&c->errors),
        .lent = read_counter(&c->lent),
        .max_depth = read_counter(&c->max_depth),
    };
    return WS_OK;
}
