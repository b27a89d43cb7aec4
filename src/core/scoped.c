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

/* Inline jobs on the stack of this thread. */
static WSI_THREAD_LOCAL unsigned inline_jobs;

static void run_ticket(wsi_job *ticket, wsi_worker *w);
static wsi_job *requeue_ticket(wsi_job *ticket, ws_pool *pool);
static const wsi_job_kind ticket_kind = {run_ticket, requeue_ticket};

/* ---- opening --------------------------------------------------------- */

void wsi_scope_open(struct ws_scope *scope, ws_pool *pool, unsigned flags)
{
    wsi_worker *w = wsi_current_worker;
    scope->pool = pool;
    scope->opener = w;
    scope->thread = &wsi_current_worker;
    scope->depth = w != NULL ? w->depth : 0;
    scope->inlined = inline_jobs;
    scope->flags = flags;
    scope->id = w != NULL && w->pool == pool ? ++w->n_scopes : 0;
    if (w != NULL) {
        wsi_mark_open(w, &scope->mark, wsi_deque_mark(&w->deque));
    }
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
    wsi_ptr_init(&scope->inbox, NULL);
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

bool wsi_scope_stopped(const struct ws_scope *scope, const wsi_context *context)
{
    return (scope->flags & WS_SCOPE_FAIL_FAST) != 0 &&
           wsi_context_stopped(context);
}

/* ---- running --------------------------------------------------------- */

static int make(struct ws_scope *scope, const wsi_scope_call *call)
{
    int code;
    if (wsi_context_current() == call->context) {
        return call->fn(scope, call->arg);
    }
    const wsi_context *outer = wsi_context_switch(call->context);
    code = call->fn(scope, call->arg);
    wsi_context_switch(outer);
    return code;
}

/* The same on a worker whose deque is empty: who waits for the scope may
 * leapfrog into it.  With nothing below on the stack that stays so until the
 * worker begins another job with an empty deque. */
static int make_serving(struct ws_scope *scope, wsi_worker *w,
                        const wsi_scope_call *call)
{
    uint64_t outer = wsi_worker_serve(w, scope->id);
    int code = make(scope, call);
    if (w->depth > 1) {
        wsi_worker_serve(w, outer);
    }
    return code;
}

void wsi_scope_run(struct ws_scope *scope, const wsi_scope_call *call)
{
    wsi_worker *w = wsi_current_worker;
    if (wsi_scope_stopped(scope, call->context)) {
        wsi_scope_note_dropped(scope);
        if (call->drop != NULL) {
            call->drop(call->arg);
        }
    } else if (w == NULL || w->pool != scope->pool ||
               wsi_deque_len(&w->deque) != 0) {
        wsi_scope_note(scope, make(scope, call));
    } else {
        wsi_scope_note(scope, make_serving(scope, w, call));
    }
}

/* ---- running on the thread that spawns ------------------------------- */

static void run_job_inline(wsi_job *job)
{
    inline_jobs++;
    job->kind->run(job, wsi_current_worker);
    inline_jobs--;
}

/* What must start before a job of a FIFO scope that is not in the list.  The
 * tickets stay, and keep the scope open: each of these jobs counts again. */
static void run_older_ones(struct ws_scope *scope)
{
    wsi_task *task;
    while ((task = wsi_fifo_take(&scope->fifo)) != NULL) {
        wsi_scope_hold(scope, 1);
        task->in.scope = scope;
        run_job_inline(&task->job);
    }
}

void wsi_scope_run_inline(struct ws_scope *scope, ws_scope_fn fn, void *arg,
                          ws_drop_fn drop)
{
    wsi_context own;
    ws_token *token = NULL;
    wsi_scope_call call = {fn, arg, drop, scope->context};
    if (!wsi_scope_knows_token(scope)) {
        token = wsi_scope_token(scope);
        /* Where memory is out, the token of this thread stands alone. */
        wsi_context_init(&own, scope->context,
                         token != NULL ? token : wsi_context_current()->token);
        call.context = &own;
    }
    /* The scope may be waited for while another thread is in here. */
    wsi_scope_hold(scope, 1);
    if ((scope->flags & WS_SCOPE_FIFO) != 0 &&
        !wsi_scope_stopped(scope, call.context)) {
        run_older_ones(scope);
    }
    inline_jobs++;
    wsi_scope_run(scope, &call);
    inline_jobs--;
    wsi_scope_done(scope);
    wsi_token_release(token);
}

bool wsi_scope_in_body(const struct ws_scope *scope)
{
    return scope->thread == &wsi_current_worker &&
           scope->inlined == inline_jobs &&
           (scope->opener == NULL || scope->opener->depth == scope->depth);
}

/* ---- queueing -------------------------------------------------------- */

static struct ws_scope *scope_of(wsi_job *ticket)
{
    return (struct ws_scope *)(void *)((char *)ticket -
                                       offsetof(struct ws_scope, fifo.ticket));
}

static void run_ticket(wsi_job *ticket, wsi_worker *w)
{
    struct ws_scope *scope = scope_of(ticket);
    wsi_task *task = wsi_fifo_take(&scope->fifo);
    if (task == NULL) {
        /* run_older_ones() took the job that came with this ticket. */
        wsi_scope_done(scope);
        return;
    }
    task->in.scope = scope;
    task->job.kind->run(&task->job, w);
}

static wsi_job *requeue_ticket(wsi_job *ticket, ws_pool *pool)
{
    (void)pool;
    return wsi_inbox_add(scope_of(ticket), NULL);
}

wsi_job *wsi_scope_requeue(wsi_job *job, ws_pool *pool)
{
    wsi_task *task = (wsi_task *)(void *)job;
    (void)pool;
    return wsi_inbox_add(task->in.scope, task);
}

/* From a thread that is no worker of the scope's pool. */
static void add_from_outside(struct ws_scope *scope, wsi_task *task)
{
    ws_pool *pool = scope->pool;
    wsi_job *job = &task->job;
    if (wsi_pool_is_forked(pool)) {
        /* The child has no workers. */
        run_job_inline(scope->flags & WS_SCOPE_FIFO ? &scope->fifo.ticket
                                                    : job);
        return;
    }
    /* Once the job is queued, scope and pool may end under us. */
    wsi_pool_retain(pool);
    job = wsi_inbox_add(scope, task);
    if (job != NULL) {
        run_job_inline(job);
    }
    wsi_pool_release(pool);
}

void wsi_scope_add(struct ws_scope *scope, wsi_task *task)
{
    wsi_worker *w = wsi_current_worker;
    wsi_job *job = &task->job;
    wsi_scope_hold(scope, 1);
    if (scope->flags & WS_SCOPE_FIFO) {
        job = &scope->fifo.ticket;
        wsi_fifo_add(&scope->fifo, task);
    } else {
        task->in.scope = scope;
    }
    if (w == NULL || w->pool != scope->pool) {
        add_from_outside(scope, task);
    } else if (!wsi_worker_push(w, job)) {
        run_job_inline(job);
    }
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
    while (wsi_deque_mark(&w->deque) > scope->mark.at && has_jobs(scope) &&
           wsi_time_left(deadline_ns) > 0) {
        wsi_job *job = w->pool->plan.subtree ? NULL : wsi_find_in_turn(w);
        if (job == NULL) {
            job = wsi_worker_pop(w);
        }
        wsi_marks_lower(w);
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
        .mark = inside ? scope->mark.at : wsi_deque_mark(&w->deque),
        .scope = scope->id,
        .host = inside ? scope : NULL,
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
    wsi_inbox_close(scope);
    if (scope->opener != NULL) {
        wsi_mark_close(scope->opener, &scope->mark);
    }
    if (code != 0) {
        return code;
    }
    /* relaxed, both: all jobs are done, and seen so */
    code = (int)wsi_u32_load_relaxed(&scope->code);
    bool dropped = wsi_u32_load_relaxed(&scope->dropped) != 0;
    return code == 0 && dropped ? WS_ECANCELED : code;
}
