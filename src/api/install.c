/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * install.c: ws_pool_install, and what a thread can ask about itself.
 *
 * Layer: api.
 */
#include <wsteal/task.h>

#include "core/entry.h"
#include "core/worker.h"

int ws_pool_install(ws_pool *pool, ws_fn fn, void *arg)
{
    if (fn == NULL) {
        return WS_EINVAL;
    }
    int status = wsi_pool_or_current(pool, &pool);
    if (status != WS_OK) {
        return status;
    }
    wsi_entry entry = wsi_pool_run(pool, fn, arg);
    return entry.status == WS_OK ? entry.code : entry.status;
}

int ws_current_index(void)
{
    const wsi_worker *w = wsi_current_worker;
    return w != NULL ? (int)w->index : -1;
}

unsigned ws_current_num_workers(void)
{
    ws_pool *pool;
    return wsi_pool_or_current(NULL, &pool) == WS_OK ? pool->n_workers : 0;
}

int ws_pool_current_index(const ws_pool *pool)
{
    const wsi_worker *w = wsi_current_worker;
    return w != NULL && w->pool == pool ? (int)w->index : -1;
}

unsigned ws_worker_slots(void)
{
    ws_pool *pool;
    return wsi_pool_or_current(NULL, &pool) == WS_OK ? pool->n_slots : 0;
}
