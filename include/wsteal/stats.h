/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * stats.h: what the workers of a pool have done.
 *
 * All counters are totals since the pool was created and never go back.  They
 * are read without stopping anybody: two counters of one snapshot may be a few
 * operations apart while jobs run.
 */
#ifndef WSTEAL_STATS_H
#define WSTEAL_STATS_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** The counters of one worker. */
typedef struct ws_worker_stats {
    /** Jobs that this worker took from a queue and ran: spawned, installed,
     * stolen.  The half of a ws_join() that its own caller takes back costs no
     * queue operation worth counting and is not included. */
    uint64_t jobs;
    /** Jobs of these that came from another worker's deque. */
    uint64_t steals;
    /** Jobs of these that came from the injector. */
    uint64_t injected;
    /** Steals of these that were allowed to force a busy worker's jobs into the
     * open, since it had not answered. */
    uint64_t forced;
    /** Times that this worker slept; a sleep counts when it ends. */
    uint64_t sleeps;
    /** Times that this worker woke another one. */
    uint64_t wakes;
    /** Codes other than 0 that nobody waits for: of detached jobs and of the
     * pool's handlers. */
    uint64_t errors;
    /** Times that this worker lent its seat while it waited. */
    uint64_t lent;
    /** The most jobs that ran on top of each other on this worker, each in a
     * wait of the one below. */
    uint64_t max_depth;
} ws_worker_stats;

/**
 * Reads the counters of worker `index`, below ws_pool_worker_slots().
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: WS_OK; WS_EINVAL (a NULL argument, no such worker): *out unchanged.
 */
WS_API int ws_pool_worker_stats(const ws_pool *pool, unsigned index,
                                ws_worker_stats *out);

WS_END_DECLS

#endif
