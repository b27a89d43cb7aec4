/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * deque.h: the work-stealing deque with one public range.
 *
 * One owner pushes and pops at the bottom; any thread steals at the top.  The
 * owner's fast path is plain stores and loads: no fence, no read-modify-write.
 *
 * Invariants (indices are 40-bit, compared by distance):
 *  I1  range = {end, count, claim}: items [end - count, end) are public, any
 *      thread may take the oldest k of them by one compare-and-swap that
 *      lowers count and keeps end; items [end, bottom) are private.
 *  I2  An index that was public is consumed by top = end - count passing it,
 *      never by end going back: equal words mean equal items (no ABA).
 *  I3  bottom is written by the owner only, always with release.
 *  I4  limit == 0 means that a thief asks for work ("poison"); else the owner
 *      may push while bottom <= limit.  Before each push one slot is free.
 *  I5  While claim != 0 no item can be taken: the thief with that id is about
 *      to open [end - count, end), of which the part below the true bottom
 *      exists; the owner or another thief may replace the claim at any time.
 *      Or, with the owner's claim, the owner is moving these items.
 *
 * The table of orders, the step lists and the proof: src/README.md, "Deque".
 *
 * Layer: queue.
 */
#ifndef WSI_QUEUE_DEQUE_H
#define WSI_QUEUE_DEQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/atomic.h"
#include "port/fence.h"
#include <wsteal/deque.h>

#define WSI_DEQUE_CAPACITY_MIN 2
/* As the public headers say; a quarter of a 32-bit address space. */
#define WSI_DEQUE_CAPACITY_MAX ((size_t)1 << (sizeof(size_t) > 4 ? 30 : 28))

typedef struct wsi_deque_buffer {
    struct wsi_deque_buffer *retired; /* the one before; owner only */
    uint64_t mask;                    /* capacity - 1; constant */
    wsi_atomic_ptr slots[];
} wsi_deque_buffer;

typedef struct {
    /* The owner's line.  Thieves read bottom on their rare paths only. */
    wsi_atomic_u64 bottom;
    wsi_atomic_ptr *slots; /* of the current buffer; owner only */
    uint64_t mask;         /* its capacity - 1; owner only */
    uint64_t origin;       /* how far take-backs moved items; owner only */
    wsi_fences fences;     /* constant */
    ws_flavor flavor;      /* constant */
    char pad0[WSI_CACHE_LINE - 5 * 8];

    /* What owner and thieves meet on; the owner only reads it while nobody
     * steals. */
    wsi_atomic_u64 range;
    wsi_atomic_u64 limit;
    char pad1[WSI_CACHE_LINE - 2 * 8];

    /* Rarely written. */
    wsi_atomic_ptr buffer;    /* wsi_deque_buffer *, for thieves */
    wsi_atomic_u64 claim_ids; /* bit i set: claim id i + 1 is in use */
} wsi_deque;

/* What a push has to tell its caller. */
typedef enum {
    WSI_PUSH_OK = 0,
    /* Pushed, and the poison was met and cleared: the caller must now tell the
     * sleep module that there is work. */
    WSI_PUSH_ANSWERED,
    /* Not pushed: the buffer is full and cannot grow.  Nothing changed. */
    WSI_PUSH_FULL
} wsi_push;

/* How far a thief may go when it finds only private items. */
typedef enum {
    /* poison the limit and report RETRY; RETRY also while a poison stands, so
     * EMPTY can be missed: for searches that are bounded by time */
    WSI_STEAL_POLITE = 0,
    WSI_STEAL_FORCE,   /* force exposure, but respect another's claim */
    WSI_STEAL_TAKEOVER /* force exposure, also over another's claim */
} wsi_steal_mode;

/* `start` is the first index: a test hook for wrap-around.  `capacity` is
 * rounded up to a power of two.  False: out of memory, nothing to undo. */
bool wsi_deque_init(wsi_deque *dq, ws_flavor flavor, size_t capacity,
                    uint64_t start);
/* Frees the buffers.  No other thread may use the deque any more. */
void wsi_deque_destroy(wsi_deque *dq);

/* ---- owner ----------------------------------------------------------- */

wsi_push wsi_deque_push_slow(wsi_deque *dq, uint64_t index);
void *wsi_deque_pop_slow(wsi_deque *dq, uint64_t index);
/* Pops the oldest item of a deque of either flavor. */
void *wsi_deque_pop_fifo(wsi_deque *dq);

/* Makes room for `n` pushes in a row; returns how many fit (0 to n). */
size_t wsi_deque_reserve(wsi_deque *dq, size_t n);
/* Pushes `n` reserved items in the order given. */
wsi_push wsi_deque_append(wsi_deque *dq, void *const items[], size_t n);

/* How many items the owner has pushed and not popped, stolen ones included: a
 * mark to which a frame can pop back.  Take-backs do not move it. */
static inline uint64_t wsi_deque_mark(const wsi_deque *dq)
{
    /* relaxed: the owner's own word */
    return wsi_u64_load_relaxed(&dq->bottom) - dq->origin;
}

/* Pushes `item` (not NULL): steps P1 to P4 of src/README.md.  `fences` is the
 * deque's own mode: a constant where the caller knows it.  True: that was all.
 * False: finish with wsi_deque_push_slow(). */
static inline bool wsi_deque_push_begin(wsi_deque *dq, void *item,
                                        uint64_t *index, wsi_fences fences)
{
    /* relaxed: the owner's own word */
    uint64_t b = wsi_u64_load_relaxed(&dq->bottom);
    *index = b;
    /* P1, relaxed: handed over by P2; I4 says that the slot is free */
    wsi_ptr_store_relaxed(&dq->slots[b & dq->mask], item);
    /* P2, release: pairs with the acquire of bottom in a thief (T3, F4) */
    wsi_u64_store_release(&dq->bottom, b + 1);
    /* P3: against the heavy fence of a sleeper: it sees P2 or we see S3 */
    wsi_fence_light(fences);
    /* P4, relaxed: a poison is read again by the exchange in the slow path */
    return WSI_LIKELY(b < wsi_u64_load_relaxed(&dq->limit));
}

static inline wsi_push wsi_deque_push(wsi_deque *dq, void *item)
{
    uint64_t index;
    return wsi_deque_push_begin(dq, item, &index, dq->fences)
               ? WSI_PUSH_OK
               : wsi_deque_push_slow(dq, index);
}

/* Begins to pop the newest item (of either flavor).  Steps O1 to O3.  True: it
 * is private and *index names it.  False: finish with wsi_deque_pop_slow(). */
static inline bool wsi_deque_pop_begin(wsi_deque *dq, uint64_t *index,
                                       wsi_fences fences)
{
    /* relaxed: the owner's own word */
    uint64_t b = wsi_u64_load_relaxed(&dq->bottom) - 1;
    *index = b;
    /* O1, release: every store of bottom is one, or a thief that reads this
     * value would lose the hand-over of the slots below (I3) */
    wsi_u64_store_release(&dq->bottom, b);
    /* O2: against the heavy fence F3: the thief sees O1 or we see its claim */
    wsi_fence_light(fences);
    /* O3, relaxed: a stale value errs to one side only, since steals keep
     * end; what we take is private, our own stores */
    uint64_t range = wsi_u64_load_relaxed(&dq->range);
    /* index > end, or index == end with nothing public and no claim */
    return WSI_LIKELY((int64_t)((b << 24) - range) >= 0);
}

/* The item that wsi_deque_pop_begin() named. */
static inline void *wsi_deque_item(wsi_deque *dq, uint64_t index)
{
    /* relaxed: the owner's own store */
    return wsi_ptr_load_relaxed(&dq->slots[index & dq->mask]);
}

/* A thief has asked, and nothing was pushed since. */
static inline bool wsi_deque_is_poisoned(const wsi_deque *dq)
{
    /* relaxed: a hint; the next push meets the poison itself */
    return wsi_u64_load_relaxed(&dq->limit) == 0;
}

/* Pops the newest (LIFO) or the oldest item (FIFO), or returns NULL. */
static inline void *wsi_deque_pop(wsi_deque *dq)
{
    uint64_t index;
    if (dq->flavor == WS_FIFO) {
        return wsi_deque_pop_fifo(dq);
    }
    return wsi_deque_pop_begin(dq, &index, dq->fences)
               ? wsi_deque_item(dq, index)
               : wsi_deque_pop_slow(dq, index);
}

/* ---- any thread ------------------------------------------------------ */

/* The range word at one moment, for wsi_deque_steal_seen(). */
typedef uint64_t wsi_deque_view;

/* A snapshot; 0 to 2^39. */
size_t wsi_deque_len(const wsi_deque *dq);

/* Whether a thief could find anything: public or private items, or a claim.
 * For the last look before sleep. */
bool wsi_deque_has_work(const wsi_deque *dq);

/* Asks the owner for work: its next push opens items and is ANSWERED. */
void wsi_deque_poison(wsi_deque *dq);

/* Takes the oldest item. */
ws_steal wsi_deque_steal(wsi_deque *dq, wsi_steal_mode mode, void **out);

/* Takes the oldest item only if nothing was taken since `view` was read: the
 * caller may check between the two what the items belong to. */
wsi_deque_view wsi_deque_look(const wsi_deque *dq);
ws_steal wsi_deque_steal_seen(wsi_deque *dq, wsi_deque_view view, void **out);

/* Forces exposure if only private items are there, and takes nothing. */
void wsi_deque_force_open(wsi_deque *dq);

/* Takes min(half rounded up, limit, WS_STEAL_BATCH_MAX) of the oldest items
 * into `dest` (owned by the caller), ordered as ws_stealer_steal_batch() says;
 * with `first` not NULL the first one goes there instead.  *answered: as
 * WSI_PUSH_ANSWERED, for dest. */
ws_steal wsi_deque_steal_batch(wsi_deque *dq, wsi_deque *dest, size_t limit,
                               wsi_steal_mode mode, void **first,
                               bool *answered);

/* Moves items that were taken, oldest first, from a queue of flavor `from`
 * into `dest`, which has room for them. */
wsi_push wsi_deque_deliver(wsi_deque *dest, ws_flavor from, void *items[],
                           size_t n);

#endif
