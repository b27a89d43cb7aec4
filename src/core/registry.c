/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * registry.c: building a pool, feeding it from outside, taking it down.
 *
 * Called by foreign threads and, for the counts, by workers.  Start is a ladder
 * whose rungs are undone in reverse order; threads wait at a gate until all of
 * them exist, so that a half-built pool never runs a job.
 *
 * Layer: core.  See src/README.md, "Shutdown".
 */
#include "core/registry.h"

#include <errno.h>
#include <stdio.h>

#include "core/worker.h"
#include "port/platform.h"

enum {
    GATE_SHUT = 0,
    GATE_OPEN = 1,
    GATE_QUIT = 2
};

/* Odd, so that no worker's random state starts at 0. */
#define SEED_STEP UINT64_C(0x9E3779B97F4A7C15)

static void ask_all(void *p)
{
    ws_pool *pool = p;
    for (unsigned i = 0; i < pool->n_workers; i++) {
        wsi_deque_poison(&pool->workers[i].deque);
    }
}

/* Every queue that a job can enter. */
static bool look_everywhere(void *p)
{
    ws_pool *pool = p;
    for (unsigned i = 0; i < pool->n_workers; i++) {
        if (wsi_deque_has_work(&pool->workers[i].deque)) {
            return true;
        }
    }
    return wsi_injector_len(&pool->injector) > 0;
}

static void gate_move(ws_pool *pool, uint32_t to)
{
    /* release: pairs with the acquire in thread_main(): the whole pool */
    wsi_u32_store_release(&pool->gate, to);
    wsi_futex_wake(&pool->gate, WS_MAX_WORKERS);
}

static void *thread_main(void *arg)
{
    wsi_worker *w = arg;
    wsi_atomic_u32 *gate = &w->pool->gate;
    uint32_t state;
    /* acquire: pairs with gate_move() */
    while ((state = wsi_u32_load_acquire(gate)) == GATE_SHUT) {
        wsi_futex_wait(gate, GATE_SHUT, UINT64_MAX);
    }
    if (state == GATE_OPEN) {
        wsi_worker_main(w);
    }
    return NULL;
}

static void free_memory(ws_pool *pool, unsigned n_deques)
{
    for (unsigned i = 0; i < n_deques; i++) {
        wsi_deque_destroy(&pool->workers[i].deque);
    }
    wsi_injector_destroy(&pool->injector);
    wsi_slab_depot_destroy(&pool->depot);
    wsi_mem_free(pool->workers);
    wsi_mem_free(pool->parkers);
    wsi_mem_free(pool);
}

static bool init_worker(ws_pool *pool, unsigned index,
                        const wsi_pool_plan *plan)
{
    wsi_worker *w = &pool->workers[index];
    w->pool = pool;
    w->index = index;
    w->random = (index + 1) * SEED_STEP;
    wsi_half_head_init(&w->half_head, index);
    wsi_latch_init(&w->terminate, wsi_latch_new(index));
    wsi_ptr_init(&w->serving, NULL);
    wsi_u32_init(&w->mixed, 0);
    return wsi_deque_init(&w->deque, WS_LIFO, plan->deque_capacity,
                          plan->first_index);
}

/* Everything but the threads; NULL when memory is out. */
static ws_pool *build(const wsi_pool_plan *plan)
{
    unsigned n = plan->num_threads;
    ws_pool *pool = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*pool));
    if (pool == NULL) {
        return NULL;
    }
    pool->n_workers = n;
    pool->workers = wsi_mem_alloc(WSI_CACHE_LINE, n * sizeof(wsi_worker));
    pool->parkers = wsi_mem_alloc(WSI_CACHE_LINE, n * sizeof(wsi_parker));
    pool->sleep_ops = (wsi_sleep_ops){ask_all, look_everywhere, pool};
    pool->process = wsi_process_id();
    pool->subtree = plan->subtree;
    pool->fairness_interval = plan->fairness_interval;
    pool->search_ns = plan->search_ns;
    wsi_u32_init(&pool->open, 1);
    wsi_u32_init(&pool->refs, 1);
    wsi_u32_init(&pool->gate, GATE_SHUT);
    if (pool->workers == NULL || pool->parkers == NULL ||
        !wsi_injector_init(&pool->injector, 0)) {
        wsi_mem_free(pool->parkers);
        wsi_mem_free(pool->workers);
        wsi_mem_free(pool);
        return NULL;
    }
    wsi_sleep_init(&pool->sleep, pool->parkers, n, plan->first_event);
    for (unsigned i = 0; i < n; i++) {
        if (!init_worker(pool, i, plan)) {
            free_memory(pool, i);
            return NULL;
        }
    }
    return pool;
}

/* Starts threads until one is refused; returns how many run. */
static unsigned start_threads(ws_pool *pool, const wsi_pool_plan *plan,
                              int *error)
{
    *error = 0;
    for (unsigned i = 0; i < plan->num_threads; i++) {
        /* The index stays whole however long the pool's name is. */
        char name[16];
        int digits = snprintf(NULL, 0, "%u", i);
        snprintf(name, sizeof(name), "ws-%.*s-%u", 11 - digits, plan->name, i);
        *error = wsi_thread_start(&pool->workers[i].thread, plan->stack_size,
                                  name, thread_main, &pool->workers[i]);
        if (*error != 0) {
            return i;
        }
    }
    return plan->num_threads;
}

static void join_threads(ws_pool *pool, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        wsi_thread_join(pool->workers[i].thread);
    }
}

int wsi_pool_start(ws_pool **out, const wsi_pool_plan *plan)
{
    ws_pool *pool = build(plan);
    if (pool == NULL) {
        return WS_ENOMEM;
    }
    int error;
    unsigned started = start_threads(pool, plan, &error);
    if (started < plan->num_threads && (!plan->may_shrink || started == 0)) {
        gate_move(pool, GATE_QUIT);
        join_threads(pool, started);
        free_memory(pool, plan->num_threads);
        return error == ENOMEM ? WS_ENOMEM : WS_ETHREADS;
    }
    /* The deques of threads that could not be had stay empty and unseen. */
    for (unsigned i = started; i < plan->num_threads; i++) {
        wsi_deque_destroy(&pool->workers[i].deque);
    }
    pool->n_workers = started;
    pool->sleep.n = started;
    gate_move(pool, GATE_OPEN);
    *out = pool;
    return WS_OK;
}

void wsi_pool_retain(ws_pool *pool)
{
    /* relaxed: the caller holds the pool open */
    wsi_u32_fetch_add_relaxed(&pool->refs, 1);
}

void wsi_pool_release(ws_pool *pool)
{
    /* acq_rel: the last one comes after all that the others did */
    if (wsi_u32_fetch_sub_acq_rel(&pool->refs, 1) == 1) {
        free_memory(pool, pool->n_workers);
    }
}

bool wsi_pool_enter(ws_pool *pool)
{
    if (wsi_process_id() != pool->process) {
        return false;
    }
    /* relaxed: the caller's handle keeps it above 0 */
    wsi_u32_fetch_add_relaxed(&pool->open, 1);
    return true;
}

void wsi_pool_leave(ws_pool *pool)
{
    /* acq_rel: the last one comes after all work that the others did */
    if (wsi_u32_fetch_sub_acq_rel(&pool->open, 1) != 1) {
        return;
    }
    /* The threads may end as soon as their latch is set, but this thread is
     * one of them or the one that will join them: the pool stays. */
    for (unsigned i = 0; i < pool->n_workers; i++) {
        wsi_sleep_set_latch(&pool->sleep, &pool->workers[i].terminate);
    }
}

void wsi_pool_stop(ws_pool *pool)
{
    if (wsi_process_id() == pool->process) {
        unsigned n = pool->n_workers;
        wsi_pool_leave(pool);
        join_threads(pool, n);
    }
    wsi_pool_release(pool);
}

bool wsi_pool_inject(ws_pool *pool, wsi_job *job)
{
    /* I1: into the injector */
    if (!wsi_injector_push(&pool->injector, job)) {
        return false;
    }
    /* I2, full: against the sleeper's S4: it sees I1, or I3 counts it */
    wsi_fence_full();
    /* I3 */
    wsi_sleep_announce_jobs(&pool->sleep, 0);
    return true;
}
