/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * global.c: the process-wide pool behind calls from outside any worker.
 *
 * Any thread.  Created under a lock by the first call that needs it; never
 * destroyed unless the user asks.  A forked child forgets the parent's pool
 * and makes its own.
 *
 * Layer: core.
 */
#include "core/registry.h"

#include "core/worker.h"
#include "port/lock.h"
#include "port/platform.h"

static wsi_lock lock;
static wsi_atomic_ptr global_pool;

static ws_pool *current_global(void)
{
    /* acquire: pairs with the release in wsi_pool_global() */
    ws_pool *pool = wsi_ptr_load_acquire(&global_pool);
    return pool != NULL && pool->process == wsi_process_id() ? pool : NULL;
}

int wsi_pool_global(ws_pool **out)
{
    wsi_pool_plan plan;
    ws_pool *pool = current_global();
    int code = WS_OK;
    if (pool == NULL) {
        wsi_lock_acquire(&lock);
        pool = current_global();
        if (pool == NULL) {
            code = wsi_pool_plan_make(&plan, NULL);
            if (code == WS_OK) {
                code = wsi_pool_start(&pool, &plan);
            }
            if (code == WS_OK) {
                /* release: pairs with the acquire in current_global() */
                wsi_ptr_store_release(&global_pool, pool);
            }
        }
        wsi_lock_release(&lock);
    }
    if (code == WS_OK) {
        *out = pool;
    }
    return code;
}

bool wsi_pool_is_global(const ws_pool *pool)
{
    /* relaxed: only compared */
    return pool == wsi_ptr_load_relaxed(&global_pool);
}

int wsi_pool_global_stop(void)
{
    ws_pool *pool = current_global();
    if (wsi_current_worker != NULL && wsi_current_worker->pool == pool) {
        return WS_EINWORKER;
    }
    if (pool != NULL) {
        /* relaxed: no other thread uses the global pool now (contract) */
        wsi_ptr_store_relaxed(&global_pool, NULL);
        wsi_pool_stop(pool);
    }
    return WS_OK;
}
