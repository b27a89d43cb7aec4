/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * turn.h: who may run a serial stage now, and which item comes next.
 *
 * A *turn* is a ring of slots, one for each number modulo the capacity.  Number
 * i may run when i - 1 has left; its slot is touched by two threads: the one
 * that *enters* with item i, and the one that *leaves* with i - 1.  Each makes
 * one exchange, and the second of them has the item and the turn:
 *
 *   E1  enter: exchange slot i, put the item in.  It held the mark: go on.
 *       It held NULL: the item is parked, it is not the caller's any more.
 *   L1  leave: exchange slot i + 1, put the mark in.  It held an item: that is
 *       next, and it is the caller's.  It held NULL: the stage is idle.
 *   R1  the second one puts NULL back, for number i + capacity.
 *
 * So there is no lock and no loop, nobody waits, and no hand-over is lost: of
 * two exchanges of a word one comes second and sees the first.
 *
 * Orders.  E1 and L1 are acq_rel and pair with each other: what was done before
 * the first is seen after the second, be that the item's data (E1 first) or all
 * that the stage did with the numbers before (L1 first).  R1 is relaxed because
 * of the following.
 *
 * Claim: R1 of number i happens before E1 and L1 of number i + capacity, if the
 * capacity is not below the number of tokens, and each token passes the stage
 * with one number before it has its next.
 *
 * L1: turns pass from each number to the next one by E1 and L1, so whoever has
 * the turn i + capacity - 1 comes after R1 of i.  E1: numbers are drawn by a
 * read-modify-write (D1, acq_rel), so the draws happen in order.  Look at the
 * draw of i + capacity: before it, i + capacity numbers were drawn, each by one
 * of at most `capacity` tokens, and the one that draws now is done with all of
 * its own.  At most capacity - 1 numbers are the last ones of other tokens; for
 * all others, at least i + 1 of them, some token has passed the stage and then
 * drawn again, before this draw.  One of these numbers is i or greater, and it
 * had its turn after R1 of i.  So R1 of i comes before D1, and that before E1.
 *
 * An ordered stage uses the numbers that were drawn at the source: the same
 * argument, since a token goes round through all stages between two draws.
 *
 * Cost of what we did not take: TBB has a lock and a growing array per stage;
 * a counter of the turn beside the slots would be a second word that all touch.
 *
 * Layer: par.  See src/README.md, "Pipeline".
 */
#ifndef WSI_PAR_TURN_H
#define WSI_PAR_TURN_H

#include "port/atomic.h"

typedef struct {
    wsi_atomic_ptr *slots; /* NULL, an item, or the mark; constant */
    uint64_t mask;         /* capacity - 1, the capacity a power of two */
    wsi_atomic_u64 drawn;  /* numbers drawn; of stages that give numbers */
} wsi_turn;

/* `slots` are the caller's, mask + 1 of them.  Number 0 may enter. */
static inline void wsi_turn_init(wsi_turn *turn, wsi_atomic_ptr *slots,
                                 uint64_t mask)
{
    turn->slots = slots;
    turn->mask = mask;
    wsi_u64_init(&turn->drawn, 0);
    /* The mark is an address that is no item's. */
    wsi_ptr_init(&slots[0], slots);
    for (uint64_t i = 1; i <= mask; i++) {
        wsi_ptr_init(&slots[i], NULL);
    }
}

static inline void wsi_turn_clear(wsi_atomic_ptr *slot)
{
    /* R1 relaxed: before the next E1 and L1 by the claim above */
    wsi_ptr_store_relaxed(slot, NULL);
}

/* The next number, for the token that the caller has. */
static inline uint64_t wsi_turn_draw(wsi_turn *turn)
{
    /* D1 acq_rel: pairs with all other draws, see the claim */
    return wsi_u64_fetch_add_acq_rel(&turn->drawn, 1);
}

/* True: the caller has the turn and must leave.  False: the item is parked. */
static inline bool wsi_turn_enter(wsi_turn *turn, uint64_t number, void *item)
{
    wsi_atomic_ptr *slot = &turn->slots[number & turn->mask];
    /* E1 acq_rel: pairs with L1 of number - 1, whichever comes first */
    if (wsi_ptr_exchange_acq_rel(slot, item) != turn->slots) {
        return false;
    }
    wsi_turn_clear(slot);
    return true;
}

/* Ends the turn of `number`.  The item that has the next turn and is the
 * caller's now; NULL: it has not come yet. */
static inline void *wsi_turn_leave(wsi_turn *turn, uint64_t number)
{
    wsi_atomic_ptr *slot = &turn->slots[(number + 1) & turn->mask];
    /* L1 acq_rel: pairs with E1 of number + 1, whichever comes first */
    void *next = wsi_ptr_exchange_acq_rel(slot, turn->slots);
    if (next != NULL) {
        wsi_turn_clear(slot);
    }
    return next;
}

#endif
