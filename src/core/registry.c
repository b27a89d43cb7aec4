/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * registry.c: building a pool, and feeding it from outside.
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
    for (unsigned i = 0; i < pool->n_slots; i++) {
        wsi_deque_poison(&pool->workers[i].deque);
    }
}

/* Every queue from which worker `self` can get a job. */
static bool look_everywhere(void *p, unsigned self)
{
    ws_pool *pool = p;
    for (unsigned i = 0; i < pool->n_slots; i++) {
        if (wsi_deque_has_work(&pool->workers[i].deque)) {
            return true;
        }
    }
    return wsi_mail_any(&pool->workers[self].mail) ||
           wsi_fifo_any(&pool->visitors) ||
           wsi_injector_len(&pool->injector) > 0;
}

static void gate_move(ws_pool *pool, uint32_t to)
{
    /* release: pairs with the acquire in pass_gate(): the whole pool */
    wsi_u32_store_release(&pool->gate, to);
    wsi_futex_wake(&pool->gate, 2 * WS_MAX_WORKERS);
}

/* True: the pool is whole. */
static bool pass_gate(ws_pool *pool)
{
    uint32_t state;
    /* acquire: pairs with gate_move() */
    while ((state = wsi_u32_load_acquire(&pool->gate)) == GATE_SHUT) {
        wsi_futex_wait(&pool->gate, GATE_SHUT, UINT64_MAX);
    }
    return state == GATE_OPEN;
}

static void *thread_main(void *arg)
{
    wsi_worker *w = arg;
    if (pass_gate(w->pool)) {
        wsi_worker_main(w, w->pool->plan.config.stack_size);
    }
    return NULL;
}

void wsi_pool_lodge(wsi_worker *w)
{
    ws_pool *pool = w->pool;
    if (pass_gate(pool)) {
        wsi_worker_main(w, 0);
    }
    /* acq_rel: pairs with the load in await_lodgers(); after it the pool may be
     * gone */
    wsi_u32_fetch_sub_acq_rel(&pool->lodgers, 1);
    wsi_futex_wake(&pool->lodgers, 1);
}

static void await_lodgers(ws_pool *pool)
{
    uint32_t left;
    /* acquire: pairs with wsi_pool_lodge() */
    while ((left = wsi_u32_load_acquire(&pool->lodgers)) != 0) {
        wsi_futex_wait(&pool->lodgers, left, UINT64_MAX);
    }
}

static void free_memory(ws_pool *pool, unsigned n_deques)
{
    for (unsigned i = 0; i < n_deques; i++) {
        wsi_deque_destroy(&pool->workers[i].deque);
    }
    wsi_injector_destroy(&pool->injector);
    wsi_slab_depot_destroy(&pool->small);
    wsi_slab_depot_destroy(&pool->large);
    wsi_mem_free(pool->workers);
    wsi_mem_free(pool->parkers);
    wsi_mem_free(pool->spare_seats);
    wsi_mem_free(pool);
}

/* The index stays whole however long the pool's name is. */
static void name_thread(ws_thread *thread, const char *pool, unsigned index)
{
    int digits = snprintf(NULL, 0, "%u", index);
    (void)snprintf(thread->name, sizeof(thread->name), "ws-%.*s-%u",
                   11 - digits, pool, index);
}

/* Of the jobs of ws_spawn_fifo(). */
static const wsi_job_kind fifo_ticket = {wsi_fifo_run_oldest, wsi_job_inject};

static bool init_worker(ws_pool *pool, unsigned index)
{
    const wsi_pool_plan *plan = &pool->plan;
    wsi_worker *w = &pool->workers[index];
    w->pool = pool;
    w->index = index;
    w->random = (index + 1) * SEED_STEP;
    w->handle.worker = w;
    name_thread(&w->handle, plan->config.name, index);
    wsi_worker_set_context(w, &wsi_context_root);
    wsi_latch_init(&w->half_head.latch, wsi_latch_new(index));
    wsi_latch_init(&w->terminate, wsi_latch_new(index));
    wsi_fifo_init(&w->fifo, &fifo_ticket);
    wsi_mail_init(&w->mail);
    wsi_u64_init(&w->serving, 0);
    w->n_scopes = (uint64_t)(index + 1) << 48;
    wsi_u32_init(&w->mixed, 0);
    wsi_u32_init(&w->called, 0);
    wsi_u32_init(&w->stuck, 0);
    return wsi_deque_init(&w->deque, WS_LIFO, plan->config.deque_capacity,
                          plan->first_index);
}

static int start_own_or_lodger(ws_pool *pool, wsi_worker *w)
{
    const ws_pool_config *config = &pool->plan.config;
    if (config->spawn_handler == NULL) {
        return wsi_thread_start(&w->thread, config->stack_size, w->handle.name,
                                thread_main, w);
    }
    /* relaxed: read after the thread has left, or by us */
    wsi_u32_fetch_add_relaxed(&pool->lodgers, 1);
    if (config->spawn_handler(&w->handle, config->handler_arg) != 0) {
        /* acq_rel: as in wsi_pool_lodge() */
        wsi_u32_fetch_sub_acq_rel(&pool->lodgers, 1);
        return EAGAIN;
    }
    return 0;
}

/* Starts the thread of a worker: 0, or an errno value.  Its start handler may
 * make jobs, so the pool is held open until that has returned. */
static int start_thread(ws_pool *pool, unsigned index)
{
    uint32_t share = pool->plan.config.start_handler != NULL;
    /* relaxed: the caller holds the pool open, or it is not yet running */
    wsi_u32_fetch_add_relaxed(&pool->open, share);
    int error = start_own_or_lodger(pool, &pool->workers[index]);
    if (error != 0) {
        /* acq_rel: as in wsi_pool_leave(); never the last */
        wsi_u32_fetch_sub_acq_rel(&pool->open, share);
    }
    return error;
}

static void join_thread(ws_pool *pool, unsigned index)
{
    if (pool->plan.config.spawn_handler == NULL &&
        !pool->workers[index].adopted) {
        wsi_thread_join(pool->workers[index].thread);
    }
}

static bool start_spare(void *p, unsigned spare, bool again)
{
    ws_pool *pool = p;
    unsigned index = pool->n_workers + spare;
    /* Not in a child that was forked inside a worker, and not when the pool is
     * about to end: a spare on its way to park comes here without a job. */
    if (wsi_pool_is_forked(pool)) {
        return false;
    }
    if (again) {
        join_thread(pool, index);
    }
    if (!wsi_pool_reopen(pool)) {
        return false;
    }
    bool started = start_thread(pool, index) == 0;
    wsi_pool_leave(pool);
    return started;
}

/* All memory but that of the pool itself. */
static bool allocate(ws_pool *pool)
{
    unsigned n = pool->n_slots;
    pool->workers = wsi_mem_alloc(WSI_CACHE_LINE, n * sizeof(wsi_worker));
    pool->parkers = wsi_mem_alloc(WSI_CACHE_LINE, n * sizeof(wsi_parker));
    pool->spare_seats = wsi_mem_alloc(WSI_CACHE_LINE, n * sizeof(wsi_seat));
    return pool->workers != NULL && pool->parkers != NULL &&
           pool->spare_seats != NULL && wsi_injector_init(&pool->injector, 0);
}

/* Everything but the threads; NULL when memory is out. */
static ws_pool *build(const wsi_pool_plan *plan)
{
    ws_pool *pool = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*pool));
    if (pool == NULL) {
        return NULL;
    }
    pool->plan = *plan;
    pool->n_workers = plan->config.num_threads;
    pool->n_slots = pool->n_workers + plan->n_spares;
    pool->sleep_ops = (wsi_sleep_ops){ask_all, look_everywhere, pool};
    pool->process = wsi_process_id();
    pool->search_ns = plan->config.search_us * (uint64_t)1000;
    wsi_slab_depot_init(&pool->small, WSI_SLAB_SMALL);
    wsi_slab_depot_init(&pool->large, WSI_SLAB_LARGE);
    wsi_fifo_init(&pool->visitors, NULL);
    wsi_u32_init(&pool->open, 1);
    wsi_u32_init(&pool->refs, 1);
    wsi_u32_init(&pool->gate, GATE_SHUT);
    wsi_u32_init(&pool->lodgers, 0);
    wsi_ptr_init(&pool->stopper, NULL);
    if (!allocate(pool)) {
        free_memory(pool, 0);
        return NULL;
    }
    wsi_sleep_init(&pool->sleep, pool->parkers, pool->n_slots,
                   plan->first_event);
    for (unsigned i = 0; i < pool->n_slots; i++) {
        if (!init_worker(pool, i)) {
            free_memory(pool, i);
            return NULL;
        }
    }
    /* The caller's string may go. */
    pool->plan.config.name = NULL;
    return pool;
}

/* Starts threads until one is refused; returns how many workers there are. */
static unsigned start_workers(ws_pool *pool, int *error)
{
    unsigned i = 0;
    *error = 0;
    if (pool->plan.config.use_current_thread) {
        pool->workers[i++].adopted = true;
    }
    for (; i < pool->n_workers; i++) {
        *error = start_thread(pool, i);
        if (*error != 0) {
            break;
        }
    }
    return i;
}

void wsi_pool_join_threads(ws_pool *pool)
{
    wsi_seats_close(&pool->seats);
    for (unsigned i = 0; i < pool->n_slots; i++) {
        if (i < pool->n_workers ||
            wsi_seats_has_thread(&pool->seats, i - pool->n_workers)) {
            join_thread(pool, i);
        }
    }
    await_lodgers(pool);
}

int wsi_pool_start(ws_pool **out, const wsi_pool_plan *plan)
{
    if (plan->config.use_current_thread && wsi_current_worker != NULL) {
        return WS_EINWORKER;
    }
    ws_pool *pool = build(plan);
    if (pool == NULL) {
        return WS_ENOMEM;
    }
    int error;
    unsigned stated = pool->n_workers;
    pool->n_workers = start_workers(pool, &error);
    /* Slots of threads that could not be had serve as spares. */
    wsi_seats_init(&pool->seats, pool->spare_seats,
                   plan->n_spares > 0 ? pool->n_slots - pool->n_workers : 0,
                   start_spare, pool);
    for (unsigned i = pool->n_workers; i < pool->n_slots; i++) {
        pool->workers[i].spare = true;
    }
    if (pool->n_workers < stated &&
        (!plan->may_shrink || pool->n_workers == 0)) {
        gate_move(pool, GATE_QUIT);
        wsi_pool_join_threads(pool);
        free_memory(pool, pool->n_slots);
        return error == ENOMEM ? WS_ENOMEM : WS_ETHREADS;
    }
    gate_move(pool, GATE_OPEN);
    if (plan->config.use_current_thread) {
        wsi_worker_attach(&pool->workers[0], 0);
    }
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
        free_memory(pool, pool->n_slots);
    }
}

void wsi_pool_error(wsi_worker *w, int code)
{
    const ws_pool_config *config = &w->pool->plan.config;
    if (code != 0) {
        wsi_count(&w->counters.errors, 1);
        if (config->error_handler != NULL) {
            config->error_handler(code, config->handler_arg);
        }
    }
}

void wsi_pool_call(ws_pool *pool, unsigned index)
{
    /* release: pairs with clear_call() (wait.c): what was stored before */
    wsi_u32_store_release(&pool->workers[index].called, 1);
    wsi_sleep_wake(&pool->sleep, index);
}

void wsi_pool_mail(ws_pool *pool, unsigned index, wsi_letter *letter)
{
    wsi_mail_post(&pool->workers[index].mail, letter);
    wsi_pool_call(pool, index);
}

void wsi_pool_visit(ws_pool *pool, wsi_task *visitor)
{
    wsi_fifo_add(&pool->visitors, visitor);
    /* I2 as in wsi_pool_inject(); also against lend_seat() (wait.c) */
    wsi_fence_full();
    wsi_sleep_announce_jobs(&pool->sleep, 0);
    for (unsigned i = 0; i < pool->n_slots; i++) {
        /* relaxed: ordered by the fence */
        if (wsi_u32_load_relaxed(&pool->workers[i].stuck) != 0) {
            wsi_pool_call(pool, i);
        }
    }
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

wsi_job *wsi_job_inject(wsi_job *job, ws_pool *pool)
{
    return wsi_pool_inject(pool, job) ? NULL : job;
}
