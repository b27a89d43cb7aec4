/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * steal.c: the thieves' side of the deque.
 *
 * Called by any thread.  No loop that waits for another thread: each call
 * makes one attempt and says EMPTY, SUCCESS or RETRY.  Slots are read before
 * the compare-and-swap that takes them; by I2 its success proves that they
 * still held the items of the range it replaces.
 *
 * Layer: queue.  See src/README.md, "Deque".
 */
#include "queue/deque.h"

#include "port/platform.h"
#include "queue/range.h"

/* What one attempt may take, and what it took. */
typedef struct {
    size_t limit; /* most items, at least 1 */
    bool half;    /* at most half of all items, rounded up */
    size_t n;
    void *items[WS_STEAL_BATCH_MAX]; /* oldest first */
} taking;

/* How many items an attempt takes when `open` are public and `all` exist. */
static size_t share(const taking *t, uint64_t open, uint64_t all)
{
    uint64_t n = t->half ? (all + 1) / 2 : t->limit;
    if (n > t->limit) {
        n = t->limit;
    }
    return (size_t)(n < open ? n : open);
}

/* T4 and F5: reads t->n slots from `top` on. */
static void read_slots(wsi_deque *dq, uint64_t top, taking *t)
{
    /* acquire: pairs with the release in buffer_use() */
    wsi_deque_buffer *buffer = wsi_ptr_load_acquire(&dq->buffer);
    for (size_t i = 0; i < t->n; i++) {
        /* relaxed: the items were handed over by range (T1) or bottom (F4) */
        t->items[i] =
            wsi_ptr_load_relaxed(&buffer->slots[(top + i) & buffer->mask]);
    }
}

/* Takes an unused claim id, or returns 0 when all are in use. */
static uint64_t claim_id_take(wsi_deque *dq)
{
    /* relaxed: checked by the CAS */
    uint64_t used = wsi_u64_load_relaxed(&dq->claim_ids);
    for (uint64_t bit = 0; bit < WSI_RANGE_CLAIM_IDS; bit++) {
        uint64_t mask = (uint64_t)1 << bit;
        if ((used & mask) == 0) {
            /* acq_rel: after the last user's claim_id_release() */
            used = wsi_u64_fetch_or_acq_rel(&dq->claim_ids, mask);
            if ((used & mask) == 0) {
                return bit + 1;
            }
        }
    }
    return 0;
}

static void claim_id_release(wsi_deque *dq, uint64_t id)
{
    /* acq_rel: the id stands in range no more; the next user sees that */
    wsi_u64_fetch_and_acq_rel(&dq->claim_ids, ~((uint64_t)1 << (id - 1)));
}

/* Forced exposure, steps F1 to F6: nothing is public in `range`.  Opens
 * `hidden` / 2 private items, rounded up, and takes its share at once. */
static ws_steal force(wsi_deque *dq, uint64_t range, uint64_t hidden, taking *t)
{
    ws_steal result = WS_STEAL_RETRY;
    uint64_t top = wsi_range_top(range);
    uint64_t n = wsi_range_count(range); /* of the claim to take over, or 0 */
    uint64_t id = claim_id_take(dq);
    if (id == 0) {
        return WS_STEAL_RETRY;
    }
    if (n == 0) {
        n = (hidden + 1) / 2;
        n = n < WSI_RANGE_COUNT_MAX ? n : WSI_RANGE_COUNT_MAX;
    }
    /* F2, acq_rel: the claim is ours by its id, also if we stall */
    uint64_t claim = wsi_range_make(top + n, n, id);
    if (wsi_u64_cas_acq_rel(&dq->range, &range, claim)) {
        uint64_t settled = wsi_range_make(top, 0, 0);
        int64_t exist = 0;
        wsi_at_point(WSI_POINT_CLAIM_HELD, dq);
        /* F3: against the light fence O2: an owner that pops from now on
         * meets the claim, and what it popped before shows in bottom */
        bool fenced = wsi_fence_heavy(dq->fences);
        if (fenced) {
            /* F4, acquire: pairs with the release of bottom (P2, O1) */
            uint64_t bottom = wsi_u64_load_acquire(&dq->bottom);
            exist = wsi_index_distance(bottom, top);
        }
        t->n = 0;
        if (exist > 0) {
            uint64_t open = (uint64_t)exist < n ? (uint64_t)exist : n;
            t->n = share(t, open, (uint64_t)exist);
            read_slots(dq, top, t);
            settled = wsi_range_make(top + open, open - t->n, 0);
        }
        if (!fenced) {
            /* The polite way is left. */
            wsi_deque_poison(dq);
        }
        /* F6, acq_rel: release keeps the reads of the slots before it and
         * hands the opened items on; it fails when the owner settled (O7) or
         * another thief took over */
        if (wsi_u64_cas_acq_rel(&dq->range, &claim, settled) && fenced) {
            result = t->n > 0 ? WS_STEAL_SUCCESS : WS_STEAL_EMPTY;
        }
    }
    claim_id_release(dq, id);
    return result;
}

/* Takes items of a range with count > 0 and no claim: steps T4 and T5. */
static ws_steal take_public(wsi_deque *dq, uint64_t range, uint64_t all,
                            taking *t)
{
    uint64_t count = wsi_range_count(range);
    t->n = share(t, count, all > count ? all : count);
    read_slots(dq, wsi_range_top(range), t);
    /* T5, acq_rel: release keeps the reads of the slots before it: pairs with
     * the owner's acquire of range before it overwrites them (O4, oldest()) */
    uint64_t left = wsi_range_make(wsi_range_end(range), count - t->n, 0);
    return wsi_u64_cas_acq_rel(&dq->range, &range, left) ? WS_STEAL_SUCCESS
                                                         : WS_STEAL_RETRY;
}

static ws_steal attempt(wsi_deque *dq, wsi_steal_mode mode, taking *t)
{
    /* T1, acquire: pairs with the release CAS that opened the items (P6, O7,
     * F6); read-modify-writes between keep the release sequence */
    uint64_t range = wsi_u64_load_acquire(&dq->range);
    uint64_t count = wsi_range_count(range);
    uint64_t claim = wsi_range_claim(range);
    if (claim != 0) {
        return mode == WSI_STEAL_TAKEOVER && claim != WSI_RANGE_OWNER
                   ? force(dq, range, 0, t)
                   : WS_STEAL_RETRY;
    }
    if (count > 0 && !t->half) {
        return take_public(dq, range, count, t);
    }
    /* relaxed: a poison that waits for its answer; the owner's line of bottom
     * is left alone meanwhile */
    if (mode == WSI_STEAL_POLITE && count == 0 &&
        wsi_u64_load_relaxed(&dq->limit) == 0) {
        return WS_STEAL_RETRY;
    }
    /* T3, acquire: pairs with the release of bottom (P2, O1) */
    uint64_t bottom = wsi_u64_load_acquire(&dq->bottom);
    int64_t all = wsi_index_distance(bottom, wsi_range_top(range));
    if (count > 0) {
        return take_public(dq, range, all > 0 ? (uint64_t)all : 0, t);
    }
    if (all <= 0) {
        return WS_STEAL_EMPTY;
    }
    if (mode == WSI_STEAL_POLITE) {
        wsi_deque_poison(dq);
        return WS_STEAL_RETRY;
    }
    return force(dq, range, (uint64_t)all, t);
}

void wsi_deque_poison(wsi_deque *dq)
{
    /* relaxed: only saves the store; a poison of another thief serves as well
     * (src/README.md, "Sleep", lemma 2) */
    if (wsi_u64_load_relaxed(&dq->limit) != 0) {
        /* release: pairs with the acquire of the exchange P5 */
        wsi_u64_store_release(&dq->limit, 0);
    }
}

ws_steal wsi_deque_steal(wsi_deque *dq, wsi_steal_mode mode, void **out)
{
    taking t = {.limit = 1, .half = false};
    ws_steal result = attempt(dq, mode, &t);
    if (result == WS_STEAL_SUCCESS) {
        *out = t.items[0];
    }
    return result;
}

wsi_deque_view wsi_deque_look(const wsi_deque *dq)
{
    /* acquire: as T1 */
    return wsi_u64_load_acquire(&dq->range);
}

ws_steal wsi_deque_steal_seen(wsi_deque *dq, wsi_deque_view view, void **out)
{
    taking t = {.limit = 1, .half = false};
    ws_steal result = WS_STEAL_EMPTY;
    if (wsi_range_claim(view) != 0) {
        return WS_STEAL_RETRY;
    }
    if (wsi_range_count(view) > 0) {
        result = take_public(dq, view, 0, &t);
    }
    if (result == WS_STEAL_SUCCESS) {
        *out = t.items[0];
    }
    return result;
}

void wsi_deque_force_open(wsi_deque *dq)
{
    taking nothing = {.limit = 0, .half = false};
    if (wsi_range_count(wsi_deque_look(dq)) == 0) {
        attempt(dq, WSI_STEAL_FORCE, &nothing);
    }
}

ws_steal wsi_deque_steal_batch(wsi_deque *dq, wsi_deque *dest, size_t limit,
                               wsi_steal_mode mode, void **first,
                               bool *answered)
{
    taking t = {.half = true};
    size_t room;
    ws_steal result;
    *answered = false;
    if (dq == dest || limit == 0) {
        return WS_STEAL_EMPTY;
    }
    limit = limit < WS_STEAL_BATCH_MAX ? limit : WS_STEAL_BATCH_MAX;
    room = wsi_deque_reserve(dest, limit) + (first != NULL ? 1 : 0);
    t.limit = limit < room ? limit : room;
    if (t.limit == 0) {
        return WS_STEAL_RETRY;
    }
    result = attempt(dq, mode, &t);
    if (result == WS_STEAL_SUCCESS) {
        /* The one that the source's owner would have popped first. */
        size_t skip = 0;
        if (first != NULL && dq->flavor == WS_FIFO) {
            *first = t.items[skip++];
            t.n--;
        } else if (first != NULL) {
            *first = t.items[--t.n];
        }
        *answered = wsi_deque_deliver(dest, dq->flavor, t.items + skip, t.n) ==
                    WSI_PUSH_ANSWERED;
    }
    return result;
}

size_t wsi_deque_len(const wsi_deque *dq)
{
    /* acquire: bottom is read after a range that is not older than it */
    uint64_t range = wsi_u64_load_acquire(&dq->range);
    /* acquire: pairs with the release of bottom */
    uint64_t bottom = wsi_u64_load_acquire(&dq->bottom);
    int64_t hidden = wsi_index_distance(bottom, wsi_range_top(range));
    uint64_t claim = wsi_range_claim(range);
    int64_t open = claim == 0 || claim == WSI_RANGE_OWNER
                       ? (int64_t)wsi_range_count(range)
                       : 0;
    return (size_t)(hidden > open ? hidden : open);
}

bool wsi_deque_has_work(const wsi_deque *dq)
{
    /* acquire: pairs with O10, or bottom could be older than the move */
    uint64_t range = wsi_u64_load_acquire(&dq->range);
    if (wsi_range_count(range) != 0 || wsi_range_claim(range) != 0) {
        return true;
    }
    /* relaxed: after the sleeper's heavy fence (S4) */
    uint64_t bottom = wsi_u64_load_relaxed(&dq->bottom);
    return wsi_index_distance(bottom, wsi_range_end(range)) > 0;
}
