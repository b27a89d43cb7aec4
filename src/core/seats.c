/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * seats.c: lending and parking; contract, steps and proof in seats.h.
 *
 * Lenders are workers in a wait; a spare parks itself.
 *
 * Layer: core.
 */
#include "core/seats.h"

#include "port/platform.h"

enum {
    NONE = 0,
    PARKED = 1,
    TAKEN = 2,
    GONE = 3,
    LEAVING = 4
};

void wsi_seats_init(wsi_seats *s, wsi_seat *spares, unsigned n,
                    bool (*start)(void *pool, unsigned spare, bool again),
                    void *pool)
{
    wsi_u32_init(&s->vacant, 0);
    s->closed = false;
    s->spares = spares;
    s->n = n;
    s->start = start;
    s->pool = pool;
}

/* Adds `by` if the count is on the given side of 0. */
static bool move_vacant(wsi_seats *s, int32_t side, int32_t by)
{
    /* relaxed: checked by the CAS */
    uint32_t old = wsi_u32_load_relaxed(&s->vacant);
    while (side * (int64_t)(int32_t)old > 0) {
        /* acq_rel: one chain with all other changes, see "Why" */
        if (wsi_u32_cas_acq_rel(&s->vacant, &old, old + (uint32_t)by)) {
            return true;
        }
    }
    return false;
}

static bool seat_parked(wsi_seats *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        uint32_t old = PARKED;
        /* relaxed: saves the CAS; K1 comes before L4 in what we have seen */
        if (wsi_u32_load_relaxed(&s->spares[i].state) == PARKED &&
            /* L3, acq_rel: pairs with K1, K3 and the load in wait_parked() */
            wsi_u32_cas_acq_rel(&s->spares[i].state, &old, TAKEN)) {
            wsi_futex_wake(&s->spares[i].state, 1);
            return true;
        }
    }
    return false;
}

/* Starts the first thread that is in `state`; the lock is held.  True: there
 * was one, and *started tells. */
static bool start_first(wsi_seats *s, uint32_t state, bool *started)
{
    for (unsigned i = 0; i < s->n; i++) {
        uint32_t old = state;
        /* acq_rel: acquire pairs with K4; fails when the spare stays after all
         * (K5) */
        if (wsi_u32_cas_acq_rel(&s->spares[i].state, &old, TAKEN)) {
            *started = s->start(s->pool, i, state == GONE);
            if (!*started) {
                /* relaxed: under the lock */
                wsi_u32_store_relaxed(&s->spares[i].state, NONE);
            }
            return true;
        }
    }
    return false;
}

static bool seat_new(wsi_seats *s)
{
    bool started = false;
    wsi_lock_acquire(&s->lock);
    /* A thread that has gone must be waited for. */
    if (!s->closed && !start_first(s, NONE, &started)) {
        start_first(s, GONE, &started);
    }
    wsi_lock_release(&s->lock);
    return started;
}

/* Whether there is a spare that L3 could have: it may have parked, or parked
 * and gone, since L3 looked. */
static bool any_to_be_had(wsi_seats *s)
{
    bool parked = false;
    bool gone = false;
    for (unsigned i = 0; i < s->n; i++) {
        /* relaxed: ordered by L4 */
        uint32_t state = wsi_u32_load_relaxed(&s->spares[i].state);
        parked = parked || state == PARKED;
        gone = gone || state == GONE;
    }
    if (gone) {
        wsi_lock_acquire(&s->lock);
        gone = !s->closed;
        wsi_lock_release(&s->lock);
    }
    return parked || gone;
}

bool wsi_seats_lend(wsi_seats *s)
{
    do {
        /* L1 and L4, acq_rel: as in move_vacant() */
        wsi_u32_fetch_add_acq_rel(&s->vacant, 1);
        if (!move_vacant(s, 1, -1)) { /* L2 */
            return true;
        }
        if (seat_parked(s) || seat_new(s)) { /* L3 */
            return true;
        }
        /* L4 */
        wsi_u32_fetch_add_acq_rel(&s->vacant, 1);
    } while (any_to_be_had(s) && move_vacant(s, 1, -1));
    return false;
}

void wsi_seats_back(wsi_seats *s)
{
    /* acq_rel: as in move_vacant() */
    wsi_u32_fetch_sub_acq_rel(&s->vacant, 1);
}

/* Returns when the seat is taken, the pool ends, or patience does. */
static wsi_park wait_parked(wsi_seat *seat, uint64_t patience_ns,
                            bool (*ended)(void *arg), void *arg)
{
    uint64_t begin = wsi_clock_ns();
    /* acquire: pairs with L3 */
    while (wsi_u32_load_acquire(&seat->state) == PARKED && !ended(arg)) {
        uint64_t left = UINT64_MAX;
        if (patience_ns != UINT64_MAX) {
            uint64_t waited = wsi_clock_ns() - begin;
            uint32_t old = PARKED;
            /* acq_rel: fails when a lender was faster */
            if (waited >= patience_ns &&
                wsi_u32_cas_acq_rel(&seat->state, &old, LEAVING)) {
                return WSI_PARK_GONE;
            }
            left = waited < patience_ns ? patience_ns - waited : 0;
        }
        wsi_futex_wait(&seat->state, PARKED, left);
    }
    return WSI_PARK_TAKEN;
}

wsi_park wsi_seats_park(wsi_seats *s, unsigned i, uint64_t patience_ns,
                        bool (*ended)(void *arg), void *arg)
{
    wsi_seat *seat = &s->spares[i];
    uint32_t old = PARKED;
    /* K1, release: before K2, for a lender's L4 */
    wsi_u32_store_release(&seat->state, PARKED);
    wsi_at_point(WSI_POINT_PARK, s);
    /* K2 */
    if (move_vacant(s, -1, 1)) {
        /* full: against wsi_seats_end(): it sees PARKED, or we see the end */
        wsi_fence_full();
        return wait_parked(seat, patience_ns, ended, arg);
    }
    /* K3, acq_rel: pairs with L3 */
    if (!wsi_u32_cas_acq_rel(&seat->state, &old, TAKEN)) {
        wsi_seats_lend(s);
    }
    return WSI_PARK_TAKEN;
}

bool wsi_seats_leave(wsi_seats *s, unsigned i)
{
    uint32_t old = GONE;
    /* K4, release: what the thread did; pairs with the CAS in start_first() */
    wsi_u32_store_release(&s->spares[i].state, GONE);
    /* K5, acq_rel: in one chain with L4: it sees K4, or we see it */
    if ((int32_t)wsi_u32_fetch_add_acq_rel(&s->vacant, 0) <= 0) {
        return true;
    }
    /* acq_rel: pairs with the CAS in start_first() */
    if (!wsi_u32_cas_acq_rel(&s->spares[i].state, &old, TAKEN)) {
        return true;
    }
    /* If somebody was faster, this is one thread too many, which will park. */
    if (!move_vacant(s, 1, -1)) {
        wsi_u32_fetch_sub_acq_rel(&s->vacant, 1);
    }
    return false;
}

void wsi_seats_end(wsi_seats *s)
{
    /* full: see wsi_seats_park() */
    wsi_fence_full();
    while (seat_parked(s)) {
    }
}

void wsi_seats_close(wsi_seats *s)
{
    wsi_lock_acquire(&s->lock);
    s->closed = true;
    wsi_lock_release(&s->lock);
}

bool wsi_seats_has_thread(const wsi_seats *s, unsigned i)
{
    /* relaxed: only a start would change it to or from NONE */
    return wsi_u32_load_relaxed(&s->spares[i].state) != NONE;
}
