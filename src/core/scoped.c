/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scoped.c: counting, queueing and waiting; contract in scoped.h.
 *
 * The opener's thread opens, waits and closes; any thread may spawn; workers
 * of the pool run the jobs.
 *
 * Layer: core.
 */
#include "core/scoped.h"

#include <stddef.h>

#include "core/worker.h"

#define BIAS ((uint64_t)1 << 62)

typedef struct {
    wsi_letter letter;
    wsi_job *job;
    wsi_atomic_u32 claims;
} guest;

_Static_assert(sizeof(guest) <= WSI_SLAB_SMALL, "a guest is one node");

static void run_ticket(wsi_job *ticket, wsi_worker *w);
static const wsi_job_kind ticket_kind = {run_ticket};

/* ---- opening --------------------------------------------------------- */

void wsi_scope_open(struct ws_scope *scope, ws_pool *pool, unsigned flags)
{
    wsi_worker *w = wsi_current_worker;
    scope->pool = pool;
    scope->opener = w;
    scope->thread = &wsi_current_worker;
    scope->depth = w != NULL ? w->depth : 0;
    scope->flags = flags;
    scope->id = w != NULL && w->pool == pool ? ++w->n_scopes : 0;
    scope->mark = w != NULL ? wsi_deque_mark(&w->deque) : 0;
    scope->context = wsi_context_current();
    if (flags & WS_SCOPE_FAIL_FAST) {
        wsi_context_init(&scope->own, scope->context, scope->context->token);
        scope->context = &scope->own;
    }
    scope->local = 0;
    wsi_ptr_init(&scope->biased, w != NULL && w->pool == pool ? w : NULL);
    wsi_u64_init(&scope->pending, BIAS);
    wsi_u32_init(&scope->code, 0);
    wsi_u32_init(&scope->dropped, 0);
    if (flags & WS_SCOPE_FIFO) {
        wsi_fifo_init(&scope->fifo, &ticket_kind);
    }
    wsi_mail_init(&scope->guests);
    wsi_gate_init(&scope->gate, pool);
}

/* ---- counting -------------------------------------------------------- */

/* The calling thread is the opener and counts in `local`. */
static bool counts_locally(const struct ws_scope *scope)
{
    /* relaxed: written by the opener only; for all others, not themselves */
    const void *biased = wsi_ptr_load_relaxed(&scope->biased);
    return biased != NULL && biased == wsi_current_worker;
}

void wsi_scope_hold(struct ws_scope *scope, uint64_t n)
{
    if (counts_locally(scope)) {
        scope->local += n;
    } else {
        /* relaxed: the caller is part of the scope and keeps it above 0 */
        wsi_u64_fetch_add_relaxed(&scope->pending, n);
    }
}

void wsi_scope_done(struct ws_scope *scope)
{
    if (counts_locally(scope)) {
        scope->local--;
        /* acq_rel: the last one comes after all that the others did */
    } else if (wsi_u64_fetch_sub_acq_rel(&scope->pending, 1) == 1) {
        wsi_gate_set(&scope->gate);
    }
}

/* True: no job is left, and nobody will open the gate. */
static bool settle(struct ws_scope *scope)
{
    uint64_t by = scope->local - BIAS;
    scope->local = 0;
    /* relaxed: the opener's own */
    wsi_ptr_store_relaxed(&scope->biased, NULL);
    /* acq_rel: as in wsi_scope_done() */
    return wsi_u64_fetch_add_acq_rel(&scope->pending, by) + by == 0;
}

/* The opposite.  False: no job is left, and the gate is open, or will be at
 * once. */
static bool unsettle(struct ws_scope *scope)
{
    wsi_worker *w = scope->opener;
    /* relaxed: as above */
    wsi_ptr_store_relaxed(&scope->biased,
                          w != NULL && w->pool == scope->pool ? w : NULL);
    /* acq_rel: as above */
    return wsi_u64_fetch_add_acq_rel(&scope->pending, BIAS) != 0;
}

void wsi_scope_note(struct ws_scope *scope, int code)
{
    uint32_t none = 0;
    if (code == 0) {
        return;
    }
    /* release: read after the gate, or by the opener itself */
    wsi_u32_cas_acq_rel(&scope->code, &none, (uint32_t)code);
    if (scope->flags & WS_SCOPE_FAIL_FAST) {
        wsi_context_stop(&scope->own);
    }
}

void wsi_scope_note_dropped(struct ws_scope *scope)
{
    /* relaxed: read after the gate, or by the opener itself */
    wsi_u32_store_relaxed(&scope->dropped, 1);
}

bool wsi_scope_stopped(const struct ws_scope *scope)
{
    return (scope->flags & WS_SCOPE_FAIL_FAST) != 0 &&
           wsi_context_stopped(scope->context);
}

/* ---- running --------------------------------------------------------- */

static int call(struct ws_scope *scope, ws_scope_fn fn, void *arg)
{
    int code;
    if (wsi_context_current() == scope->context) {
        return fn(scope, arg);
    }
    const wsi_context *outer = wsi_context_switch(scope->context);
    code = fn(scope, arg);
    wsi_context_switch(outer);
    return code;
}

/* The same on a worker whose deque is empty: who waits for the scope may
 * leapfrog into it.  With nothing below on the stack that stays so until the
 * worker begins another job with an empty deque. */
static int call_serving(struct ws_scope *scope, wsi_worker *w, ws_scope_fn fn,
                        void *arg)
{
    uint64_t outer = wsi_worker_serve(w, scope->id);
    int code = call(scope, fn, arg);
    if (w->depth > 1) {
        wsi_worker_serve(w, outer);
    }
    return code;
}

void wsi_scope_run(struct ws_scope *scope, ws_scope_fn fn, void *arg,
                   ws_drop_fn drop)
{
    wsi_worker *w = wsi_current_worker;
    if (wsi_scope_stopped(scope)) {
        wsi_scope_note_dropped(scope);
        if (drop != NULL) {
            drop(arg);
        }
    } else if (w == NULL || w->pool != scope->pool ||
               wsi_deque_len(&w->deque) != 0) {
        wsi_scope_note(scope, call(scope, fn, arg));
    } else {
        wsi_scope_note(scope, call_serving(scope, w, fn, arg));
    }
}

/* ---- queueing -------------------------------------------------------- */

/* Whoever comes second: the job runs, or has run, elsewhere. */
static void free_guest(ws_pool *pool, guest *g)
{
    wsi_worker *w = wsi_current_worker;
    bool inside = w != NULL && w->pool == pool;
    wsi_slab_free(&pool->small, inside ? &w->small : NULL, g);
}

static void run_guest(wsi_job *job, wsi_worker *w)
{
    guest *g = (guest *)(void *)job;
    wsi_job *real = g->job;
    /* acq_rel: the second comes after the first has read the record */
    if (wsi_u32_fetch_add_acq_rel(&g->claims, 1) == 0) {
        real->kind->run(real, w);
    } else {
        free_guest(w->pool, g);
    }
}

static const wsi_job_kind guest_kind = {run_guest};

/* What the injector still refers to, or what it has run. */
static void see_guests_off(struct ws_scope *scope)
{
    wsi_letter *letter;
    while ((letter = wsi_mail_take(&scope->guests)) != NULL) {
        guest *g = (guest *)(void *)letter;
        /* acq_rel: as in run_guest(); all jobs have run, so we are second */
        wsi_u32_fetch_add_acq_rel(&g->claims, 1);
        free_guest(scope->pool, g);
    }
}

/* Where the opener can find it too.  False: out of memory. */
static bool add_guest(struct ws_scope *scope, wsi_job *job)
{
    ws_pool *pool = scope->pool;
    unsigned opener = scope->opener->index;
    guest *g = wsi_slab_alloc(&pool->small, NULL);
    if (g == NULL) {
        return false;
    }
    g->letter.job.kind = &guest_kind;
    g->job = job;
    wsi_u32_init(&g->claims, 0);
    /* In this order: once a worker can run it, the scope may end. */
    wsi_mail_post(&scope->guests, &g->letter);
    bool queued = wsi_pool_inject(pool, &g->letter.job);
    /* acq_rel: as in run_guest(); we hold the injector's reference */
    if (!queued && wsi_u32_fetch_add_acq_rel(&g->claims, 1) != 0) {
        /* The opener was faster and has run it. */
        free_guest(pool, g);
        queued = true;
    }
    wsi_pool_call(pool, opener);
    return queued;
}

/* From a thread that is no worker of the scope's pool. */
static bool push_from_outside(struct ws_scope *scope, wsi_job *job)
{
    ws_pool *pool = scope->pool;
    const wsi_worker *opener = scope->opener;
    /* Once the job is queued, scope and pool may end under us. */
    wsi_pool_retain(pool);
    bool queued = opener != NULL && opener->pool == pool
                      ? add_guest(scope, job)
                      : wsi_pool_inject(pool, job);
    wsi_pool_release(pool);
    return queued;
}

static bool push(struct ws_scope *scope, wsi_job *job)
{
    wsi_worker *w = wsi_current_worker;
    return w != NULL && w->pool == scope->pool ? wsi_worker_push(w, job)
                                               : push_from_outside(scope, job);
}

static void run_ticket(wsi_job *ticket, wsi_worker *w)
{
    struct ws_scope *scope =
        (struct ws_scope *)(void *)((char *)ticket -
                                    offsetof(struct ws_scope, fifo.ticket));
    wsi_task *task = wsi_fifo_take(&scope->fifo);
    task->in.scope = scope;
    task->job.kind->run(&task->job, w);
}

bool wsi_scope_add(struct ws_scope *scope, wsi_task *task)
{
    wsi_scope_hold(scope, 1);
    if (scope->flags & WS_SCOPE_FIFO) {
        wsi_fifo_add(&scope->fifo, task);
        if (!push(scope, &scope->fifo.ticket)) {
            run_ticket(&scope->fifo.ticket, wsi_current_worker);
        }
        return true;
    }
    task->in.scope = scope;
    if (!push(scope, &task->job)) {
        wsi_scope_done(scope);
        return false;
    }
    return true;
}

/* ---- waiting --------------------------------------------------------- */

static bool has_jobs(const struct ws_scope *scope)
{
    /* relaxed: a hint; settle() decides */
    return wsi_u64_load_relaxed(&scope->pending) + scope->local != BIAS;
}

/* What can be done without others, before `local` is given up. */
static void drain(struct ws_scope *scope, uint64_t deadline_ns)
{
    wsi_worker *w = scope->opener;
    while (wsi_deque_mark(&w->deque) > scope->mark && has_jobs(scope) &&
           wsi_time_left(deadline_ns) > 0) {
        wsi_job *job = w->pool->plan.subtree ? NULL : wsi_find_in_turn(w);
        if (job == NULL) {
            job = wsi_worker_pop(w);
        }
        if (job == NULL) {
            return;
        }
        wsi_worker_run(w, job);
    }
}

static bool wait_for_gate(struct ws_scope *scope, uint64_t deadline_ns)
{
    wsi_worker *w = scope->opener;
    if (w == NULL) {
        return wsi_lock_latch_wait(&scope->gate.lock, deadline_ns);
    }
    bool inside = w->pool == scope->pool;
    const wsi_waiting waiting = {
        .latch = &scope->gate.latch,
        .mark = inside ? scope->mark : wsi_deque_mark(&w->deque),
        .scope = scope->id,
        .guests = inside ? &scope->guests : NULL,
        .deadline_ns = deadline_ns,
    };
    return wsi_worker_wait(w, &waiting);
}

bool wsi_scope_wait(struct ws_scope *scope, uint64_t deadline_ns)
{
    bool none_left = true;
    if (scope->pool == NULL) {
        return true;
    }
    if (counts_locally(scope)) {
        drain(scope, deadline_ns);
    }
    if (!settle(scope)) {
        none_left = wait_for_gate(scope, deadline_ns);
        if (!none_left) {
            if (unsettle(scope)) {
                return false;
            }
            /* The last job ended just now. */
            none_left = wait_for_gate(scope, UINT64_MAX);
            wsi_gate_init(&scope->gate, scope->pool);
            return none_left;
        }
        wsi_gate_init(&scope->gate, scope->pool);
    }
    unsettle(scope);
    return none_left;
}

int wsi_scope_close(struct ws_scope *scope, int code)
{
    see_guests_off(scope);
    if (code != 0) {
        return code;
    }
    /* relaxed, both: all jobs are done, and seen so */
    code = (int)wsi_u32_load_relaxed(&scope->code);
    bool dropped = wsi_u32_load_relaxed(&scope->dropped) != 0;
    return code == 0 && dropped ? WS_ECANCELED : code;
}
