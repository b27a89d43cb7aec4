/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scope_spawn.c: ws_scope_spawn and its forms.
 *
 * A job is a slab node, freed on the worker that ran it: a small one before the
 * job is called, a large one, which holds the copy of the argument, after.
 *
 * Layer: api.
 */
#include <wsteal/scope.h>

#include <string.h>

#include "core/scoped.h"
#include "core/worker.h"

/* The calling thread's cache of small or large nodes, NULL = none. */
static wsi_slab_cache *cache_of(const ws_pool *pool, bool large)
{
    wsi_worker *w = wsi_current_worker;
    return w == NULL || w->pool != pool ? NULL : large ? &w->large : &w->small;
}

static void run_small(wsi_job *job, wsi_worker *w)
{
    wsi_task copy = *(wsi_task *)(void *)job;
    struct ws_scope *scope = copy.in.scope;
    (void)w;
    wsi_slab_free(&scope->pool->small, cache_of(scope->pool, false), job);
    wsi_scope_run(scope, copy.fn.scoped, copy.arg, NULL);
    wsi_scope_done(scope);
}

static void free_large(ws_pool *pool, wsi_large_task *large)
{
    wsi_mem_free(large->block);
    wsi_slab_free(&pool->large, cache_of(pool, true), large);
}

static void run_large(wsi_job *job, wsi_worker *w)
{
    wsi_large_task *large = (wsi_large_task *)(void *)job;
    struct ws_scope *scope = large->task.in.scope;
    ws_pool *pool = scope->pool;
    (void)w;
    wsi_scope_run(scope, large->task.fn.scoped, large->task.arg, large->drop);
    free_large(pool, large);
    wsi_scope_done(scope);
}

static const wsi_job_kind small_kind = {run_small};
static const wsi_job_kind large_kind = {run_large};

/* Jobs that need no queue, or can have none. */
static bool runs_at_once(struct ws_scope *scope)
{
    return scope->pool == NULL || wsi_scope_stopped(scope);
}

int ws_scope_spawn(struct ws_scope *scope, ws_scope_fn fn, void *arg)
{
    if (scope == NULL || fn == NULL) {
        return WS_EINVAL;
    }
    wsi_task *task = NULL;
    if (!runs_at_once(scope)) {
        task =
            wsi_slab_alloc(&scope->pool->small, cache_of(scope->pool, false));
    }
    if (task != NULL) {
        task->job.kind = &small_kind;
        task->fn.scoped = fn;
        task->arg = arg;
        if (wsi_scope_add(scope, task)) {
            return WS_OK;
        }
        wsi_slab_free(&scope->pool->small, cache_of(scope->pool, false), task);
    }
    wsi_scope_run(scope, fn, arg, NULL);
    return WS_OK;
}

/* A large task without its argument, or NULL. */
static wsi_large_task *large_task(struct ws_scope *scope, ws_scope_fn fn)
{
    wsi_large_task *large =
        wsi_slab_alloc(&scope->pool->large, cache_of(scope->pool, true));
    if (large != NULL) {
        large->task.job.kind = &large_kind;
        large->task.fn.scoped = fn;
        large->token = NULL;
        large->drop = NULL;
        large->block = NULL;
    }
    return large;
}

int ws_scope_spawn_or_drop(struct ws_scope *scope, ws_scope_fn fn, void *arg,
                           ws_drop_fn drop)
{
    if (scope == NULL || fn == NULL || drop == NULL) {
        return WS_EINVAL;
    }
    wsi_large_task *large = runs_at_once(scope) ? NULL : large_task(scope, fn);
    if (large != NULL) {
        large->task.arg = arg;
        large->drop = drop;
        if (wsi_scope_add(scope, &large->task)) {
            return WS_OK;
        }
        free_large(scope->pool, large);
    }
    wsi_scope_run(scope, fn, arg, drop);
    return WS_OK;
}

/* Runs the job now, with a copy on this stack or from the heap. */
static int run_copy_now(struct ws_scope *scope, ws_scope_fn fn, const void *arg,
                        size_t size)
{
    _Alignas(16) char small[WSI_TASK_COPY_MAX];
    void *copy = size <= sizeof(small) ? small : wsi_mem_alloc(16, size);
    if (copy == NULL) {
        return WS_ENOMEM;
    }
    if (size > 0) {
        memcpy(copy, arg, size);
    }
    wsi_scope_run(scope, fn, copy, NULL);
    if (copy != small) {
        wsi_mem_free(copy);
    }
    return WS_OK;
}

int ws_scope_spawn_copy(struct ws_scope *scope, ws_scope_fn fn, const void *arg,
                        size_t size)
{
    if (scope == NULL || fn == NULL || (arg == NULL && size > 0)) {
        return WS_EINVAL;
    }
    wsi_large_task *large = runs_at_once(scope) ? NULL : large_task(scope, fn);
    if (large != NULL) {
        bool copied = wsi_task_copy(large, arg, size);
        if (copied && wsi_scope_add(scope, &large->task)) {
            return WS_OK;
        }
        free_large(scope->pool, large);
        if (!copied) {
            return WS_ENOMEM;
        }
    }
    return run_copy_now(scope, fn, arg, size);
}
