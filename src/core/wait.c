/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wait.c: what a worker does until a latch is set.
 *
 * Runs on the waiting worker's own thread.  With room on its stack and the ANY
 * policy it works like the main loop.  Otherwise it stays in its own subtree:
 *
 *  W1 its own jobs above the mark of the wait, its mail, the inbox of its
 *     scope, then leapfrogging; for search_us without finding any
 *  W2 it goes to sleep as a worker that any new job may wake
 *  W3 woken, or kept awake, by something that is not for it, it lends its seat
 *     to a spare and blocks on its latch alone
 *  W4 if there was no spare it is *stuck*: it idles, but runs visitors, since
 *     what it waits for may itself wait for another pool that waits for this
 *
 * Why no wake-up is lost with the waiter (W2 to W3): until W3 it takes part in
 * the protocol of sleep.h like any searcher, and leaves it by
 * wsi_sleep_end_search(), which hands its watch over; the spare searches before
 * it can sleep.
 *
 * Layer: core.  See src/README.md, "Waiting".
 */
#include "core/worker.h"

#include "core/inbox.h"
#include "core/registry.h"
#include "port/platform.h"

/* As in find.c: an owner that has not answered by then is in a long leaf. */
#define OPEN_AFTER_NS ((uint64_t)5 * 1000)

/* The state of one wait. */
typedef struct {
    const wsi_waiting *waiting;
    wsi_mark mark;  /* own jobs above it belong to the wait */
    uint64_t begin; /* since when it finds nothing; 0 = it has just found */
    unsigned round; /* of looking */
    bool lent;      /* W3 */
} vigil;

/* Called before a look: what raises the flag later is seen by the next one. */
static void clear_call(wsi_worker *w)
{
    /* relaxed: a hint; before blocking it is asked again after a fence */
    if (wsi_u32_load_relaxed(&w->called) != 0) {
        /* acq_rel: pairs with wsi_pool_call(): what it announces is seen */
        wsi_u32_exchange_acq_rel(&w->called, 0);
    }
}

/* What only this worker can run but is no part of the wait. */
static wsi_job *find_addressed(wsi_worker *w)
{
    wsi_job *job = wsi_find_mail(w);
    /* relaxed: the worker's own word */
    if (job == NULL && wsi_u32_load_relaxed(&w->stuck) != 0) {
        job = wsi_find_visitor(w);
    }
    return job;
}

/* W1 */
static wsi_job *find_related(wsi_worker *w, const vigil *v, bool patient)
{
    const wsi_waiting *waiting = v->waiting;
    wsi_job *job = NULL;
    if (wsi_deque_mark(&w->deque) > v->mark.at) {
        job = wsi_worker_pop(w);
        wsi_marks_lower(w);
    }
    if (job == NULL && waiting->host != NULL) {
        job = wsi_inbox_take(waiting->host);
    }
    /* Older jobs of its own forbid leaping: see subtree.c. */
    if (job == NULL && wsi_deque_len(&w->deque) == 0) {
        job = wsi_leapfrog(w, waiting, patient);
    }
    return job;
}

static void take_seat_back(wsi_worker *w, vigil *v)
{
    v->lent = false;
    /* relaxed: a call too many does no harm */
    wsi_u32_store_relaxed(&w->stuck, 0);
    wsi_seats_back(&w->pool->seats);
}

/* W3 and W4 */
static void lend_seat(wsi_worker *w, vigil *v)
{
    v->lent = true;
    wsi_count(&w->counters.lent, 1);
    if (!wsi_seats_lend(&w->pool->seats)) {
        /* relaxed: the fence orders it */
        wsi_u32_store_relaxed(&w->stuck, 1);
        /* full: against wsi_pool_visit(): it sees us stuck, or we see it */
        wsi_fence_full();
    }
}

/* Finds and runs a job; false: there was none. */
static bool run_one(wsi_worker *w, vigil *v)
{
    clear_call(w);
    bool patient = v->begin == 0 || wsi_clock_ns() - v->begin < OPEN_AFTER_NS;
    wsi_job *related = find_related(w, v, patient);
    wsi_job *job = related != NULL ? related : find_addressed(w);
    if (job == NULL) {
        return false;
    }
    if (v->lent) {
        take_seat_back(w, v);
    }
    if (related != NULL) {
        wsi_worker_run(w, job);
    } else {
        wsi_worker_run_unrelated(w, job);
    }
    v->begin = 0;
    return true;
}

/* Something came that will be found by the next look. */
static bool for_this_worker(const wsi_worker *w, const vigil *v)
{
    /* relaxed: a hint */
    return wsi_u32_load_relaxed(&w->called) != 0 ||
           (wsi_deque_mark(&w->deque) > v->mark.at &&
            wsi_deque_len(&w->deque) > 0);
}

/* W2 and, if what is there is not for this worker, W3. */
static void sleep_as_worker(wsi_worker *w, vigil *v)
{
    ws_pool *pool = w->pool;
    const wsi_waiting *waiting = v->waiting;
    wsi_sleep_begin_search(&pool->sleep);
    bool blocked =
        wsi_sleep_block(&pool->sleep, w->index, waiting->latch,
                        &pool->sleep_ops, wsi_time_left(waiting->deadline_ns));
    wsi_count(&w->counters.sleeps, blocked);
    if (!wsi_latch_is_set(waiting->latch) && !for_this_worker(w, v) &&
        pool->sleep_ops.look(pool, w->index)) {
        lend_seat(w, v);
    }
    wsi_count(&w->counters.wakes,
              wsi_sleep_end_search(&pool->sleep, w->index, &pool->sleep_ops));
}

static void stay_in_subtree(wsi_worker *w, vigil *v)
{
    ws_pool *pool = w->pool;
    const wsi_waiting *waiting = v->waiting;
    if (run_one(w, v)) {
        return;
    }
    uint64_t now = wsi_clock_ns();
    v->begin = v->begin != 0 ? v->begin : now;
    if (now - v->begin < pool->search_ns) {
        wsi_pause(++v->round);
    } else if (!v->lent) {
        sleep_as_worker(w, v);
    } else {
        wsi_sleep_block_on_latch(&pool->sleep, w->index, waiting->latch,
                                 &w->called,
                                 wsi_time_left(waiting->deadline_ns));
        wsi_count(&w->counters.sleeps, 1);
    }
}

static void help_anybody(wsi_worker *w, const wsi_waiting *waiting)
{
    wsi_job *job = wsi_find_any(w);
    wsi_marks_lower(w);
    if (job == NULL) {
        job = wsi_search(w, waiting->latch, waiting->deadline_ns);
    }
    if (job != NULL) {
        wsi_worker_run(w, job);
    }
}

bool wsi_worker_wait(wsi_worker *w, const wsi_waiting *waiting)
{
    vigil v = {.waiting = waiting};
    /* Who waits for the end of the pool has nothing below on its stack. */
    bool at_end = waiting->latch == &w->terminate;
    bool any = !w->pool->plan.subtree && !wsi_pool_is_forked(w->pool);
    bool in_time = wsi_time_left(waiting->deadline_ns) > 0;
    wsi_mark_open(w, &v.mark, waiting->mark);
    while (!wsi_latch_is_set(waiting->latch) && in_time) {
        if (at_end || (any && wsi_worker_has_room(w))) {
            help_anybody(w, waiting);
        } else {
            stay_in_subtree(w, &v);
        }
        in_time = wsi_time_left(waiting->deadline_ns) > 0;
    }
    wsi_mark_close(w, &v.mark);
    if (v.lent) {
        take_seat_back(w, &v);
    }
    return wsi_latch_is_set(waiting->latch);
}
