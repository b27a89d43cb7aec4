/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * worker.h: what a worker thread does: find jobs, run them, wait.
 *
 * All functions are called by the worker on itself.
 *
 * Order of the search: own deque, own mail, other deques (random start, then
 * round the ring), visitors, injector; every fairness_interval-th time what
 * came from outside first.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_WORKER_H
#define WSI_CORE_WORKER_H

#include <stdbool.h>

#include "core/context.h"
#include "core/registry.h"

/* The worker that this thread is, or NULL. */
extern WSI_THREAD_LOCAL wsi_worker *wsi_current_worker;
/* The same, but NULL where the owner's side of a deque needs real fences, and
 * on the creator's thread outside all calls: one test tells ws_join() all. */
extern WSI_THREAD_LOCAL wsi_worker *wsi_unfenced_worker;

/* The calling thread's cache of the pool's small or large nodes; NULL, for the
 * slab: it is no worker of the pool. */
static inline wsi_slab_cache *wsi_current_cache(const ws_pool *pool, bool large)
{
    wsi_worker *w = wsi_current_worker;
    return w == NULL || w->pool != pool ? NULL : large ? &w->large : &w->small;
}

/* A thread's whole life as a worker. */
void wsi_worker_main(wsi_worker *w, size_t stack_size);

/* The calling thread is `w` from now on; stack size 0 = ask the system. */
void wsi_worker_attach(wsi_worker *w, size_t stack_size);
void wsi_worker_detach(void);

/* Sets wsi_unfenced_worker for the calling thread, which is `w`. */
void wsi_worker_allow_fast(wsi_worker *w);

/* Around each call of the creator's thread: the outermost one counts like a
 * job, so that the pool knows when none is open (wsi_pool_may_stop()).  Other
 * workers are always in a job: nothing to do. */
static inline bool wsi_worker_begin_call(wsi_worker *w)
{
    if (WSI_LIKELY(w->depth > 0)) {
        return false;
    }
    w->depth = 1;
    wsi_worker_allow_fast(w);
    return true;
}

static inline void wsi_worker_end_call(wsi_worker *w, bool outermost)
{
    if (WSI_UNLIKELY(outermost)) {
        w->depth = 0;
        wsi_worker_allow_fast(w);
    }
}

/* The end of wsi_deque_push_begin() when it was false.  False: out of memory,
 * the job was not queued. */
bool wsi_worker_push_slow(wsi_worker *w, uint64_t index);

/* Queues a job in the worker's own deque; false: out of memory. */
static inline bool wsi_worker_push(wsi_worker *w, wsi_job *job)
{
    uint64_t index;
    return wsi_deque_push_begin(&w->deque, job, &index, w->deque.fences) ||
           wsi_worker_push_slow(w, index);
}

/* The worker's own newest job, or NULL. */
static inline wsi_job *wsi_worker_pop(wsi_worker *w)
{
    return wsi_deque_pop(&w->deque);
}

/* Runs a job that was taken from a queue. */
void wsi_worker_run(wsi_worker *w, wsi_job *job);

/* The deque is empty, and what it gets from now on belongs to scope `id` (0: to
 * none); returns what it belonged to before. */
static inline uint64_t wsi_worker_serve(wsi_worker *w, uint64_t id)
{
    /* relaxed: the worker's own word */
    uint64_t before = wsi_u64_load_relaxed(&w->serving);
    if (before != id) {
        /* release: pairs with the acquire in serves() (subtree.c) */
        wsi_u64_store_release(&w->serving, id);
    }
    return before;
}

/* Adds to one of the worker's own counters. */
static inline void wsi_count(wsi_atomic_u64 *counter, uint64_t n)
{
    /* relaxed: one writer; a reader wants the number only */
    wsi_u64_store_relaxed(counter, wsi_u64_load_relaxed(counter) + n);
}

/* Between two rounds of a search: short, so that an answer is seen at once;
 * now and then lets others run, for an oversubscribed machine. */
#define WSI_PAUSES_PER_ROUND 4
#define WSI_ROUNDS_PER_YIELD 32

static inline void wsi_pause(unsigned round)
{
    if (round % WSI_ROUNDS_PER_YIELD == 0) {
        wsi_thread_yield();
        return;
    }
    for (unsigned i = 0; i < WSI_PAUSES_PER_ROUND; i++) {
        wsi_cpu_relax();
    }
}

/* The context that the worker's jobs run in. */
static inline const wsi_context *wsi_worker_context(const wsi_worker *w)
{
    return (const wsi_context *)(const void *)w->half_head.job.kind;
}

static inline void wsi_worker_set_context(wsi_worker *w,
                                          const wsi_context *context)
{
    w->half_head.job.kind = &context->halves;
}

/* ---- finding a job: find.c ------------------------------------------- */

/* One job, or NULL = none now: from the own deque and the worker's mail; from
 * what came from outside; from the other deques. */
wsi_job *wsi_find_local(wsi_worker *w);
wsi_job *wsi_find_injected(wsi_worker *w);
wsi_job *wsi_find_elsewhere(wsi_worker *w, wsi_steal_mode mode);

/* What came from outside, if it is its turn. */
wsi_job *wsi_find_in_turn(wsi_worker *w);

/* All of that once, politely. */
wsi_job *wsi_find_any(wsi_worker *w);

/* A job for which a worker of another pool waits. */
wsi_job *wsi_find_visitor(wsi_worker *w);
wsi_job *wsi_find_mail(wsi_worker *w);

/* Searches, sleeps and searches again until there is a job (returned), or the
 * latch is set, the deadline has come, or a spare is one thread too many
 * (NULL).  The own deque is empty. */
wsi_job *wsi_search(wsi_worker *w, wsi_latch *latch, uint64_t deadline_ns);

/* Whether one more unrelated job may run on top of what runs here. */
bool wsi_worker_has_room(const wsi_worker *w);

/* ---- waiting: wait.c ------------------------------------------------- */

/* Something that a waiting worker knows about what it waits for. */
typedef struct {
    wsi_latch *latch;
    uint64_t mark;         /* own jobs above it belong to the wait */
    uint64_t scope;        /* id of the scope, 0 for anything else */
    struct ws_scope *host; /* whose inbox belongs to the wait; or NULL */
    uint64_t deadline_ns;  /* UINT64_MAX = none */
} wsi_waiting;

/* For a latch whose subtree is just the jobs above `mark`. */
static inline wsi_waiting wsi_wait_on(wsi_latch *latch, uint64_t mark)
{
    return (wsi_waiting){latch, mark, 0, NULL, UINT64_MAX};
}

/* Works until the latch is set, as the pool's policy says.  False: the deadline
 * came first. */
bool wsi_worker_wait(wsi_worker *w, const wsi_waiting *waiting);

/* Runs a job that is no part of what the jobs below on this stack wait for.
 * Nobody leapfrogs into it, and what it leaves in the deque is taken out and
 * queued elsewhere, where the waits below do not find it. */
void wsi_worker_run_unrelated(wsi_worker *w, wsi_job *job);

/* Opens and closes the innermost mark. */
static inline void wsi_mark_open(wsi_worker *w, wsi_mark *mark, uint64_t at)
{
    mark->at = at;
    mark->outer = w->marks;
    w->marks = mark;
}

static inline void wsi_mark_close(wsi_worker *w, const wsi_mark *mark)
{
    w->marks = mark->outer;
}

/* After a pop that may have gone below a mark. */
static inline void wsi_marks_lower(wsi_worker *w)
{
    uint64_t at = wsi_deque_mark(&w->deque);
    for (wsi_mark *m = w->marks; m != NULL; m = m->outer) {
        m->at = m->at < at ? m->at : at;
    }
}

/* A job of the subtree from another worker, or NULL: subtree.c. */
wsi_job *wsi_leapfrog(wsi_worker *w, const wsi_waiting *waiting, bool patient);

#endif
