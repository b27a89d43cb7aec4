/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * find.c: where a worker looks for a job, and the search before sleep.
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

wsi_job *wsi_find_mail(wsi_worker *w)
{
    wsi_letter *letter = wsi_mail_take(&w->mail);
    return letter != NULL ? &letter->job : NULL;
}

wsi_job *wsi_find_local(wsi_worker *w)
{
    wsi_job *job = wsi_worker_pop(w);
    return job != NULL ? job : wsi_find_mail(w);
}

wsi_job *wsi_find_visitor(wsi_worker *w)
{
    wsi_fifo *visitors = &w->pool->visitors;
    wsi_task *task = wsi_fifo_any(visitors) ? wsi_fifo_take(visitors) : NULL;
    if (task == NULL) {
        return NULL;
    }
    wsi_count(&w->counters.injected, 1);
    return &task->job;
}

wsi_job *wsi_find_injected(wsi_worker *w)
{
    void *job = wsi_find_visitor(w);
    if (job == NULL &&
        wsi_injector_steal(&w->pool->injector, &job) == WS_STEAL_SUCCESS) {
        wsi_count(&w->counters.injected, 1);
    }
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

wsi_job *wsi_find_elsewhere(wsi_worker *w, wsi_steal_mode mode)
{
    const ws_pool *pool = w->pool;
    unsigned n = pool->n_slots;
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
    return !w->pool->plan.subtree || wsi_deque_len(&w->deque) == 0;
}

wsi_job *wsi_find_in_turn(wsi_worker *w)
{
    if (++w->n_runs < w->pool->plan.config.fairness_interval ||
        !may_take_injected(w)) {
        return NULL;
    }
    w->n_runs = 0;
    return wsi_pool_is_forked(w->pool) ? NULL : wsi_find_injected(w);
}

wsi_job *wsi_find_any(wsi_worker *w)
{
    wsi_job *job = wsi_find_in_turn(w);
    if (job == NULL) {
        job = wsi_find_local(w);
    }
    if (job == NULL) {
        job = wsi_find_elsewhere(w, WSI_STEAL_POLITE);
    }
    return job != NULL ? job : wsi_find_injected(w);
}

static wsi_steal_mode mode_after(uint64_t elapsed)
{
    return elapsed < FORCE_AFTER_NS      ? WSI_STEAL_POLITE
           : elapsed < TAKEOVER_AFTER_NS ? WSI_STEAL_FORCE
                                         : WSI_STEAL_TAKEOVER;
}

/* A spare with nothing on its stack parks instead of searching on. */
static bool too_many(const wsi_worker *w)
{
    return w->spare && w->depth == 0 && wsi_seats_surplus(&w->pool->seats);
}

/* One round of the search. */
static wsi_job *look_around(wsi_worker *w, wsi_steal_mode mode)
{
    wsi_job *job = wsi_find_mail(w);
    if (job == NULL) {
        job = wsi_find_elsewhere(w, mode);
    }
    return job != NULL ? job : wsi_find_injected(w);
}

wsi_job *wsi_search(wsi_worker *w, wsi_latch *latch, uint64_t deadline_ns)
{
    ws_pool *pool = w->pool;
    wsi_job *job = NULL;
    uint64_t left = 1;
    uint64_t begin = wsi_clock_ns();
    uint64_t look_at = pool->search_ns;
    wsi_sleep_begin_search(&pool->sleep);
    for (unsigned round = 1;
         left > 0 && !wsi_latch_is_set(latch) && !too_many(w); round++) {
        uint64_t elapsed = wsi_clock_ns() - begin;
        job = look_around(w, mode_after(elapsed));
        if (job != NULL) {
            break;
        }
        left = wsi_time_left(deadline_ns);
        if (elapsed >= look_at && left > 0) {
            if (wsi_sleep_block(&pool->sleep, w->index, latch, &pool->sleep_ops,
                                left)) {
                wsi_count(&w->counters.sleeps, 1);
                begin = wsi_clock_ns();
                look_at = pool->search_ns;
                continue;
            }
            /* There is work, and the clock runs on: soon we may force. */
            look_at = elapsed + LOOK_AGAIN_NS;
        }
        wsi_pause(round);
    }
    wsi_count(&w->counters.wakes,
              wsi_sleep_end_search(&pool->sleep, w->index, &pool->sleep_ops));
    return job;
}

bool wsi_worker_has_room(const wsi_worker *w)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return w->depth < w->pool->plan.config.max_depth && here > w->stack_floor;
}
