/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * spawn.c: detached jobs.
 *
 * A detached job holds its pool open, so that ws_pool_destroy() waits for it.
 * Its record is a slab node, freed on the worker that runs it.
 *
 * Layer: api.
 */
#include <wsteal/task.h>

#include "core/entry.h"
#include "core/worker.h"

typedef struct {
    wsi_job job;
    ws_fn fn;
    void *arg;
} detached_job;

_Static_assert(sizeof(detached_job) <= WSI_SLAB_NODE_SIZE, "a job is one node");

static void run_detached(wsi_job *job, wsi_worker *w)
{
    detached_job copy = *(detached_job *)(void *)job;
    wsi_slab_free(&w->pool->depot, &w->slab, job);
    if (copy.fn(copy.arg) != 0) {
        wsi_count(&w->counters.errors, 1);
    }
    wsi_pool_leave(w->pool);
}

/* False: out of memory, nothing changed. */
static bool queue(ws_pool *pool, wsi_worker *w, ws_fn fn, void *arg)
{
    wsi_slab_cache *cache = w != NULL ? &w->slab : NULL;
    detached_job *job = wsi_slab_alloc(&pool->depot, cache);
    if (job == NULL) {
        return false;
    }
    *job = (detached_job){{run_detached}, fn, arg};
    if (w != NULL ? wsi_worker_push(w, &job->job)
                  : wsi_pool_inject(pool, &job->job)) {
        return true;
    }
    wsi_slab_free(&pool->depot, cache, job);
    return false;
}

int ws_spawn(ws_pool *pool, ws_fn fn, void *arg)
{
    if (fn == NULL) {
        return WS_EINVAL;
    }
    int status = wsi_pool_or_current(pool, &pool);
    if (status != WS_OK) {
        return status;
    }
    wsi_worker *w = wsi_current_worker;
    if (w != NULL && w->pool != pool) {
        w = NULL;
    }
    /* For the job; its run leaves. */
    if (!wsi_pool_enter(pool)) {
        return WS_EFORKED;
    }
    /* Once it is queued, the pool may be stopped under a foreign thread; a
     * worker is joined first. */
    if (w == NULL) {
        wsi_pool_retain(pool);
    }
    bool queued = queue(pool, w, fn, arg);
    if (!queued) {
        wsi_pool_leave(pool);
    }
    if (w == NULL) {
        wsi_pool_release(pool);
    }
    return queued ? WS_OK : WS_ENOMEM;
}
