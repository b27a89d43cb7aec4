/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * subtree.c: waiting without running unrelated jobs (WS_WAIT_SUBTREE).
 *
 * Runs on the waiting worker's own thread.  It runs its own jobs pushed since
 * the wait's frame began; then it leapfrogs: it steals from the worker that
 * runs the job it waits for (Wagner and Calder, 1993); then it blocks on its
 * latch alone.
 *
 * Why what it steals is a descendant: a worker takes a job from elsewhere only
 * with an empty deque, so while that job runs, all its deque holds was pushed
 * by the job, unless the worker is `mixed`.  The range is read before the check
 * that the job still runs, and the steal succeeds only if the range has not
 * changed since: no equal range ever comes back (deque.h, I2).
 *
 * Layer: core.  See src/README.md, "Waiting".
 */
#include "core/worker.h"

#include "core/registry.h"
#include "port/platform.h"

/* As in worker.c: an owner that has not answered by then is in a long leaf. */
#define OPEN_AFTER_NS ((uint64_t)5 * 1000)

/* Whether worker `victim` runs a job of the subtree right now. */
static bool serves(const wsi_worker *w, unsigned victim,
                   const wsi_waiting *waiting)
{
    /* acquire: pairs with wsi_worker_mix() and unmix() */
    if (wsi_u32_load_acquire(&w->pool->workers[victim].mixed) != 0) {
        return false;
    }
    if (waiting->scope == NULL) {
        return wsi_latch_thief(waiting->latch) == (int)victim;
    }
    /* acquire: pairs with the release in run_body_of() (scope.c) */
    return wsi_ptr_load_acquire(&w->pool->workers[victim].serving) ==
           waiting->scope;
}

static wsi_job *leap(wsi_worker *w, unsigned victim, const wsi_waiting *waiting,
                     bool patient)
{
    wsi_deque *dq = &w->pool->workers[victim].deque;
    void *job;
    wsi_deque_view view = wsi_deque_look(dq);
    if (!serves(w, victim, waiting)) {
        return NULL;
    }
    if (wsi_deque_steal_seen(dq, view, &job) == WS_STEAL_SUCCESS) {
        wsi_count(&w->counters.steals, 1);
        return job;
    }
    if (patient) {
        wsi_deque_poison(dq);
    } else {
        wsi_deque_force_open(dq);
    }
    return NULL;
}

/* A job of the subtree from elsewhere, or NULL. */
static wsi_job *leapfrog(wsi_worker *w, const wsi_waiting *waiting,
                         bool patient)
{
    for (unsigned i = 0; i < w->pool->n_workers; i++) {
        wsi_job *job = i != w->index ? leap(w, i, waiting, patient) : NULL;
        if (job != NULL) {
            return job;
        }
    }
    return NULL;
}

static wsi_job *find_related(wsi_worker *w, const wsi_waiting *waiting,
                             bool patient)
{
    wsi_job *job = NULL;
    if (wsi_deque_mark(&w->deque) > waiting->mark) {
        job = wsi_worker_pop(w);
    }
    /* Older jobs of its own forbid leaping: see above. */
    if (job == NULL && wsi_deque_len(&w->deque) == 0) {
        job = leapfrog(w, waiting, patient);
    }
    /* relaxed: a hint; who raises it wakes us (wsi_sleep_block_on_latch) */
    if (job == NULL && waiting->injected != NULL &&
        wsi_u32_load_relaxed(waiting->injected) > 0) {
        wsi_worker_mix(w);
        job = wsi_worker_take_injected(w);
    }
    return job;
}

void wsi_worker_wait_subtree(wsi_worker *w, const wsi_waiting *waiting)
{
    ws_pool *pool = w->pool;
    uint64_t begin = wsi_clock_ns();
    while (!wsi_latch_is_set(waiting->latch)) {
        uint64_t elapsed = wsi_clock_ns() - begin;
        wsi_job *job = find_related(w, waiting, elapsed < OPEN_AFTER_NS);
        if (job != NULL) {
            wsi_worker_run(w, job);
            begin = wsi_clock_ns();
        } else if (elapsed >= pool->search_ns) {
            wsi_sleep_block_on_latch(&pool->sleep, w->index, waiting->latch,
                                     waiting->injected);
            wsi_count(&w->counters.sleeps, 1);
        } else {
            wsi_cpu_relax();
        }
    }
}
