/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * latch.h: one-shot flags on which somebody waits.
 *
 *  wsi_latch      a worker waits, and keeps working meanwhile
 *  wsi_lock_latch a foreign thread waits, blocked
 *
 * Set by any one thread, once.  *After the set the latch may be gone*: its
 * waiter returns and reuses the memory.  So a setter copies all that it needs
 * to know before it sets.
 *
 * A worker's latch is one word: two bits of state, the id of the thief that
 * runs the job (0 = none), which a waiter uses to leapfrog, and the index of
 * the worker that waits.  So the exchange that sets it also tells whom to wake.
 *
 *  UNSET -> SLEEPING -> SET     the waiter was told to sleep; setter wakes it
 *  UNSET -> SET                 the waiter was awake
 *  SLEEPING -> UNSET            the waiter woke up for another reason
 *
 * Layer: core.
 */
#ifndef WSI_CORE_LATCH_H
#define WSI_CORE_LATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "port/atomic.h"
#include "port/platform.h"

enum {
    WSI_LATCH_UNSET = 0,
    WSI_LATCH_SLEEPING = 1,
    WSI_LATCH_SET = 2,
    WSI_LATCH_STATE = 3, /* mask */
    WSI_LATCH_THIEF_SHIFT = 2,
    WSI_LATCH_OWNER_SHIFT = 32
};

typedef struct {
    wsi_atomic_u64 word;
} wsi_latch;

/* The word of a new latch on which worker `owner` will wait. */
static inline uint64_t wsi_latch_new(unsigned owner)
{
    return (uint64_t)owner << WSI_LATCH_OWNER_SHIFT | WSI_LATCH_UNSET;
}

static inline void wsi_latch_init(wsi_latch *latch, uint64_t new_word)
{
    wsi_u64_init(&latch->word, new_word);
}

static inline unsigned wsi_latch_owner(uint64_t word)
{
    return (unsigned)(word >> WSI_LATCH_OWNER_SHIFT);
}

static inline bool wsi_latch_is_set(const wsi_latch *latch)
{
    /* acquire: pairs with the release in wsi_latch_set(): the job's results */
    uint64_t word = wsi_u64_load_acquire(&latch->word);
    return (word & WSI_LATCH_STATE) == WSI_LATCH_SET;
}

/* Sets the latch.  True: its waiter, *owner, sleeps and must be woken. */
static inline bool wsi_latch_set(wsi_latch *latch, unsigned *owner)
{
    /* acq_rel: release hands the results to wsi_latch_is_set(); acquire pairs
     * with the waiter's CAS to SLEEPING: its parker is seen as not AWAKE */
    uint64_t old = wsi_u64_exchange_acq_rel(&latch->word, WSI_LATCH_SET);
    *owner = wsi_latch_owner(old);
    return (old & WSI_LATCH_STATE) == WSI_LATCH_SLEEPING;
}

/* The waiter will sleep.  False: the latch is set. */
static inline bool wsi_latch_begin_sleep(wsi_latch *latch)
{
    /* relaxed: checked by the CAS */
    uint64_t old = wsi_u64_load_relaxed(&latch->word);
    while ((old & WSI_LATCH_STATE) != WSI_LATCH_SET) {
        /* release: pairs with the exchange in wsi_latch_set() */
        if (wsi_u64_cas_acq_rel(&latch->word, &old, old | WSI_LATCH_SLEEPING)) {
            return true;
        }
    }
    return false;
}

/* The waiter no longer sleeps. */
static inline void wsi_latch_end_sleep(wsi_latch *latch)
{
    /* relaxed: checked by the CAS */
    uint64_t old = wsi_u64_load_relaxed(&latch->word);
    while ((old & WSI_LATCH_STATE) == WSI_LATCH_SLEEPING) {
        /* acq_rel: a setter that comes later has nobody to wake */
        if (wsi_u64_cas_acq_rel(&latch->word, &old,
                                old & ~(uint64_t)WSI_LATCH_STATE)) {
            return;
        }
    }
}

/* A thief says that it runs the job; called before the job. */
static inline void wsi_latch_mark_thief(wsi_latch *latch, unsigned index)
{
    /* release: pairs with the acquire in wsi_latch_thief() */
    wsi_u64_fetch_or_acq_rel(&latch->word, (uint64_t)(index + 1)
                                               << WSI_LATCH_THIEF_SHIFT);
}

/* Index of the worker that runs the job, or -1 while nobody said so or when
 * the latch is set. */
static inline int wsi_latch_thief(const wsi_latch *latch)
{
    /* acquire: pairs with wsi_latch_mark_thief() */
    uint64_t word = wsi_u64_load_acquire(&latch->word);
    return (int)((word & UINT32_MAX) >> WSI_LATCH_THIEF_SHIFT) - 1;
}

/* ---- for foreign threads --------------------------------------------- */

enum {
    WSI_LOCK_UNSET = 0,
    WSI_LOCK_WAITING = 1,
    WSI_LOCK_SET = 2
};

typedef struct {
    wsi_atomic_u32 word;
} wsi_lock_latch;

static inline void wsi_lock_latch_init(wsi_lock_latch *latch)
{
    wsi_u32_init(&latch->word, WSI_LOCK_UNSET);
}

/* After the exchange the latch may be gone; the wake uses its address only. */
static inline void wsi_lock_latch_set(wsi_lock_latch *latch)
{
    /* release: pairs with the acquire in wsi_lock_latch_wait() */
    if (wsi_u32_exchange_acq_rel(&latch->word, WSI_LOCK_SET) ==
        WSI_LOCK_WAITING) {
        wsi_at_point(WSI_POINT_LATCH_SET, latch);
        wsi_futex_wake(&latch->word, 1);
    }
}

/* False: not set when wsi_clock_ns() reached `deadline_ns` (UINT64_MAX =
 * never). */
static inline bool wsi_lock_latch_wait(wsi_lock_latch *latch,
                                       uint64_t deadline_ns)
{
    uint32_t old = WSI_LOCK_UNSET;
    /* acquire, also on failure: pairs with wsi_lock_latch_set() */
    wsi_u32_cas_acq_rel(&latch->word, &old, WSI_LOCK_WAITING);
    while (old != WSI_LOCK_SET) {
        uint64_t left = wsi_time_left(deadline_ns);
        if (left == 0) {
            return false;
        }
        wsi_futex_wait(&latch->word, WSI_LOCK_WAITING, left);
        /* acquire: as above */
        old = wsi_u32_load_acquire(&latch->word);
    }
    return true;
}

#endif
