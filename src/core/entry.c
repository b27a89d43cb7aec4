/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * entry.c: the three ways into a pool.
 *
 * From a worker of the pool a plain call.  From a worker of another pool the
 * job is injected and the waiting worker goes on working for its own pool.
 * From any other thread the job is injected and the thread blocks.  The job's
 * record lives in the caller's frame: after its latch is set, nothing of it is
 * touched.
 *
 * Layer: core.  See src/README.md, "Waiting".
 */
#include "core/entry.h"

#include "core/job.h"
#include "core/worker.h"

typedef struct {
    wsi_job job;
    ws_fn fn;
    void *arg;
    int code;
    wsi_worker *waiter;  /* a worker of another pool, or NULL */
    wsi_latch latch;     /* for that one */
    wsi_lock_latch gate; /* for a foreign thread */
} entry_job;

static void entry_run(wsi_job *job, wsi_worker *worker)
{
    entry_job *entry = (entry_job *)(void *)job;
    wsi_worker *waiter = entry->waiter;
    (void)worker;
    entry->code = entry->fn(entry->arg);
    if (waiter == NULL) {
        wsi_lock_latch_set(&entry->gate);
        return;
    }
    /* After the set the waiter may return and its pool may be stopped: the
     * reference that the waiter took for us keeps the memory. */
    ws_pool *pool = waiter->pool;
    wsi_sleep_set_latch(&pool->sleep, &entry->latch);
    wsi_pool_release(pool);
}

/* Hands the job over and waits for it; false: it could not be queued. */
static bool run_elsewhere(ws_pool *pool, entry_job *entry)
{
    wsi_worker *w = entry->waiter;
    if (w != NULL) {
        wsi_pool_retain(w->pool); /* for the setter, see entry_run() */
    }
    if (!wsi_pool_inject(pool, &entry->job)) {
        if (w != NULL) {
            wsi_pool_release(w->pool);
        }
        return false;
    }
    if (w != NULL) {
        if (w->pool->subtree) {
            wsi_worker_mix(w);
        }
        wsi_worker_wait_any(w, &entry->latch);
    } else {
        wsi_lock_latch_wait(&entry->gate);
    }
    return true;
}

wsi_entry wsi_pool_run(ws_pool *pool, ws_fn fn, void *arg)
{
    wsi_worker *w = wsi_current_worker;
    if (w != NULL && w->pool == pool) {
        return (wsi_entry){WS_OK, fn(arg)};
    }
    entry_job entry = {.job = {entry_run}, .fn = fn, .arg = arg, .waiter = w};
    wsi_latch_init(&entry.latch, wsi_latch_new(w != NULL ? w->index : 0));
    wsi_lock_latch_init(&entry.gate);
    if (!wsi_pool_enter(pool)) {
        return (wsi_entry){WS_EFORKED, 0};
    }
    /* Another thread may stop the pool while we are on our way out. */
    wsi_pool_retain(pool);
    bool ran = run_elsewhere(pool, &entry);
    wsi_pool_leave(pool);
    wsi_pool_release(pool);
    return ran ? (wsi_entry){WS_OK, entry.code} : (wsi_entry){WS_ENOMEM, 0};
}

int wsi_pool_or_current(ws_pool *pool, ws_pool **out)
{
    if (pool == NULL && wsi_current_worker != NULL) {
        pool = wsi_current_worker->pool;
    }
    if (pool == NULL) {
        return wsi_pool_global(out);
    }
    *out = pool;
    return WS_OK;
}

/* This thread is inside wsi_run_serially(): the pool could not be had. */
static WSI_THREAD_LOCAL bool serial;

wsi_entry wsi_run_in_current(ws_fn fn, void *arg)
{
    ws_pool *pool;
    int status = serial ? WS_ETHREADS : wsi_pool_or_current(NULL, &pool);
    return status == WS_OK ? wsi_pool_run(pool, fn, arg)
                           : (wsi_entry){status, 0};
}

int wsi_run_serially(ws_fn fn, void *arg)
{
    bool outer = serial;
    serial = true;
    int code = fn(arg);
    serial = outer;
    return code;
}
