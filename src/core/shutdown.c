/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * shutdown.c: what holds a pool open, and how it ends.
 *
 * Any thread enters and leaves; the last one to leave terminates; one thread
 * stops the pool, perhaps a worker of another one, perhaps the creator's.
 *
 * Layer: core.  See src/README.md, "Shutdown".
 */
#include "core/gate.h"
#include "core/registry.h"
#include "core/worker.h"
#include "port/platform.h"

bool wsi_pool_is_forked(const ws_pool *pool)
{
    return wsi_process_id() != pool->process;
}

bool wsi_pool_enter(ws_pool *pool)
{
    if (wsi_pool_is_forked(pool)) {
        return false;
    }
    /* relaxed: the caller's handle keeps it above 0 */
    wsi_u32_fetch_add_relaxed(&pool->open, 1);
    return true;
}

bool wsi_pool_reopen(ws_pool *pool)
{
    /* relaxed: checked by the CAS */
    uint32_t open = wsi_u32_load_relaxed(&pool->open);
    while (open != 0) {
        /* acq_rel: as in wsi_pool_leave() */
        if (wsi_u32_cas_acq_rel(&pool->open, &open, open + 1)) {
            return true;
        }
    }
    return false;
}

/* The last share of `open` is gone: no job is left. */
static void terminate(ws_pool *pool)
{
    /* The threads may end as soon as their latch is set, but this thread is
     * one of them, or the one that will join them, or has a reference. */
    for (unsigned i = 0; i < pool->n_slots; i++) {
        wsi_sleep_set_latch(&pool->sleep, &pool->workers[i].terminate);
    }
    wsi_seats_end(&pool->seats);
    wsi_futex_wake(&pool->open, 1);
    /* acquire: pairs with end_jobs_from() */
    wsi_gate *stopper = wsi_ptr_load_acquire(&pool->stopper);
    if (stopper != NULL) {
        wsi_gate_set(stopper);
    }
}

void wsi_pool_leave(ws_pool *pool)
{
    /* acq_rel: the last one comes after all work that the others did */
    if (wsi_u32_fetch_sub_acq_rel(&pool->open, 1) == 1) {
        terminate(pool);
    }
}

/* Until no job is left; false: the deadline came first. */
static bool await_jobs(ws_pool *pool, uint64_t deadline_ns)
{
    uint64_t left = 1;
    uint32_t open;
    if (pool->plan.config.use_current_thread) {
        wsi_waiting waiting = wsi_wait_on(&pool->workers[0].terminate, 0);
        waiting.deadline_ns = deadline_ns;
        return wsi_worker_wait(&pool->workers[0], &waiting);
    }
    /* acquire: pairs with wsi_pool_leave() */
    while ((open = wsi_u32_load_acquire(&pool->open)) != 0 && left > 0) {
        left = wsi_time_left(deadline_ns);
        wsi_futex_wait(&pool->open, open, left);
    }
    return open == 0;
}

int wsi_pool_may_stop(const ws_pool *pool)
{
    const wsi_worker *w = wsi_current_worker;
    if (w != NULL && w->pool == pool) {
        return w->adopted && w->depth == 0 ? WS_OK : WS_EINWORKER;
    }
    /* Elsewhere the creator's thread would stay its worker; but not in a child
     * that another thread has forked. */
    return pool->plan.config.use_current_thread && !wsi_pool_is_forked(pool)
               ? WS_EINWORKER
               : WS_OK;
}

/* Gives the handle's share of `open` back and waits; false: jobs were left at
 * the deadline, and the share is taken again. */
static bool end_jobs(ws_pool *pool, uint64_t deadline_ns)
{
    wsi_pool_leave(pool);
    return await_jobs(pool, deadline_ns) || !wsi_pool_reopen(pool);
}

/* The same in worker `w` of another pool, which works meanwhile: what is left
 * may wait for that. */
static bool end_jobs_from(wsi_worker *w, ws_pool *pool, uint64_t deadline_ns)
{
    wsi_gate gate;
    bool outermost = wsi_worker_begin_call(w);
    wsi_waiting waiting = wsi_wait_on(&gate.latch, wsi_deque_mark(&w->deque));
    waiting.deadline_ns = deadline_ns;
    wsi_gate_init(&gate, pool);
    /* release: pairs with terminate() */
    wsi_ptr_store_release(&pool->stopper, &gate);
    wsi_pool_leave(pool);
    bool ended = wsi_worker_wait(w, &waiting);
    if (!ended && !wsi_pool_reopen(pool)) {
        /* They have ended just now. */
        waiting.deadline_ns = UINT64_MAX;
        ended = wsi_worker_wait(w, &waiting);
    }
    /* relaxed: nobody looks while the pool is open, or any more */
    wsi_ptr_store_relaxed(&pool->stopper, NULL);
    wsi_worker_end_call(w, outermost);
    return ended;
}

bool wsi_pool_stop(ws_pool *pool, uint64_t deadline_ns)
{
    wsi_worker *w = wsi_current_worker;
    if (!wsi_pool_is_forked(pool)) {
        if (w != NULL && w->pool != pool ? !end_jobs_from(w, pool, deadline_ns)
                                         : !end_jobs(pool, deadline_ns)) {
            return false;
        }
        wsi_pool_join_threads(pool);
    }
    if (w != NULL && w->pool == pool) {
        wsi_worker_detach();
    }
    wsi_pool_release(pool);
    return true;
}
