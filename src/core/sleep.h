/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sleep.h: who is asleep, and whom to wake.
 *
 * Workers of one pool call it on themselves; workers, thieves and foreign
 * threads call it to announce work or to wake a worker whose latch they set.
 *
 *   active     runs a job
 *   idle       searches for one; counted in `searching`
 *   sleepy     has announced that it will sleep, is looking once more; counted
 *              in `sleeping`, and can already be woken
 *   sleeping   blocked in the port's futex; counted in `sleeping`
 *
 * Invariants
 *  I1  One word {events | searching | sleeping} is the only truth about the
 *      counts, and a worker moves only itself.  A worker counted in `sleeping`
 *      has a parker that is not AWAKE, or was woken and will search.
 *  I2  While somebody sleeps and nobody searches, every deque is poisoned, or
 *      its owner is about to announce: the next push wakes a sleeper.
 *  I3  An announcement wakes at most one worker.
 *
 * Step lists and proof: src/README.md, "Sleep".
 *
 * Layer: core.
 */
#ifndef WSI_CORE_SLEEP_H
#define WSI_CORE_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/latch.h"
#include "port/atomic.h"
#include "port/fence.h"

typedef struct {
    wsi_atomic_u32 state;
    char pad[WSI_CACHE_LINE - sizeof(wsi_atomic_u32)];
} wsi_parker;

typedef struct {
    wsi_atomic_u64 word;
    char pad[WSI_CACHE_LINE - sizeof(wsi_atomic_u64)];
    wsi_parker *parkers; /* one per worker; constant */
    unsigned n;          /* constant */
    wsi_fences fences;   /* constant */
} wsi_sleep;

/* What a worker does between announcing and blocking; `pool` is opaque here. */
typedef struct {
    /* Poisons every deque that a job could be pushed into. */
    void (*ask)(void *pool);
    /* Looks at every queue from which worker `self` can get a job; true when
     * there is one. */
    bool (*look)(void *pool, unsigned self);
    void *pool;
} wsi_sleep_ops;

/* `parkers` holds n zeroed elements.  `first_event` is the first value of
 * the event counter: a test hook for its wrap-around. */
void wsi_sleep_init(wsi_sleep *s, wsi_parker *parkers, unsigned n,
                    uint32_t first_event);

/* ---- a worker about itself ------------------------------------------- */

/* active -> idle. */
void wsi_sleep_begin_search(wsi_sleep *s);

/* idle -> active.  The last searcher hands its watch over: pushers may have
 * relied on it, so it asks, fences and looks as a sleeper does, and wakes the
 * next worker when there is more work.  Returns the number woken. */
unsigned wsi_sleep_end_search(wsi_sleep *s, unsigned self,
                              const wsi_sleep_ops *ops);

/* idle -> sleepy -> sleeping -> idle, or earlier back to idle when the look
 * finds work, the latch is set or an event comes; after `timeout_ns` at the
 * latest, UINT64_MAX = never.  Returns true when it really blocked. */
bool wsi_sleep_block(wsi_sleep *s, unsigned self, wsi_latch *latch,
                     const wsi_sleep_ops *ops, uint64_t timeout_ns);

/* Blocks on the latch alone: not counted, not woken by jobs, but by
 * wsi_sleep_wake(), which may come early, and by the time.  Does not block
 * while *called is not 0: who raises it must wake the worker afterwards. */
void wsi_sleep_block_on_latch(wsi_sleep *s, unsigned self, wsi_latch *latch,
                              const wsi_atomic_u32 *called,
                              uint64_t timeout_ns);

/* ---- any thread ------------------------------------------------------ */

/* Whether a worker searches: a hint. */
bool wsi_sleep_any_searching(const wsi_sleep *s);

/* Jobs were made visible by a push that met the poison, or were injected and
 * fenced.  Wakes one worker if nobody searches.  Returns the number woken. */
unsigned wsi_sleep_announce_jobs(wsi_sleep *s, unsigned from);

/* Wakes one sleeping worker, if there is one; the ring scan starts after
 * `from`.  Returns the number woken. */
unsigned wsi_sleep_wake_one(wsi_sleep *s, unsigned from);

/* Wakes worker `index` if it sleeps, for whatever reason.  Begins with a full
 * fence: what the caller stored before is seen by the sleeper's last check. */
void wsi_sleep_wake(wsi_sleep *s, unsigned index);

/* Sets `latch`, on which a worker of `s` may wait, and wakes the worker if it
 * sleeps on it.  After the set the latch may be gone: `s` must outlive the call
 * by other means. */
void wsi_sleep_set_latch(wsi_sleep *s, wsi_latch *latch);

#endif
