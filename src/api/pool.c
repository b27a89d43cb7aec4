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

int ws_pool_destroy(ws_pool *pool)
{
    if (pool == NULL || wsi_pool_is_global(pool)) {
        return WS_EINVAL;
    }
    if (wsi_current_worker != NULL && wsi_current_worker->pool == pool) {
        return WS_EINWORKER;
    }
    wsi_pool_stop(pool);
    return WS_OK;
}

unsigned ws_pool_num_workers(const ws_pool *pool)
{
    return pool != NULL ? pool->n_workers : 0;
}

int ws_pool_global(ws_pool **out)
{
    return out != NULL ? wsi_pool_global(out) : WS_EINVAL;
}

int ws_pool_global_destroy(void)
{
    return wsi_pool_global_stop();
}
