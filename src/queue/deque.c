/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * deque.c: the owner's slow paths of the deque, and its buffers.
 *
 * Called by the owner only, except init and destroy.  Chase and Lev (2005)
 * with the orders of Le et al. (2013); deviations: thieves may take only what
 * one packed word names, so that the owner needs no fence; all stores of
 * bottom are release; the newest public item is taken back together with all
 * older ones, which move to fresh indices (I2); retired buffers live until
 * destroy, since a slow thief may still read them.
 *
 * Layer: queue.  See src/README.md, "Deque".
 */
#include "queue/deque.h"

#include "port/platform.h"
#include "queue/range.h"

static wsi_deque_buffer *buffer_new(size_t capacity, wsi_deque_buffer *retired)
{
    size_t size = sizeof(wsi_deque_buffer) + capacity * sizeof(wsi_atomic_ptr);
    wsi_deque_buffer *buffer = wsi_mem_alloc(WSI_CACHE_LINE, size);
    if (buffer != NULL) {
        buffer->retired = retired;
        buffer->mask = capacity - 1;
    }
    return buffer;
}

static void buffer_use(wsi_deque *dq, wsi_deque_buffer *buffer)
{
    dq->slots = buffer->slots;
    dq->mask = buffer->mask;
    /* release: pairs with the acquire of buffer in read_slots() (steal.c) */
    wsi_ptr_store_release(&dq->buffer, buffer);
}

bool wsi_deque_init(wsi_deque *dq, ws_flavor flavor, size_t capacity,
                    uint64_t start)
{
    size_t rounded = WSI_DEQUE_CAPACITY_MIN;
    while (rounded < capacity) {
        rounded *= 2;
    }
    wsi_deque_buffer *buffer = buffer_new(rounded, NULL);
    if (buffer == NULL) {
        return false;
    }
    wsi_u64_init(&dq->bottom, start);
    wsi_u64_init(&dq->range, wsi_range_make(start, 0, 0));
    /* A FIFO deque opens every item at once: each push takes the slow path. */
    wsi_u64_init(&dq->limit, flavor == WS_FIFO ? 0 : start + rounded - 1);
    wsi_u64_init(&dq->claim_ids, 0);
    wsi_ptr_init(&dq->buffer, NULL);
    dq->origin = 0;
    dq->flavor = flavor;
    dq->fences = wsi_fences_mode();
    buffer_use(dq, buffer);
    return true;
}

void wsi_deque_destroy(wsi_deque *dq)
{
    /* relaxed: no other thread is left */
    wsi_deque_buffer *buffer = wsi_ptr_load_relaxed(&dq->buffer);
    while (buffer != NULL) {
        wsi_deque_buffer *retired = buffer->retired;
        wsi_mem_free(buffer);
        buffer = retired;
    }
}

/* Doubles the buffer that holds [top, bottom). */
static bool grow(wsi_deque *dq, uint64_t top, uint64_t bottom)
{
    size_t capacity = (size_t)dq->mask + 1;
    /* relaxed: the owner's own store */
    wsi_deque_buffer *old = wsi_ptr_load_relaxed(&dq->buffer);
    wsi_deque_buffer *wide;
    if (capacity >= WSI_DEQUE_CAPACITY_MAX) {
        return false;
    }
    wide = buffer_new(capacity * 2, old);
    if (wide == NULL) {
        return false;
    }
    for (uint64_t i = top; i != bottom; i++) {
        /* relaxed: own stores, handed over by the release in buffer_use() */
        void *item = wsi_ptr_load_relaxed(&old->slots[i & old->mask]);
        wsi_ptr_store_relaxed(&wide->slots[i & wide->mask], item);
    }
    buffer_use(dq, wide);
    return true;
}

/* The full 64-bit index of the oldest item, public or private. */
static uint64_t oldest(const wsi_deque *dq, uint64_t bottom)
{
    /* acquire: pairs with the release of a thief's CAS (T5, F6): its reads of
     * the slots that we may now overwrite came before */
    uint64_t range = wsi_u64_load_acquire(&dq->range);
    return bottom - (uint64_t)wsi_index_distance(bottom, wsi_range_top(range));
}

/* Makes private items of [end, bottom) public: of a LIFO deque the older half,
 * if nothing is public yet; of a FIFO deque all that the count has room for.
 * A claim stops it: the claim's thief opens the items itself. */
static void expose(wsi_deque *dq, uint64_t bottom)
{
    /* relaxed: checked by the CAS */
    uint64_t range = wsi_u64_load_relaxed(&dq->range);
    while (wsi_range_claim(range) == 0) {
        uint64_t end = wsi_range_end(range);
        uint64_t count = wsi_range_count(range);
        int64_t hidden = wsi_index_distance(bottom, end);
        uint64_t n = hidden > 0 ? (uint64_t)hidden : 0;
        if (dq->flavor == WS_LIFO) {
            n = count == 0 ? (n + 1) / 2 : 0;
        }
        if (n > WSI_RANGE_COUNT_MAX - count) {
            n = WSI_RANGE_COUNT_MAX - count;
        }
        /* P6, release: hands the slots to the acquire of range (T1) */
        if (n == 0 ||
            wsi_u64_cas_acq_rel(&dq->range, &range,
                                wsi_range_make(end + n, count + n, 0))) {
            return;
        }
    }
}

/* After items up to `bottom` were published: sets the limit, and opens items
 * if a thief has asked.  Returns whether one had. */
static bool answer(wsi_deque *dq, uint64_t bottom)
{
    bool asked = false;
    if (dq->flavor == WS_LIFO) {
        /* P5, acquire: pairs with the release in wsi_deque_poison(); who
         * poisons before sleep has announced itself (src/README.md, "Sleep") */
        asked = wsi_u64_exchange_acq_rel(&dq->limit,
                                         oldest(dq, bottom) + dq->mask) == 0;
    }
    if (asked || dq->flavor == WS_FIFO) {
        expose(dq, bottom);
    }
    return asked;
}

/* Restores I4 once the items up to `bottom` are published.  False: the buffer
 * is full and cannot grow. */
static bool make_room(wsi_deque *dq, uint64_t bottom)
{
    uint64_t top = oldest(dq, bottom);
    return bottom - top <= dq->mask || grow(dq, top, bottom);
}

wsi_push wsi_deque_push_slow(wsi_deque *dq, uint64_t index)
{
    if (!make_room(dq, index + 1)) {
        /* Take it back as the newest item.  Thieves take the oldest first: if
         * it is gone, all are, and the push succeeded with room to spare. */
        uint64_t newest;
        if (wsi_deque_pop_begin(dq, &newest, dq->fences) ||
            wsi_deque_pop_slow(dq, newest) != NULL) {
            return WSI_PUSH_FULL;
        }
    }
    return answer(dq, index + 1) ? WSI_PUSH_ANSWERED : WSI_PUSH_OK;
}

/* O8 to O10: takes back all public items, of which `newest` is the last, hands
 * that one out and moves the others, in order, to the private indices from end
 * on, so that no index that was public is used twice (I2).  Ascending order
 * never overwrites what is still to move.  False: a thief came first. */
static bool take_back(wsi_deque *dq, uint64_t *range, uint64_t newest)
{
    uint64_t end = wsi_range_end(*range);
    uint64_t count = wsi_range_count(*range);
    uint64_t older = count - 1;
    /* O8, acq_rel: ends the thieves' right to the items.  While they are on the
     * move the word names them under the owner's claim: thieves say RETRY, and
     * a sleeper's look sees work. */
    if (!wsi_u64_cas_acq_rel(&dq->range, range,
                             wsi_range_make(end + older, older,
                                            older > 0 ? WSI_RANGE_OWNER : 0))) {
        return false;
    }
    for (uint64_t to = newest + 1; to != newest + count; to++) {
        /* relaxed: handed over again by O9 */
        wsi_ptr_store_relaxed(&dq->slots[to & dq->mask],
                              wsi_deque_item(dq, to - count));
    }
    /* O9, release: as P2 */
    wsi_u64_store_release(&dq->bottom, newest + count);
    dq->origin += count;
    if (older > 0) {
        /* O10, acq_rel: nobody else changes a word with the owner's claim; who
         * reads this one reads O9 as well */
        wsi_u64_exchange_acq_rel(&dq->range, wsi_range_make(end, 0, 0));
    }
    return true;
}

void *wsi_deque_pop_slow(wsi_deque *dq, uint64_t index)
{
    /* O4, acquire: pairs with the release CAS of a thief (T5, F6) */
    uint64_t range = wsi_u64_load_acquire(&dq->range);
    for (;;) {
        uint64_t top = wsi_range_top(range);
        int64_t older = wsi_index_distance(index, top);
        if (older < 0) {
            /* O5: nothing is left.  release: every store of bottom is (I3) */
            wsi_u64_store_release(&dq->bottom, index + 1);
            return NULL;
        }
        /* The move may overwrite its slot. */
        void *item = wsi_deque_item(dq, index);
        if (wsi_index_distance(index, wsi_range_end(range)) >= 0) {
            /* O6: private after all; no claim reaches it */
            return item;
        }
        if (wsi_range_claim(range) != 0) {
            /* O7: settle the claim in its thief's place: the truth is that
             * [top, index] exists, less than it claims.  The thief is hungry,
             * so it gets the older half.  release: hands the slots to the
             * acquire of range (T1) */
            uint64_t give = ((uint64_t)older + 1) / 2;
            if (wsi_u64_cas_acq_rel(&dq->range, &range,
                                    wsi_range_make(top + give, give, 0))) {
                return item;
            }
        } else if (take_back(dq, &range, index)) {
            return item;
        }
    }
}

void *wsi_deque_pop_fifo(wsi_deque *dq)
{
    /* relaxed: the owner's own word */
    uint64_t bottom = wsi_u64_load_relaxed(&dq->bottom);
    /* acquire: pairs with the release CAS of a thief (T5, F6) */
    uint64_t range = wsi_u64_load_acquire(&dq->range);
    for (;;) {
        uint64_t top = wsi_range_top(range);
        uint64_t count = wsi_range_count(range);
        if (count == 0 || wsi_range_claim(range) != 0) {
            /* All items are private; a claim is settled on the way. */
            int64_t hidden = wsi_index_distance(bottom, top);
            if (hidden <= 0) {
                return NULL;
            }
            count = (uint64_t)hidden < WSI_RANGE_COUNT_MAX
                        ? (uint64_t)hidden
                        : WSI_RANGE_COUNT_MAX;
        }
        void *item = wsi_deque_item(dq, top);
        /* acq_rel: takes the oldest item, and opens the others of count */
        if (wsi_u64_cas_acq_rel(&dq->range, &range,
                                wsi_range_make(top + count, count - 1, 0))) {
            return item;
        }
    }
}

size_t wsi_deque_reserve(wsi_deque *dq, size_t n)
{
    /* relaxed: the owner's own word */
    uint64_t bottom = wsi_u64_load_relaxed(&dq->bottom);
    uint64_t top = oldest(dq, bottom);
    while (bottom - top + n > dq->mask) {
        if (!grow(dq, top, bottom)) {
            return (size_t)(dq->mask - (bottom - top));
        }
    }
    return n;
}

wsi_push wsi_deque_append(wsi_deque *dq, void *const items[], size_t n)
{
    /* relaxed: the owner's own word */
    uint64_t b = wsi_u64_load_relaxed(&dq->bottom);
    for (size_t i = 0; i < n; i++) {
        /* relaxed: handed over by the store of bottom */
        wsi_ptr_store_relaxed(&dq->slots[(b + i) & dq->mask], items[i]);
    }
    /* release: as P2, for all items at once */
    wsi_u64_store_release(&dq->bottom, b + n);
    wsi_fence_light(dq->fences);
    /* relaxed: as P4 */
    if (n > 0 && b + n - 1 >= wsi_u64_load_relaxed(&dq->limit)) {
        return answer(dq, b + n) ? WSI_PUSH_ANSWERED : WSI_PUSH_OK;
    }
    return WSI_PUSH_OK;
}

wsi_push wsi_deque_deliver(wsi_deque *dest, ws_flavor from, void *items[],
                           size_t n)
{
    /* The source's owner pops `items` forward (FIFO) or backward (LIFO); dest
     * must do the same, and a LIFO dest pops backward what was appended. */
    if (from != dest->flavor) {
        for (size_t i = 0; i + 1 < n - i; i++) {
            void *swap = items[i];
            items[i] = items[n - 1 - i];
            items[n - 1 - i] = swap;
        }
    }
    return wsi_deque_append(dest, items, n);
}
