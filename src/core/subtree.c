/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * subtree.c: leapfrogging: a waiter steals from the worker that runs the job
 * it waits for (Wagner and Calder, 1993), and from no other.
 *
 * Runs on the waiting worker's own thread.
 *
 * Why what it steals is a descendant: a worker takes a job from elsewhere only
 * with an empty deque; from then on, until it does so again, all its deque
 * holds was pushed by that job or by jobs which that job has pushed, unless the
 * worker is `mixed`.  For a join, the latch says which worker runs the half,
 * and as long as it does; for a scope, `serving` says whose job was the last
 * that a worker began with an empty deque.  The range is read before that
 * check, and the steal succeeds only if the range has not changed since: no
 * equal range ever comes back (deque.h, I2).
 *
 * Layer: core.  See src/README.md, "Waiting".
 */
#include "core/worker.h"

#include "core/registry.h"

/* Whether worker `victim` runs a job of the subtree right now. */
static bool serves(const wsi_worker *w, unsigned victim,
                   const wsi_waiting *waiting)
{
    /* acquire: pairs with wsi_worker_run_unrelated() and unmix() */
    if (wsi_u32_load_acquire(&w->pool->workers[victim].mixed) != 0) {
        return false;
    }
    if (waiting->scope == 0) {
        return wsi_latch_thief(waiting->latch) == (int)victim;
    }
    /* acquire: pairs with wsi_worker_serve() */
    return wsi_u64_load_acquire(&w->pool->workers[victim].serving) ==
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

wsi_job *wsi_leapfrog(wsi_worker *w, const wsi_waiting *waiting, bool patient)
{
    for (unsigned i = 0; i < w->pool->n_slots; i++) {
        wsi_job *job = i != w->index ? leap(w, i, waiting, patient) : NULL;
        if (job != NULL) {
            return job;
        }
    }
    return NULL;
}
