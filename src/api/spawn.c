/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * spawn.c: detached jobs.
 *
 * A detached job holds its pool open, so that ws_pool_destroy() waits for it.
 * Its record is a slab node, freed on the worker that runs it.  A job under a
 * token, or with a copy of its argument, has a large node.
 *
 * Layer: api.
 */
#include <wsteal/task.h>

#include "core/entry.h"
#include "core/record.h"
#include "core/worker.h"

/* Every detached job ends so. */
static void end(wsi_worker *w, int code)
{
    wsi_pool_error(w, code);
    wsi_pool_leave(w->pool);
}

static void run_small(wsi_job *job, wsi_worker *w)
{
    wsi_task copy = *(wsi_task *)(void *)job;
    wsi_slab_free(&w->pool->small, &w->small, job);
    const wsi_context *outer = wsi_context_switch(&wsi_context_root);
    int code = copy.fn.plain(copy.arg);
    wsi_context_switch(outer);
    end(w, code);
}

static void run_large(wsi_job *job, wsi_worker *w)
{
    wsi_large_task *large = (wsi_large_task *)(void *)job;
    wsi_context context;
    wsi_context_init(&context, &wsi_context_root, large->token);
    const wsi_context *outer = wsi_context_switch(&context);
    int code = large->task.fn.plain(large->task.arg);
    wsi_context_switch(outer);
    wsi_token_release(large->token);
    wsi_mem_free(large->block);
    wsi_slab_free(&w->pool->large, &w->large, large);
    end(w, code);
}

static const wsi_job_kind small_kind = {run_small, wsi_job_inject};
static const wsi_job_kind large_kind = {run_large, wsi_job_inject};

/* What is to be spawned, and where. */
typedef struct {
    ws_pool *pool;
    wsi_worker *w; /* the caller as a worker of the pool, or NULL */
    ws_fn fn;
    void *arg;
    const void *copy_of; /* or NULL */
    size_t size;
    bool fifo;
} spawning;

static wsi_task *small_task(const spawning *s)
{
    wsi_task *task =
        wsi_slab_alloc(&s->pool->small, s->w != NULL ? &s->w->small : NULL);
    if (task != NULL) {
        task->job.kind = &small_kind;
        task->fn.plain = s->fn;
        task->arg = s->arg;
    }
    return task;
}

static void free_large(const spawning *s, wsi_large_task *large)
{
    wsi_token_release(large->token);
    wsi_mem_free(large->block);
    wsi_slab_free(&s->pool->large, s->w != NULL ? &s->w->large : NULL, large);
}

static wsi_task *large_task(const spawning *s, ws_token *token)
{
    wsi_large_task *large =
        wsi_slab_alloc(&s->pool->large, s->w != NULL ? &s->w->large : NULL);
    if (large == NULL) {
        return NULL;
    }
    wsi_token_retain(token);
    large->token = token;
    large->drop = NULL;
    large->block = NULL;
    large->task.job.kind = &large_kind;
    large->task.fn.plain = s->fn;
    large->task.arg = s->arg;
    if (s->copy_of != NULL && !wsi_task_copy(large, s->copy_of, s->size)) {
        free_large(s, large);
        return NULL;
    }
    return &large->task;
}

static void free_task(const spawning *s, wsi_task *task)
{
    if (task->job.kind == &large_kind) {
        free_large(s, (wsi_large_task *)(void *)task);
    } else {
        wsi_slab_free(&s->pool->small, s->w != NULL ? &s->w->small : NULL,
                      task);
    }
}

/* False: out of memory, nothing changed. */
static bool push(const spawning *s, wsi_task *task)
{
    if (s->w == NULL) {
        return wsi_pool_inject(s->pool, &task->job);
    }
    if (!s->fifo) {
        return wsi_worker_push(s->w, &task->job);
    }
    wsi_fifo_add(&s->w->fifo, task);
    if (!wsi_worker_push(s->w, &s->w->fifo.ticket)) {
        /* The task may be under way; the oldest one has no ticket now. */
        wsi_worker_run(s->w, &s->w->fifo.ticket);
    }
    return true;
}

/* The pool is open. */
static bool queue(const spawning *s)
{
    ws_token *token = wsi_context_current()->token;
    wsi_task *task = token == NULL && s->copy_of == NULL ? small_task(s)
                                                         : large_task(s, token);
    if (task != NULL && !push(s, task)) {
        free_task(s, task);
        task = NULL;
    }
    return task != NULL;
}

static int spawn(spawning *s)
{
    int status = wsi_pool_or_current(s->pool, &s->pool);
    if (status != WS_OK) {
        return status;
    }
    s->w = wsi_current_worker;
    if (s->w != NULL && s->w->pool != s->pool) {
        s->w = NULL;
    }
    /* For the job; its run leaves. */
    if (!wsi_pool_enter(s->pool)) {
        return WS_EFORKED;
    }
    /* Once it is queued, the pool may be stopped under a foreign thread; a
     * worker is joined first. */
    if (s->w == NULL) {
        wsi_pool_retain(s->pool);
    }
    bool queued = queue(s);
    if (!queued) {
        wsi_pool_leave(s->pool);
    }
    if (s->w == NULL) {
        wsi_pool_release(s->pool);
    }
    return queued ? WS_OK : WS_ENOMEM;
}

int ws_spawn(ws_pool *pool, ws_fn fn, void *arg)
{
    spawning s = {.pool = pool, .fn = fn, .arg = arg};
    return fn != NULL ? spawn(&s) : WS_EINVAL;
}

int ws_spawn_fifo(ws_pool *pool, ws_fn fn, void *arg)
{
    spawning s = {.pool = pool, .fn = fn, .arg = arg, .fifo = true};
    return fn != NULL ? spawn(&s) : WS_EINVAL;
}

int ws_spawn_copy(ws_pool *pool, ws_fn fn, const void *arg, size_t size)
{
    /* An empty copy is a copy, too. */
    spawning s = {.pool = pool,
                  .fn = fn,
                  .copy_of = arg != NULL ? arg : "",
                  .size = size};
    if (fn == NULL || (arg == NULL && size > 0)) {
        return WS_EINVAL;
    }
    return spawn(&s);
}
