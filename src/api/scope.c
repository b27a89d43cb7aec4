/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scope.c: ws_scope and ws_scope_spawn.
 *
 * A scope lives in the frame of ws_scope() on its owner, a worker.  A counter
 * starts at 1 for the body; each spawn adds 1 and each finished job takes 1
 * away; whoever takes the last one sets the latch on which the owner waits.
 * After that the scope is gone.
 *
 * Jobs are slab nodes, freed on the worker that ran them.  A job is queued in
 * the spawning worker's deque, or in the injector when the spawning thread is
 * not a worker of the scope's pool.
 *
 * Layer: api.  See src/README.md, "Scope".
 */
#include <wsteal/task.h>

#include "core/entry.h"
#include "core/worker.h"

struct ws_scope {
    ws_pool *pool;  /* constant; NULL: no pool could be had, jobs run inline */
    unsigned owner; /* index of the worker that waits; constant */
    wsi_atomic_u64 pending;
    wsi_atomic_u32 code;     /* the first code of a job that is not 0 */
    wsi_atomic_u32 injected; /* jobs in the injector */
    wsi_latch latch;
};

typedef struct {
    wsi_job job;
    struct ws_scope *scope;
    ws_scope_fn fn;
    void *arg;
} scope_job;

_Static_assert(sizeof(scope_job) <= WSI_SLAB_NODE_SIZE, "a job is one node");

static void note(struct ws_scope *scope, int code)
{
    uint32_t none = 0;
    if (code != 0) {
        /* release: read after the latch, or by the owner itself */
        wsi_u32_cas_acq_rel(&scope->code, &none, (uint32_t)code);
    }
}

/* One job or the body is done.  True: all are. */
static bool done(struct ws_scope *scope)
{
    /* acq_rel: the last one comes after all that the others did */
    return wsi_u64_fetch_sub_acq_rel(&scope->pending, 1) == 1;
}

static void run_body_of(const scope_job *job, wsi_worker *w)
{
    struct ws_scope *scope = job->scope;
    if (!w->pool->subtree || wsi_deque_len(&w->deque) != 0) {
        note(scope, job->fn(scope, job->arg));
        return;
    }
    /* While it runs, the owner may leapfrog into this worker's deque.
     * relaxed: the worker's own word */
    void *outer = wsi_ptr_load_relaxed(&w->serving);
    /* release: pairs with the acquire in serves(): the deque is empty */
    wsi_ptr_store_release(&w->serving, scope);
    note(scope, job->fn(scope, job->arg));
    /* release: as above */
    wsi_ptr_store_release(&w->serving, outer);
}

static void run_scope_job(wsi_job *job, wsi_worker *w)
{
    scope_job copy = *(scope_job *)(void *)job;
    struct ws_scope *scope = copy.scope;
    wsi_slab_free(&w->pool->depot, &w->slab, job);
    run_body_of(&copy, w);
    if (done(scope)) {
        /* After the set the scope is gone; the pool is not. */
        wsi_sleep_set_latch(&w->pool->sleep, &scope->latch);
    }
}

static void run_injected_job(wsi_job *job, wsi_worker *w)
{
    scope_job *spawned = (scope_job *)(void *)job;
    /* acq_rel: a count only; the owner reads it as a hint */
    wsi_u32_fetch_sub_acq_rel(&spawned->scope->injected, 1);
    run_scope_job(job, w);
}

/* From a thread that is no worker of the scope's pool. */
static bool push_from_outside(struct ws_scope *scope, scope_job *job)
{
    ws_pool *pool = scope->pool;
    unsigned owner = scope->owner;
    bool queued;
    job->job.run = run_injected_job;
    /* Once the job is queued, scope and pool may end under us. */
    wsi_pool_retain(pool);
    /* relaxed: ordered by the fences in inject and wake */
    wsi_u32_fetch_add_relaxed(&scope->injected, 1);
    queued = wsi_pool_inject(pool, &job->job);
    if (!queued) {
        /* acq_rel: a count only, as in run_injected_job() */
        wsi_u32_fetch_sub_acq_rel(&scope->injected, 1);
    } else if (pool->subtree) {
        /* The owner may block on its latch alone. */
        wsi_sleep_wake(&pool->sleep, owner);
    }
    wsi_pool_release(pool);
    return queued;
}

/* False: out of memory, nothing changed. */
static bool queue(struct ws_scope *scope, ws_scope_fn fn, void *arg)
{
    ws_pool *pool = scope->pool;
    wsi_worker *w = wsi_current_worker;
    bool inside = w != NULL && w->pool == pool;
    wsi_slab_cache *cache = inside ? &w->slab : NULL;
    scope_job *job = wsi_slab_alloc(&pool->depot, cache);
    if (job == NULL) {
        return false;
    }
    *job = (scope_job){{run_scope_job}, scope, fn, arg};
    /* relaxed: the caller is part of the scope and keeps it above 0 */
    wsi_u64_fetch_add_relaxed(&scope->pending, 1);
    if (inside ? wsi_worker_push(w, &job->job)
               : push_from_outside(scope, job)) {
        return true;
    }
    done(scope);
    wsi_slab_free(&pool->depot, cache, job);
    return false;
}

int ws_scope_spawn(struct ws_scope *scope, ws_scope_fn fn, void *arg)
{
    if (scope == NULL || fn == NULL) {
        return WS_EINVAL;
    }
    if (scope->pool == NULL || !queue(scope, fn, arg)) {
        note(scope, fn(scope, arg));
    }
    return WS_OK;
}

/* ---- opening a scope ------------------------------------------------- */

static void open_scope(struct ws_scope *scope, wsi_worker *w)
{
    scope->pool = w != NULL ? w->pool : NULL;
    scope->owner = w != NULL ? w->index : 0;
    wsi_u64_init(&scope->pending, 1);
    wsi_u32_init(&scope->code, 0);
    wsi_u32_init(&scope->injected, 0);
    wsi_latch_init(&scope->latch, wsi_latch_new(scope->owner));
}

typedef struct {
    ws_scope_fn body;
    void *arg;
} opening;

/* In a worker, or on any thread when no pool could be had. */
static int run_scope(void *arg)
{
    const opening *o = arg;
    wsi_worker *w = wsi_current_worker;
    struct ws_scope scope;
    open_scope(&scope, w);
    uint64_t mark = w != NULL ? wsi_deque_mark(&w->deque) : 0;
    int code = o->body(&scope, o->arg);
    if (!done(&scope)) {
        const wsi_waiting waiting = {&scope.latch, mark, &scope,
                                     &scope.injected};
        wsi_worker_wait(w, &waiting);
    }
    /* relaxed: all jobs are done, and seen so */
    int job_code = (int)wsi_u32_load_relaxed(&scope.code);
    return code != 0 ? code : job_code;
}

int ws_scope(ws_scope_fn body, void *arg)
{
    opening o = {body, arg};
    if (body == NULL) {
        return WS_EINVAL;
    }
    if (wsi_current_worker != NULL) {
        return run_scope(&o);
    }
    wsi_entry entry = wsi_run_in_current(run_scope, &o);
    return entry.status == WS_OK ? entry.code : wsi_run_serially(run_scope, &o);
}
