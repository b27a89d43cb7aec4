/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * worker.h: what a worker thread does: find jobs, run them, wait.
 *
 * All functions are called by the worker on itself.
 *
 * Order of the search: own deque, other deques (random start, then round the
 * ring), injector; every fairness_interval-th time the injector first.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_WORKER_H
#define WSI_CORE_WORKER_H

#include <stdbool.h>

#include "core/registry.h"

/* The worker that this thread is, or NULL. */
extern WSI_THREAD_LOCAL wsi_worker *wsi_current_worker;
/* The same, but NULL where the owner's side of a deque needs real fences: one
 * test tells ws_join() both. */
extern WSI_THREAD_LOCAL wsi_worker *wsi_unfenced_worker;

/* A thread's whole life as a worker. */
void wsi_worker_main(wsi_worker *w);

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

/* Adds to one of the worker's own counters. */
static inline void wsi_count(wsi_atomic_u64 *counter, uint64_t n)
{
    /* relaxed: one writer; a reader wants the number only */
    wsi_u64_store_relaxed(counter, wsi_u64_load_relaxed(counter) + n);
}

/* Something that a waiting worker knows about what it waits for. */
typedef struct {
    wsi_latch *latch;
    uint64_t mark;     /* own jobs above it belong to the wait */
    const void *scope; /* tag of the jobs of a scope, NULL for a join */
    const wsi_atomic_u32 *injected; /* > 0: some are in the injector; or NULL */
} wsi_waiting;

/* Works until the latch is set: any job of the pool. */
void wsi_worker_wait_any(wsi_worker *w, wsi_latch *latch);

/* The worker will run a job from elsewhere on top of one that somebody may wait
 * for: until its deque is seen empty below all jobs, nobody leapfrogs into it.
 */
void wsi_worker_mix(wsi_worker *w);

/* Works until the latch is set: only jobs of the subtree waited for. */
void wsi_worker_wait_subtree(wsi_worker *w, const wsi_waiting *waiting);

/* One of the two, as the pool's policy says. */
void wsi_worker_wait(wsi_worker *w, const wsi_waiting *waiting);

/* One job from the injector, or from the other deques; NULL = none now. */
wsi_job *wsi_worker_take_injected(wsi_worker *w);
wsi_job *wsi_worker_steal(wsi_worker *w, wsi_steal_mode mode);

#endif
