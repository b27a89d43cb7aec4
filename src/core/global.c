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

/* Makes the pool if there is none; the lock is held. */
static int make(const ws_pool_config *config, ws_pool **out)
{
    wsi_pool_plan plan;
    int code = wsi_pool_plan_make(&plan, config);
    if (code == WS_OK) {
        code = wsi_pool_start(out, &plan);
    }
    if (code == WS_OK) {
        /* release: pairs with the acquire in current_global() */
        wsi_ptr_store_release(&global_pool, *out);
    }
    return code;
}

int wsi_pool_global(ws_pool **out)
{
    ws_pool *pool = current_global();
    int code = WS_OK;
    if (pool == NULL) {
        wsi_lock_acquire(&lock);
        pool = current_global();
        if (pool == NULL) {
            code = make(NULL, &pool);
        }
        wsi_lock_release(&lock);
    }
    if (code == WS_OK) {
        *out = pool;
    }
    return code;
}

int wsi_pool_global_start(const ws_pool_config *config)
{
    ws_pool *pool;
    wsi_lock_acquire(&lock);
    int code = current_global() == NULL ? make(config, &pool) : WS_EEXIST;
    wsi_lock_release(&lock);
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
    int code = pool != NULL ? wsi_pool_may_stop(pool) : WS_OK;
    if (pool != NULL && code == WS_OK) {
        /* relaxed: no other thread uses the global pool now (contract) */
        wsi_ptr_store_relaxed(&global_pool, NULL);
        wsi_pool_stop(pool, UINT64_MAX);
    }
    return code;
}
