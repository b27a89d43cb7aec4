/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sleep.c: announcing, blocking and waking; contract in sleep.h.
 *
 * An event count with asymmetric fences: a worker that wants to sleep first
 * announces itself, then asks every owner for a sign, fences heavily and looks
 * once more; who publishes work either shows it to that look or meets the sign
 * and finds the announcement.  Step names (S1 ... S8, P5 ... P8) as in
 * src/README.md, "Sleep".
 *
 * Layer: core.
 */
#include "core/sleep.h"

#include "port/platform.h"

/* The packed word: events count at the top, so that their overflow falls out.
 */
#define SLEEPING_ONE ((uint64_t)1)
#define SEARCHING_ONE ((uint64_t)1 << 16)
#define EVENT_ONE ((uint64_t)1 << 32)
#define COUNT_MASK ((uint64_t)0xffff)
#define AWAKEN (SEARCHING_ONE - SLEEPING_ONE)

/* Without a heavy fence nobody may sleep for good. */
#define NAP_NS ((uint64_t)1000 * 1000)

enum {
    AWAKE = 0,
    SLEEPY = 1,
    SLEEPING = 2,
    ON_LATCH = 3
};

static uint64_t sleeping(uint64_t word)
{
    return word & COUNT_MASK;
}

static uint64_t searching(uint64_t word)
{
    return word >> 16 & COUNT_MASK;
}

static uint64_t events(uint64_t word)
{
    return word >> 32;
}

void wsi_sleep_init(wsi_sleep *s, wsi_parker *parkers, unsigned n,
                    uint32_t first_event)
{
    wsi_u64_init(&s->word, first_event * EVENT_ONE);
    s->parkers = parkers;
    s->n = n;
    s->fences = wsi_fences_mode();
}

bool wsi_sleep_any_searching(const wsi_sleep *s)
{
    /* relaxed: a hint */
    return searching(wsi_u64_load_relaxed(&s->word)) != 0;
}

void wsi_sleep_begin_search(wsi_sleep *s)
{
    /* acq_rel: all changes of the word are, so that they form one chain */
    wsi_u64_fetch_add_acq_rel(&s->word, SEARCHING_ONE);
}

/* Turns a parker AWAKE.  The counts are left to the sleeper: a waker that
 * stalled between the two would let it search uncounted.  True: it was sleepy
 * or asleep, and this call woke it. */
static bool awaken(wsi_sleep *s, unsigned index)
{
    wsi_atomic_u32 *state = &s->parkers[index].state;
    /* acq_rel: pairs with the owner's accesses of the state; of two wakers one
     * succeeds */
    uint32_t old = wsi_u32_exchange_acq_rel(state, AWAKE);
    if (old == SLEEPING || old == ON_LATCH) {
        wsi_futex_wake(state, 1);
    }
    return old == SLEEPY || old == SLEEPING;
}

/* S6 and S7: blocks until woken, at most `timeout_ns`. */
static bool commit(wsi_sleep *s, unsigned self, uint64_t timeout_ns)
{
    wsi_atomic_u32 *state = &s->parkers[self].state;
    uint32_t old = SLEEPY;
    wsi_at_point(WSI_POINT_SLEEP_COMMIT, s);
    /* S6, acq_rel: fails when a waker came first; acquire pairs with it */
    if (!wsi_u32_cas_acq_rel(state, &old, SLEEPING)) {
        return false;
    }
    do {
        wsi_futex_wait(state, SLEEPING, timeout_ns);
        /* S7, acquire: pairs with the exchange in awaken() */
    } while (wsi_u32_load_acquire(state) == SLEEPING &&
             timeout_ns == UINT64_MAX);
    return true;
}

bool wsi_sleep_block(wsi_sleep *s, unsigned self, wsi_latch *latch,
                     const wsi_sleep_ops *ops, uint64_t timeout_ns)
{
    bool blocked = false;
    /* S1, relaxed: handed over by S2: who counts us, finds us (P8) */
    wsi_u32_store_relaxed(&s->parkers[self].state, SLEEPY);
    /* S2, acq_rel: idle -> sleepy; every announcer from now on counts us, and
     * every job announced before is seen by S5 */
    uint64_t seen = wsi_u64_fetch_sub_acq_rel(&s->word, AWAKEN);
    if (wsi_latch_begin_sleep(latch)) {
        ops->ask(ops->pool);                      /* S3 */
        bool fenced = wsi_fence_heavy(s->fences); /* S4 */
        bool found = ops->look(ops->pool, self);  /* S5 */
        /* relaxed: only saves a sleep; whoever moved it wakes us if need be */
        bool moved = events(wsi_u64_load_relaxed(&s->word)) != events(seen);
        if (!fenced) {
            /* What the look found may be out of reach: nap in any case. */
            blocked = commit(s, self, NAP_NS);
        } else if (!found && !moved) {
            blocked = commit(s, self, timeout_ns);
        }
        wsi_latch_end_sleep(latch);
    }
    /* release: nobody wakes us from here on; a waker's exchange may come
     * between, and changes nothing */
    wsi_u32_store_release(&s->parkers[self].state, AWAKE);
    /* S8, acq_rel: back to idle; whoever announced before is seen by the
     * search that follows, who announces later counts on us */
    wsi_u64_fetch_add_acq_rel(&s->word, AWAKEN);
    return blocked;
}

void wsi_sleep_block_on_latch(wsi_sleep *s, unsigned self, wsi_latch *latch,
                              const wsi_atomic_u32 *called, uint64_t timeout_ns)
{
    wsi_atomic_u32 *state = &s->parkers[self].state;
    /* release: before the latch's CAS, for its setter */
    wsi_u32_store_release(state, ON_LATCH);
    if (wsi_latch_begin_sleep(latch)) {
        /* full: against the fence in wsi_sleep_wake(): its caller sees
         * ON_LATCH or we see *called */
        wsi_fence_full();
        /* acquire, state: pairs with the exchange in awaken(); relaxed, called:
         * ordered by the fence */
        while (wsi_u32_load_acquire(state) == ON_LATCH &&
               wsi_u32_load_relaxed(called) == 0) {
            wsi_futex_wait(state, ON_LATCH, timeout_ns);
            if (timeout_ns != UINT64_MAX) {
                break;
            }
        }
        wsi_latch_end_sleep(latch);
    }
    /* relaxed: nobody counts on the state of a worker that is awake */
    wsi_u32_store_relaxed(state, AWAKE);
}

unsigned wsi_sleep_wake_one(wsi_sleep *s, unsigned from)
{
    for (unsigned i = 1; i <= s->n; i++) {
        unsigned index = (from + i) % s->n;
        /* P8, relaxed: S1 of all whom P6 counts is visible; awaken() checks */
        uint32_t state = wsi_u32_load_relaxed(&s->parkers[index].state);
        if ((state == SLEEPY || state == SLEEPING) && awaken(s, index)) {
            return 1;
        }
    }
    return 0;
}

unsigned wsi_sleep_announce_jobs(wsi_sleep *s, unsigned from)
{
    /* P6, acq_rel: a read-modify-write, so that it stands in one order with
     * every S2: a sleeper before it is counted in what we get, a sleeper after
     * it sees our jobs */
    uint64_t old = wsi_u64_fetch_add_acq_rel(&s->word, EVENT_ONE);
    /* P7: a searcher will look again before it can sleep */
    if (sleeping(old) == 0 || searching(old) > 0) {
        return 0;
    }
    return wsi_sleep_wake_one(s, from);
}

void wsi_sleep_wake(wsi_sleep *s, unsigned index)
{
    /* full: see wsi_sleep_block_on_latch() */
    wsi_fence_full();
    awaken(s, index);
}

unsigned wsi_sleep_end_search(wsi_sleep *s, unsigned self,
                              const wsi_sleep_ops *ops)
{
    /* E1, acq_rel: acquire pairs with an announcer (P6) that counted on us: the
     * look below sees its jobs */
    uint64_t old = wsi_u64_fetch_sub_acq_rel(&s->word, SEARCHING_ONE);
    if (searching(old) != 1 || sleeping(old) == 0) {
        return 0;
    }
    ops->ask(ops->pool);                         /* E2, as S3 */
    bool fenced = wsi_fence_heavy(s->fences);    /* E3, as S4 */
    if (fenced && !ops->look(ops->pool, self)) { /* E4, as S5 */
        return 0;
    }
    return wsi_sleep_wake_one(s, self); /* E5 */
}

void wsi_sleep_set_latch(wsi_sleep *s, wsi_latch *latch)
{
    unsigned owner;
    if (wsi_latch_set(latch, &owner)) {
        wsi_at_point(WSI_POINT_LATCH_SET, latch);
        awaken(s, owner);
    }
}
