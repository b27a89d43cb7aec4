/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * broadcast.c: one job on every worker: ws_broadcast, ws_spawn_broadcast and
 * ws_scope_spawn_broadcast.
 *
 * Each worker gets a letter, which refers to what all of them share: a record
 * in the waiting caller's frame, or in a large node that the last one frees.
 * All letters are made before the first is posted, so it runs everywhere or
 * nowhere.
 *
 * Layer: api.
 */
#include <wsteal/scope.h>
#include <wsteal/task.h>

#include "core/entry.h"
#include "core/gate.h"
#include "core/scoped.h"
#include "core/worker.h"

typedef struct {
    ws_pool *pool;
    ws_broadcast_fn fn;
    void *arg;
    struct ws_scope *scope;     /* of ws_scope_spawn_broadcast(), or NULL */
    const wsi_context *context; /* of the caller, scope, or the root */
    ws_token *token;            /* in force besides; a share, or NULL */
    int *codes;                 /* of the waiting caller, or NULL */
    wsi_gate *gate;             /* of the waiting caller, or NULL */
    wsi_atomic_u32 left;        /* workers that have not run it */
    wsi_atomic_u64
        code; /* lowest {index:32 | code:32} that failed; ~0 = none */
} announcement;

typedef struct {
    wsi_letter letter;
    announcement *all;
} call;

_Static_assert(sizeof(call) <= WSI_SLAB_SMALL, "a call is one node");
_Static_assert(sizeof(announcement) <= WSI_SLAB_LARGE, "it is one node");

#define NO_CODE UINT64_MAX

static void note(announcement *all, unsigned index, int code)
{
    uint64_t mine = (uint64_t)index << 32 | (uint32_t)code;
    /* relaxed: checked by the CAS */
    uint64_t old = wsi_u64_load_relaxed(&all->code);
    /* acq_rel: read after the last one */
    while (code != 0 && mine < old &&
           !wsi_u64_cas_acq_rel(&all->code, &old, mine)) {
    }
    if (all->codes != NULL) {
        all->codes[index] = code;
    }
}

/* One worker's code, where it belongs. */
static void report(announcement *all, wsi_worker *w, int code)
{
    if (all->scope != NULL) {
        wsi_scope_note(all->scope, code);
    } else if (all->gate != NULL) {
        note(all, w->index, code);
    } else {
        wsi_pool_error(w, code);
    }
}

/* All workers have run it. */
static void finish(announcement *all)
{
    ws_pool *pool = all->pool;
    if (all->gate != NULL) {
        /* After this the record is gone. */
        wsi_gate_set(all->gate);
        return;
    }
    bool detached = all->scope == NULL;
    wsi_token_release(all->token);
    wsi_slab_free(&pool->large, wsi_current_cache(pool, true), all);
    if (detached) {
        wsi_pool_leave(pool);
    }
}

static int run_fn(announcement *all, wsi_worker *w)
{
    const ws_broadcast_ctx ctx = {w->index, w->pool->n_workers, all->scope};
    wsi_context own;
    const wsi_context *context = all->context;
    if (all->token != NULL) {
        wsi_context_init(&own, context, all->token);
        context = &own;
    }
    if (all->scope != NULL && wsi_scope_stopped(all->scope, context)) {
        wsi_scope_note_dropped(all->scope);
        return 0;
    }
    const wsi_context *outer = wsi_context_switch(context);
    int code = all->fn(&ctx, all->arg);
    wsi_context_switch(outer);
    return code;
}

static void run_call(wsi_job *job, wsi_worker *w)
{
    announcement *all = ((call *)(void *)job)->all;
    struct ws_scope *scope = all->scope;
    wsi_slab_free(&w->pool->small, &w->small, job);
    report(all, w, run_fn(all, w));
    /* acq_rel: the last one comes after all that the others did */
    if (wsi_u32_fetch_sub_acq_rel(&all->left, 1) == 1) {
        finish(all);
    }
    if (scope != NULL) {
        wsi_scope_done(scope);
    }
}

static const wsi_job_kind call_kind = {run_call, NULL};

static void free_letters(ws_pool *pool, wsi_letter *letters)
{
    while (letters != NULL) {
        wsi_letter *next = letters->next;
        wsi_slab_free(&pool->small, wsi_current_cache(pool, false), letters);
        letters = next;
    }
}

/* One letter for each worker, linked; NULL when memory is out. */
static wsi_letter *write_letters(announcement *all)
{
    ws_pool *pool = all->pool;
    wsi_letter *letters = NULL;
    for (unsigned i = 0; i < pool->n_workers; i++) {
        call *c = wsi_slab_alloc(&pool->small, wsi_current_cache(pool, false));
        if (c == NULL) {
            free_letters(pool, letters);
            return NULL;
        }
        c->letter.job.kind = &call_kind;
        c->letter.next = letters;
        c->all = all;
        letters = &c->letter;
    }
    return letters;
}

/* After the last one is posted, all that it refers to may be gone: the caller
 * holds the pool. */
static void post_letters(ws_pool *pool, wsi_letter *letters)
{
    for (unsigned i = 0; letters != NULL; i++) {
        wsi_letter *next = letters->next;
        wsi_pool_mail(pool, i, letters);
        letters = next;
    }
}

static void init(announcement *all, ws_pool *pool, ws_broadcast_fn fn,
                 void *arg)
{
    *all = (announcement){
        .pool = pool, .fn = fn, .arg = arg, .context = &wsi_context_root};
    wsi_u32_init(&all->left, pool->n_workers);
    wsi_u64_init(&all->code, NO_CODE);
}

/* ---- the caller waits ------------------------------------------------ */

static void wait_for(wsi_gate *gate)
{
    wsi_worker *w = wsi_current_worker;
    if (w == NULL) {
        wsi_lock_latch_wait(&gate->lock, UINT64_MAX);
        return;
    }
    bool outermost = wsi_worker_begin_call(w);
    const wsi_waiting waiting =
        wsi_wait_on(&gate->latch, wsi_deque_mark(&w->deque));
    wsi_worker_wait(w, &waiting);
    wsi_worker_end_call(w, outermost);
}

static int broadcast_in(ws_pool *pool, ws_broadcast_fn fn, void *arg,
                        int codes[])
{
    announcement all;
    wsi_gate gate;
    init(&all, pool, fn, arg);
    wsi_gate_init(&gate, pool);
    all.context = wsi_context_current();
    all.codes = codes;
    all.gate = &gate;
    wsi_letter *letters = write_letters(&all);
    if (letters == NULL) {
        return WS_ENOMEM;
    }
    post_letters(pool, letters);
    wait_for(&gate);
    /* relaxed: all is done, and seen so */
    uint64_t code = wsi_u64_load_relaxed(&all.code);
    return code == NO_CODE ? 0 : (int)(uint32_t)code;
}

int ws_broadcast(ws_pool *pool, ws_broadcast_fn fn, void *arg, int codes[])
{
    int code = fn != NULL ? wsi_pool_or_current(pool, &pool) : WS_EINVAL;
    if (code != WS_OK) {
        return code;
    }
    if (!wsi_pool_enter(pool)) {
        return WS_EFORKED;
    }
    wsi_pool_retain(pool);
    code = broadcast_in(pool, fn, arg, codes);
    wsi_pool_leave(pool);
    wsi_pool_release(pool);
    return code;
}

/* ---- nobody waits, or a scope does ----------------------------------- */

/* Posts it from a large node; false: out of memory, nothing changed. */
static bool announce(const announcement *like)
{
    ws_pool *pool = like->pool;
    announcement *all =
        wsi_slab_alloc(&pool->large, wsi_current_cache(pool, true));
    if (all == NULL) {
        return false;
    }
    *all = *like;
    wsi_letter *letters = write_letters(all);
    if (letters == NULL) {
        wsi_slab_free(&pool->large, wsi_current_cache(pool, true), all);
        return false;
    }
    if (all->scope != NULL) {
        wsi_scope_hold(all->scope, pool->n_workers);
    }
    post_letters(pool, letters);
    return true;
}

int ws_spawn_broadcast(ws_pool *pool, ws_broadcast_fn fn, void *arg)
{
    int code = fn != NULL ? wsi_pool_or_current(pool, &pool) : WS_EINVAL;
    if (code != WS_OK) {
        return code;
    }
    if (!wsi_pool_enter(pool)) {
        return WS_EFORKED;
    }
    wsi_pool_retain(pool);
    announcement like;
    init(&like, pool, fn, arg);
    like.token = wsi_context_current()->token;
    wsi_token_retain(like.token);
    bool posted = announce(&like);
    if (!posted) {
        wsi_token_release(like.token);
        wsi_pool_leave(pool);
    }
    wsi_pool_release(pool);
    return posted ? WS_OK : WS_ENOMEM;
}

/* Where no pool could be had. */
static int broadcast_here(struct ws_scope *scope, void *arg)
{
    const announcement *all = arg;
    const ws_broadcast_ctx ctx = {0, 1, scope};
    return all->fn(&ctx, all->arg);
}

int ws_scope_spawn_broadcast(struct ws_scope *scope, ws_broadcast_fn fn,
                             void *arg)
{
    if (scope == NULL || fn == NULL) {
        return WS_EINVAL;
    }
    announcement like = {.fn = fn, .arg = arg};
    if (scope->pool == NULL || wsi_scope_stopped(scope, scope->context)) {
        wsi_scope_run_inline(scope, broadcast_here, &like, NULL);
        return WS_OK;
    }
    if (wsi_pool_is_forked(scope->pool)) {
        return WS_EFORKED;
    }
    init(&like, scope->pool, fn, arg);
    like.scope = scope;
    like.context = scope->context;
    if (!wsi_scope_knows_token(scope)) {
        like.token = wsi_scope_token(scope);
        if (like.token == NULL) {
            return WS_ENOMEM;
        }
    }
    wsi_pool_retain(like.pool);
    bool posted = announce(&like);
    if (!posted) {
        wsi_token_release(like.token);
    }
    wsi_pool_release(like.pool);
    return posted ? WS_OK : WS_ENOMEM;
}
