/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * worker.c: a worker thread from its first job to its last.
 *
 * Runs on the worker's own thread.
 *
 * Layer: core.
 */
#include "core/worker.h"

#include "core/registry.h"
#include "port/platform.h"

WSI_THREAD_LOCAL wsi_worker *wsi_current_worker;
WSI_THREAD_LOCAL wsi_worker *wsi_unfenced_worker;

bool wsi_worker_push_slow(wsi_worker *w, uint64_t index)
{
    wsi_push result = wsi_deque_push_slow(&w->deque, index);
    if (result == WSI_PUSH_ANSWERED) {
        /* The poison was met: somebody may sleep who should not. */
        wsi_count(&w->counters.wakes,
                  wsi_sleep_announce_jobs(&w->pool->sleep, w->index));
    }
    return result != WSI_PUSH_FULL;
}

static WSI_COLD void deepest(wsi_worker *w)
{
    /* relaxed: as in wsi_count() */
    wsi_u64_store_relaxed(&w->counters.max_depth, w->depth);
}

void wsi_worker_run(wsi_worker *w, wsi_job *job)
{
    bool outermost = w->adopted && wsi_worker_begin_call(w);
    wsi_count(&w->counters.jobs, 1);
    w->depth++;
    /* relaxed: as in wsi_count() */
    if (WSI_UNLIKELY(w->depth > wsi_u64_load_relaxed(&w->counters.max_depth))) {
        deepest(w);
    }
    if (w->depth == 1 && wsi_deque_len(&w->deque) == 0) {
        wsi_worker_serve(w, 0);
    }
    job->kind->run(job, w);
    w->depth--;
    wsi_worker_end_call(w, outermost);
}

/* False: memory is out, and what is above the mark stays. */
static bool requeue_above(wsi_worker *w, uint64_t mark)
{
    while (wsi_deque_mark(&w->deque) > mark) {
        wsi_job *job = wsi_worker_pop(w);
        if (job == NULL) {
            return true;
        }
        job = job->kind->requeue(job, w->pool);
        if (job != NULL) {
            /* There is room: one was popped. */
            wsi_worker_push(w, job);
            return false;
        }
    }
    return true;
}

void wsi_worker_run_unrelated(wsi_worker *w, wsi_job *job)
{
    /* relaxed: the worker's own word */
    uint32_t outer = wsi_u32_load_relaxed(&w->mixed);
    wsi_mark mark;
    wsi_mark_open(w, &mark, wsi_deque_mark(&w->deque));
    /* release: before any push of the job; see serves() (subtree.c) */
    wsi_u32_store_release(&w->mixed, 1);
    wsi_worker_run(w, job);
    wsi_mark_close(w, &mark);
    if (requeue_above(w, mark.at)) {
        /* release: whatever the job has pushed is gone */
        wsi_u32_store_release(&w->mixed, outer);
    }
}

/* Called when no job runs. */
static void unmix(wsi_worker *w)
{
    /* relaxed: the worker's own word */
    if (wsi_u32_load_relaxed(&w->mixed) != 0 && wsi_deque_len(&w->deque) == 0) {
        /* release: whatever the deque held is gone */
        wsi_u32_store_release(&w->mixed, 0);
    }
}

void wsi_worker_allow_fast(wsi_worker *w)
{
    bool may = w->deque.fences == WSI_FENCES_ASYMMETRIC &&
               (!w->adopted || w->depth > 0);
    wsi_unfenced_worker = may ? w : NULL;
}

void wsi_worker_attach(wsi_worker *w, size_t stack_size)
{
    uintptr_t lowest = (uintptr_t)__builtin_frame_address(0) - stack_size;
    if (stack_size == 0 && !wsi_stack_of_caller(&lowest, &stack_size)) {
        lowest = 0;
    }
    w->stack_floor = lowest + stack_size / 2;
    wsi_worker_set_context(w, wsi_context_current());
    wsi_current_worker = w;
    wsi_worker_allow_fast(w);
}

void wsi_worker_detach(void)
{
    const wsi_context *context = wsi_context_current();
    wsi_current_worker = NULL;
    wsi_unfenced_worker = NULL;
    wsi_context_switch(context);
}

static void call_handler(wsi_worker *w, int (*handler)(unsigned, void *))
{
    if (handler != NULL) {
        wsi_pool_error(w, handler(w->index, w->pool->plan.config.handler_arg));
    }
}

static bool ended(void *worker)
{
    wsi_worker *w = worker;
    return wsi_latch_is_set(&w->terminate);
}

/* A spare that is one too many gives its seat back.  False: it must leave. */
static bool keep_seat(wsi_worker *w)
{
    ws_pool *pool = w->pool;
    if (!w->spare || !wsi_seats_surplus(&pool->seats) ||
        wsi_deque_len(&w->deque) != 0) {
        return true;
    }
    uint64_t patience = pool->plan.config.spawn_handler == NULL
                            ? pool->plan.patience_ns
                            : UINT64_MAX;
    return wsi_seats_park(&pool->seats, w->index - pool->n_workers, patience,
                          ended, w) == WSI_PARK_TAKEN;
}

/* From its start handler to its exit handler. */
static void work(wsi_worker *w)
{
    const ws_pool_config *config = &w->pool->plan.config;
    if (config->start_handler != NULL) {
        call_handler(w, config->start_handler);
        wsi_pool_leave(w->pool); /* the share of start_thread() */
    }
    /* The terminate latch is set when no work is left (registry.h, I2). */
    while (!wsi_latch_is_set(&w->terminate) && keep_seat(w)) {
        unmix(w);
        wsi_job *job = wsi_find_any(w);
        if (job == NULL) {
            job = wsi_search(w, &w->terminate, UINT64_MAX);
        }
        if (job != NULL) {
            wsi_worker_run(w, job);
        }
    }
    call_handler(w, config->exit_handler);
}

/* A spare that was about to end is needed, and begins anew.  False: the pool
 * ends. */
static bool begins_anew(wsi_worker *w)
{
    ws_pool *pool = w->pool;
    return !wsi_latch_is_set(&w->terminate) &&
           !wsi_seats_leave(&pool->seats, w->index - pool->n_workers) &&
           (pool->plan.config.start_handler == NULL || wsi_pool_reopen(pool));
}

void wsi_worker_main(wsi_worker *w, size_t stack_size)
{
    wsi_worker_attach(w, stack_size);
    do {
        work(w);
    } while (begins_anew(w));
    wsi_worker_detach();
}
