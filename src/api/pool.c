/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pool.c: making, asking and destroying pools.
 *
 * Checks arguments; core/plan.c, registry.c and global.c do the work.
 *
 * Layer: api.
 */
#include <wsteal.h>

#include "core/registry.h"
#include "core/worker.h"

int ws_pool_create(ws_pool **out, const ws_pool_config *config)
{
    wsi_pool_plan plan;
    if (out == NULL) {
        return WS_EINVAL;
    }
    int code = wsi_pool_plan_make(&plan, config);
    return code == WS_OK ? wsi_pool_start(out, &plan) : code;
}

static int destroy(ws_pool *pool, uint64_t deadline_ns)
{
    if (pool == NULL || wsi_pool_is_global(pool)) {
        return WS_EINVAL;
    }
    int status = wsi_pool_may_stop(pool);
    if (status != WS_OK) {
        return status;
    }
    return wsi_pool_stop(pool, deadline_ns) ? WS_OK : WS_ETIMEDOUT;
}

int ws_pool_destroy(ws_pool *pool)
{
    return destroy(pool, UINT64_MAX);
}

int ws_pool_destroy_timeout(ws_pool *pool, uint64_t timeout_ns)
{
    uint64_t now = wsi_clock_ns();
    return destroy(pool, timeout_ns < UINT64_MAX - now ? now + timeout_ns
                                                       : UINT64_MAX);
}

unsigned ws_pool_num_workers(const ws_pool *pool)
{
    return pool != NULL ? pool->n_workers : 0;
}

unsigned ws_pool_worker_slots(const ws_pool *pool)
{
    return pool != NULL ? pool->n_slots : 0;
}

int ws_pool_global(ws_pool **out)
{
    return out != NULL ? wsi_pool_global(out) : WS_EINVAL;
}

int ws_pool_global_init(const ws_pool_config *config)
{
    return wsi_pool_global_start(config);
}

int ws_pool_global_destroy(void)
{
    return wsi_pool_global_stop();
}

/* ---- threads of a spawn handler -------------------------------------- */

int ws_thread_run(ws_thread *thread)
{
    if (thread == NULL) {
        return WS_EINVAL;
    }
    if (wsi_current_worker != NULL) {
        return WS_EINWORKER;
    }
    wsi_pool_lodge(thread->worker);
    return WS_OK;
}

unsigned ws_thread_index(const ws_thread *thread)
{
    return thread->worker->index;
}

const char *ws_thread_name(const ws_thread *thread)
{
    return thread->name;
}

size_t ws_thread_stack_size(const ws_thread *thread)
{
    return thread->worker->pool->plan.config.stack_size;
}
