/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * entry.c: the three ways into a pool.
 *
 * From a worker of the pool a plain call.  From a worker of another pool the
 * job is a visitor, and the worker waits as its own pool's policy says.
 * From any other thread the job is injected and the thread blocks.  The job's
 * record lives in the caller's frame: after its latch is set, nothing of it is
 * touched.
 *
 * Layer: core.  See src/README.md, "Waiting".
 */
#include "core/entry.h"

#include "core/context.h"
#include "core/gate.h"
#include "core/worker.h"

typedef struct {
    wsi_task task; /* first; a visitor when a worker waits */
    const wsi_context *context;
    int code;
    wsi_gate gate;
} entry_job;

static void entry_run(wsi_job *job, wsi_worker *w)
{
    entry_job *entry = (entry_job *)(void *)job;
    (void)w;
    const wsi_context *outer = wsi_context_switch(entry->context);
    entry->code = entry->task.fn.plain(entry->task.arg);
    wsi_context_switch(outer);
    wsi_gate_set(&entry->gate);
}

static const wsi_job_kind entry_kind = {entry_run, NULL};

/* Hands the job over and waits for it; false: it could not be queued. */
static bool run_elsewhere(ws_pool *pool, entry_job *entry)
{
    wsi_worker *w = wsi_current_worker;
    if (w == NULL) {
        return wsi_pool_inject(pool, &entry->task.job) &&
               wsi_lock_latch_wait(&entry->gate.lock, UINT64_MAX);
    }
    const wsi_waiting waiting =
        wsi_wait_on(&entry->gate.latch, wsi_deque_mark(&w->deque));
    wsi_pool_visit(pool, &entry->task);
    return wsi_worker_wait(w, &waiting);
}

wsi_entry wsi_pool_run(ws_pool *pool, ws_fn fn, void *arg)
{
    wsi_worker *w = wsi_current_worker;
    if (w != NULL && w->pool == pool) {
        bool outermost = wsi_worker_begin_call(w);
        wsi_entry here = {WS_OK, fn(arg)};
        wsi_worker_end_call(w, outermost);
        return here;
    }
    entry_job entry = {
        .task = {.job = {&entry_kind}, .fn.plain = fn, .arg = arg},
        .context = wsi_context_current()};
    wsi_gate_init(&entry.gate, pool);
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

int wsi_entry_pool(ws_pool *pool, ws_pool **out)
{
    return pool == NULL && serial ? WS_ETHREADS
                                  : wsi_pool_or_current(pool, out);
}

wsi_entry wsi_run_in_current(ws_fn fn, void *arg)
{
    ws_pool *pool;
    int status = wsi_entry_pool(NULL, &pool);
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
