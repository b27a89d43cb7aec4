/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scope_spawn.c: ws_scope_spawn and its forms.
 *
 * A job is a slab node, freed on the worker that ran it: a small one before the
 * job is called, a large one, which holds the copy of the argument, a drop
 * callback or a token, after.
 *
 * Layer: api.
 */
#include <wsteal/scope.h>

#include <string.h>

#include "core/scoped.h"
#include "core/worker.h"

static void run_small(wsi_job *job, wsi_worker *w)
{
    wsi_task copy = *(wsi_task *)(void *)job;
    struct ws_scope *scope = copy.in.scope;
    const wsi_scope_call call = {copy.fn.scoped, copy.arg, NULL,
                                 scope->context};
    (void)w;
    wsi_slab_free(&scope->pool->small, wsi_current_cache(scope->pool, false),
                  job);
    wsi_scope_run(scope, &call);
    wsi_scope_done(scope);
}

static void free_large(ws_pool *pool, wsi_large_task *large)
{
    wsi_token_release(large->token);
    wsi_mem_free(large->block);
    wsi_slab_free(&pool->large, wsi_current_cache(pool, true), large);
}

static void run_large(wsi_job *job, wsi_worker *w)
{
    wsi_large_task *large = (wsi_large_task *)(void *)job;
    struct ws_scope *scope = large->task.in.scope;
    ws_pool *pool = scope->pool;
    wsi_context own;
    wsi_scope_call call = {large->task.fn.scoped, large->task.arg, large->drop,
                           scope->context};
    (void)w;
    if (large->token != NULL) {
        wsi_context_init(&own, scope->context, large->token);
        call.context = &own;
    }
    wsi_scope_run(scope, &call);
    free_large(pool, large);
    wsi_scope_done(scope);
}

static const wsi_job_kind small_kind = {run_small, wsi_scope_requeue};
static const wsi_job_kind large_kind = {run_large, wsi_scope_requeue};

/* What is to be spawned. */
typedef struct {
    ws_scope_fn fn;
    void *arg;
    ws_drop_fn drop;     /* or NULL */
    const void *copy_of; /* or NULL */
    size_t size;
} spawning;

/* Jobs that need no queue, or can have none. */
static bool runs_at_once(const struct ws_scope *scope)
{
    return scope->pool == NULL || wsi_scope_stopped(scope, scope->context);
}

static bool queue_small(struct ws_scope *scope, ws_scope_fn fn, void *arg)
{
    wsi_task *task = wsi_slab_alloc(&scope->pool->small,
                                    wsi_current_cache(scope->pool, false));
    if (task == NULL) {
        return false;
    }
    task->job.kind = &small_kind;
    task->fn.scoped = fn;
    task->arg = arg;
    wsi_scope_add(scope, task);
    return true;
}

/* False: memory is out. */
static bool fill(wsi_large_task *large, const struct ws_scope *scope,
                 const spawning *s)
{
    if (!wsi_scope_knows_token(scope)) {
        large->token = wsi_scope_token(scope);
        if (large->token == NULL) {
            return false;
        }
    }
    return s->copy_of == NULL || wsi_task_copy(large, s->copy_of, s->size);
}

static bool queue_large(struct ws_scope *scope, const spawning *s)
{
    wsi_large_task *large = wsi_slab_alloc(
        &scope->pool->large, wsi_current_cache(scope->pool, true));
    if (large == NULL) {
        return false;
    }
    large->task.job.kind = &large_kind;
    large->task.fn.scoped = s->fn;
    large->task.arg = s->arg;
    large->token = NULL;
    large->drop = s->drop;
    large->block = NULL;
    if (!fill(large, scope, s)) {
        free_large(scope->pool, large);
        return false;
    }
    wsi_scope_add(scope, &large->task);
    return true;
}

/* With a copy on this stack or from the heap. */
static int run_inline_with_copy(struct ws_scope *scope, const spawning *s)
{
    _Alignas(16) char small[WSI_TASK_COPY_MAX];
    void *copy = s->size <= sizeof(small) ? small : wsi_mem_alloc(16, s->size);
    if (copy == NULL) {
        return WS_ENOMEM;
    }
    if (s->size > 0) {
        memcpy(copy, s->copy_of, s->size);
    }
    wsi_scope_run_inline(scope, s->fn, copy, s->drop);
    if (copy != small) {
        wsi_mem_free(copy);
    }
    return WS_OK;
}

/* All but the plainest case. */
static int spawn(struct ws_scope *scope, const spawning *s)
{
    if (!runs_at_once(scope) && queue_large(scope, s)) {
        return WS_OK;
    }
    if (s->copy_of != NULL) {
        return run_inline_with_copy(scope, s);
    }
    wsi_scope_run_inline(scope, s->fn, s->arg, s->drop);
    return WS_OK;
}

int ws_scope_spawn(struct ws_scope *scope, ws_scope_fn fn, void *arg)
{
    if (scope == NULL || fn == NULL) {
        return WS_EINVAL;
    }
    if (!runs_at_once(scope) && wsi_scope_knows_token(scope)) {
        if (queue_small(scope, fn, arg)) {
            return WS_OK;
        }
        wsi_scope_run_inline(scope, fn, arg, NULL);
        return WS_OK;
    }
    const spawning s = {.fn = fn, .arg = arg};
    return spawn(scope, &s);
}

int ws_scope_spawn_or_drop(struct ws_scope *scope, ws_scope_fn fn, void *arg,
                           ws_drop_fn drop)
{
    const spawning s = {.fn = fn, .arg = arg, .drop = drop};
    if (scope == NULL || fn == NULL || drop == NULL) {
        return WS_EINVAL;
    }
    return spawn(scope, &s);
}

int ws_scope_spawn_copy(struct ws_scope *scope, ws_scope_fn fn, const void *arg,
                        size_t size)
{
    /* An empty copy is a copy, too. */
    const spawning s = {
        .fn = fn, .copy_of = arg != NULL ? arg : "", .size = size};
    if (scope == NULL || fn == NULL || (arg == NULL && size > 0)) {
        return WS_EINVAL;
    }
    return spawn(scope, &s);
}

int ws_scope_spawn_copy_or_drop(struct ws_scope *scope, ws_scope_fn fn,
                                const void *arg, size_t size, ws_drop_fn drop)
{
    const spawning s = {.fn = fn,
                        .drop = drop,
                        .copy_of = arg != NULL ? arg : "",
                        .size = size};
    if (scope == NULL || fn == NULL || drop == NULL ||
        (arg == NULL && size > 0)) {
        return WS_EINVAL;
    }
    return spawn(scope, &s);
}
