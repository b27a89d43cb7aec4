/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * worker.c: find_work, the search before sleep, and the main loop.
 *
 * Runs on the worker's own thread.  A searching worker escalates by time: it
 * first asks owners politely, then forces their private jobs into the open,
 * then also takes over a stalled thief's claim; when its search time is over
 * it goes to sleep.
 *
 * Layer: core.  See src/README.md, "Finding work".
 */
#include "core/worker.h"

#include "core/registry.h"
#include "port/platform.h"

/* An owner that pushes at all answers within a push or two, well under a
 * microsecond; one that has not answered after this is inside a long leaf. */
#define FORCE_AFTER_NS ((uint64_t)5 * 1000)
/* A claim is held for one membarrier, some microseconds at most; one that is
 * older belongs to a thief that was descheduled. */
#define TAKEOVER_AFTER_NS ((uint64_t)40 * 1000)
/* Between two looks before sleep that found work which could not be taken: each
 * look is a membarrier. */
#define LOOK_AGAIN_NS ((uint64_t)10 * 1000)
/* Between two rounds of a search: short, so that an answer is seen at once. */
#define PAUSES_PER_ROUND 4
/* Lets others run on an oversubscribed machine. */
#define ROUNDS_PER_YIELD 32

WSI_THREAD_LOCAL wsi_worker *wsi_current_worker;
WSI_THREAD_LOCAL wsi_worker *wsi_unfenced_worker;

/* The poison was met: somebody may sleep who should not. */
static void announce(wsi_worker *w)
{
    wsi_count(&w->counters.wakes,
              wsi_sleep_announce_jobs(&w->pool->sleep, w->index));
}

bool wsi_worker_push_slow(wsi_worker *w, uint64_t index)
{
    wsi_push result = wsi_deque_push_slow(&w->deque, index);
    if (result == WSI_PUSH_ANSWERED) {
        announce(w);
    }
    return result != WSI_PUSH_FULL;
}

void wsi_worker_run(wsi_worker *w, wsi_job *job)
{
    wsi_count(&w->counters.jobs, 1);
    job->run(job, w);
}

wsi_job *wsi_worker_take_injected(wsi_worker *w)
{
    void *job;
    if (wsi_injector_steal(&w->pool->injector, &job) != WS_STEAL_SUCCESS) {
        return NULL;
    }
    wsi_count(&w->counters.injected, 1);
    return job;
}

/* xorshift64*: Vigna (2016). */
static uint64_t next_random(wsi_worker *w)
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return w->random * UINT64_C(0x2545F4914F6CDD1D);
}

wsi_job *wsi_worker_steal(wsi_worker *w, wsi_steal_mode mode)
{
    const ws_pool *pool = w->pool;
    unsigned n = pool->n_workers;
    unsigned start = (unsigned)((next_random(w) >> 32) * n >> 32);
    void *job;
    for (unsigned i = 0; i < n; i++) {
        unsigned victim = start + i < n ? start + i : start + i - n;
        if (victim != w->index &&
            wsi_deque_steal(&pool->workers[victim].deque, mode, &job) ==
                WS_STEAL_SUCCESS) {
            wsi_count(&w->counters.steals, 1);
            wsi_count(&w->counters.forced, mode != WSI_STEAL_POLITE);
            return job;
        }
    }
    return NULL;
}

/* Under the subtree policy somebody may wait, with a lock that an injected job
 * wants, for what is left in the own deque: that goes first. */
static bool may_take_injected(const wsi_worker *w)
{
    return !w->pool->subtree || wsi_deque_len(&w->deque) == 0;
}

/* Own deque, then one polite look around. */
static wsi_job *find_work(wsi_worker *w)
{
    wsi_job *job = NULL;
    if (++w->n_runs >= w->pool->fairness_interval && may_take_injected(w)) {
        w->n_runs = 0;
        job = wsi_worker_take_injected(w);
    }
    if (job == NULL) {
        job = wsi_worker_pop(w);
    }
    if (job == NULL) {
        job = wsi_worker_steal(w, WSI_STEAL_POLITE);
    }
    return job != NULL ? job : wsi_worker_take_injected(w);
}

static wsi_steal_mode mode_after(uint64_t elapsed)
{
    return elapsed < FORCE_AFTER_NS      ? WSI_STEAL_POLITE
           : elapsed < TAKEOVER_AFTER_NS ? WSI_STEAL_FORCE
                                         : WSI_STEAL_TAKEOVER;
}

static void pause_between_rounds(unsigned round)
{
    if (round % ROUNDS_PER_YIELD == 0) {
        wsi_thread_yield();
        return;
    }
    for (unsigned i = 0; i < PAUSES_PER_ROUND; i++) {
        wsi_cpu_relax();
    }
}

/* Searches, sleeps and searches again until there is a job (returned) or the
 * latch is set (NULL).  The own deque is empty. */
static wsi_job *search(wsi_worker *w, wsi_latch *latch)
{
    ws_pool *pool = w->pool;
    wsi_job *job = NULL;
    uint64_t begin = wsi_clock_ns();
    uint64_t look_at = pool->search_ns;
    wsi_sleep_begin_search(&pool->sleep);
    for (unsigned round = 1; !wsi_latch_is_set(latch); round++) {
        uint64_t elapsed = wsi_clock_ns() - begin;
        job = wsi_worker_steal(w, mode_after(elapsed));
        if (job == NULL) {
            job = wsi_worker_take_injected(w);
        }
        if (job != NULL) {
            break;
        }
        if (elapsed >= look_at) {
            if (wsi_sleep_block(&pool->sleep, w->index, latch,
                                &pool->sleep_ops)) {
                wsi_count(&w->counters.sleeps, 1);
                begin = wsi_clock_ns();
                look_at = pool->search_ns;
                continue;
            }
            /* There is work, and the clock runs on: soon we may force. */
            look_at = elapsed + LOOK_AGAIN_NS;
        }
        pause_between_rounds(round);
    }
    wsi_count(&w->counters.wakes,
              wsi_sleep_end_search(&pool->sleep, w->index, &pool->sleep_ops));
    return job;
}

/* Runs one job, or returns when the latch is set. */
static void work_once(wsi_worker *w, wsi_latch *latch)
{
    wsi_job *job = find_work(w);
    if (job == NULL) {
        job = search(w, latch);
    }
    if (job != NULL) {
        wsi_worker_run(w, job);
    }
}

void wsi_worker_wait_any(wsi_worker *w, wsi_latch *latch)
{
    while (!wsi_latch_is_set(latch)) {
        work_once(w, latch);
    }
}

void wsi_worker_wait(wsi_worker *w, const wsi_waiting *waiting)
{
    if (w->pool->subtree) {
        wsi_worker_wait_subtree(w, waiting);
    } else {
        wsi_worker_wait_any(w, waiting->latch);
    }
}

void wsi_worker_mix(wsi_worker *w)
{
    /* release: before any push of the other job; see serves() in subtree.c */
    wsi_u32_store_release(&w->mixed, 1);
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

void wsi_worker_main(wsi_worker *w)
{
    wsi_current_worker = w;
    wsi_unfenced_worker = w->deque.fences == WSI_FENCES_ASYMMETRIC ? w : NULL;
    /* The terminate latch is set when no work is left (registry.h, I2). */
    while (!wsi_latch_is_set(&w->terminate)) {
        unmix(w);
        work_once(w, &w->terminate);
    }
    wsi_current_worker = NULL;
    wsi_unfenced_worker = NULL;
}
