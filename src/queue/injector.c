/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * injector.c: the segmented FIFO queue behind work from outside.
 *
 * Called by any thread; invariants in injector.h.
 *
 * Layer: queue.  See src/README.md, "Injector".
 */
#include "queue/injector.h"

#include "port/platform.h"

typedef struct segment segment;

struct segment {
    wsi_atomic_ptr next;   /* in the queue, or in the free stack */
    wsi_atomic_u32 n_read; /* items that thieves have finished reading */
    wsi_atomic_ptr items[WSI_INJECTOR_SLOTS];
};

/* Memory is taken for many segments at once. */
typedef struct {
    wsi_atomic_ptr next;
    segment segments[WSI_INJECTOR_CHUNK];
} chunk;

static void segment_push_free(wsi_injector *q, segment *first, segment *last)
{
    /* relaxed: checked by the CAS */
    void *head = wsi_ptr_load_relaxed(&q->free);
    do {
        /* relaxed: handed over by the CAS */
        wsi_ptr_store_relaxed(&last->next, head);
        /* release: pairs with the exchange in segment_new() */
    } while (!wsi_ptr_cas_acq_rel(&q->free, &head, first));
}

/* A list of new, clean segments, or NULL. */
static segment *chunk_new(wsi_injector *q)
{
    chunk *c = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(chunk));
    if (c == NULL) {
        return NULL;
    }
    for (size_t i = 0; i + 1 < WSI_INJECTOR_CHUNK; i++) {
        /* relaxed: not yet shared */
        wsi_ptr_store_relaxed(&c->segments[i].next, &c->segments[i + 1]);
    }
    /* relaxed: checked by the CAS */
    void *head = wsi_ptr_load_relaxed(&q->chunks);
    do {
        /* relaxed: read by destroy only */
        wsi_ptr_store_relaxed(&c->next, head);
        /* acq_rel: nothing rides on it but the list itself */
    } while (!wsi_ptr_cas_acq_rel(&q->chunks, &head, c));
    return &c->segments[0];
}

/* A clean segment, or NULL when memory is out.  Taking the whole stack at once
 * leaves no ABA. */
static segment *segment_new(wsi_injector *q)
{
    segment *found = NULL;
    /* relaxed: only saves the exchange */
    if (wsi_ptr_load_relaxed(&q->free) != NULL) {
        /* acquire: pairs with the CAS in segment_push_free() */
        found = wsi_ptr_exchange_acq_rel(&q->free, NULL);
    }
    if (found == NULL) {
        found = chunk_new(q);
    }
    if (found == NULL) {
        return NULL;
    }
    /* relaxed: the list is ours since the exchange */
    segment *rest = wsi_ptr_load_relaxed(&found->next);
    if (rest != NULL) {
        segment *last = rest;
        segment *after;
        /* relaxed: as above */
        while ((after = wsi_ptr_load_relaxed(&last->next)) != NULL) {
            last = after;
        }
        segment_push_free(q, rest, last);
    }
    /* relaxed: handed over when the segment is linked in */
    wsi_ptr_store_relaxed(&found->next, NULL);
    return found;
}

/* `n` more items of `s` were read; the reader of the last ones recycles it. */
static void segment_read(wsi_injector *q, segment *s, uint32_t n)
{
    /* acq_rel: the last reader comes after all others' reads */
    if (wsi_u32_fetch_add_acq_rel(&s->n_read, n) + n != WSI_INJECTOR_SLOTS) {
        return;
    }
    for (size_t i = 0; i < WSI_INJECTOR_SLOTS; i++) {
        /* relaxed: handed over by the CAS in segment_push_free() */
        wsi_ptr_store_relaxed(&s->items[i], NULL);
    }
    /* relaxed: as above */
    wsi_u32_store_relaxed(&s->n_read, 0);
    segment_push_free(q, s, s);
}

bool wsi_injector_init(wsi_injector *q, uint64_t start)
{
    start &= ~(uint64_t)(WSI_INJECTOR_LAP - 1);
    wsi_ptr_init(&q->free, NULL);
    wsi_ptr_init(&q->chunks, NULL);
    segment *first = segment_new(q);
    if (first == NULL) {
        return false;
    }
    wsi_u64_init(&q->head.index, start);
    wsi_u64_init(&q->tail.index, start);
    wsi_ptr_init(&q->head.segment, first);
    wsi_ptr_init(&q->tail.segment, first);
    return true;
}

void wsi_injector_destroy(wsi_injector *q)
{
    /* relaxed, both: no other thread is left */
    chunk *c = wsi_ptr_load_relaxed(&q->chunks);
    while (c != NULL) {
        chunk *next = wsi_ptr_load_relaxed(&c->next);
        wsi_mem_free(c);
        c = next;
    }
}

bool wsi_injector_push(wsi_injector *q, void *item)
{
    segment *next = NULL;
    for (;;) {
        /* acquire: pairs with the release of tail.index below, so that the
         * segment read next is not older */
        uint64_t tail = wsi_u64_load_acquire(&q->tail.index);
        uint64_t offset = tail % WSI_INJECTOR_LAP;
        if (offset == WSI_INJECTOR_SLOTS) {
            wsi_cpu_relax();
            wsi_thread_yield();
            continue;
        }
        /* acquire: pairs with the release of tail.segment below */
        segment *s = wsi_ptr_load_acquire(&q->tail.segment);
        if (offset + 1 == WSI_INJECTOR_SLOTS && next == NULL) {
            next = segment_new(q);
            if (next == NULL) {
                return false;
            }
        }
        /* acq_rel: claims the slot; success proves that s is its segment (I3)
         */
        if (wsi_u64_cas_acq_rel(&q->tail.index, &tail, tail + 1)) {
            if (offset + 1 == WSI_INJECTOR_SLOTS) {
                /* release, all three: pair with the acquires above and with
                 * move_head(); next before the item (I2) */
                wsi_ptr_store_release(&s->next, next);
                wsi_ptr_store_release(&q->tail.segment, next);
                wsi_u64_store_release(&q->tail.index, tail + 2);
                next = NULL;
            }
            /* release: pairs with the acquire of the item in claim() */
            wsi_ptr_store_release(&s->items[offset], item);
            break;
        }
    }
    if (next != NULL) {
        segment_push_free(q, next, next);
    }
    return true;
}

/* Items between two indices: the steps, less one for each lap's end. */
static uint64_t distance(uint64_t head, uint64_t tail)
{
    uint64_t steps = tail - head;
    return steps - (head % WSI_INJECTOR_LAP + steps) / WSI_INJECTOR_LAP;
}

/* Takes up to `limit` items, at most half of all rounded up where `half` says
 * so, oldest first, from one segment. */
static ws_steal claim(wsi_injector *q, size_t limit, bool half, void *items[],
                      size_t *taken)
{
    /* acquire: pairs with the release of head.index below, so that the segment
     * read next is not older */
    uint64_t head = wsi_u64_load_acquire(&q->head.index);
    uint64_t offset = head % WSI_INJECTOR_LAP;
    /* acquire: pairs with the release of head.segment below */
    segment *s = wsi_ptr_load_acquire(&q->head.segment);
    /* acquire: pairs with the CAS of a pusher; full-fenced by who sleeps */
    uint64_t tail = wsi_u64_load_acquire(&q->tail.index);
    uint64_t all;
    size_t n = 0;
    if (head == tail) {
        return WS_STEAL_EMPTY;
    }
    all = distance(head, tail);
    if (half && limit > (all + 1) / 2) {
        limit = (size_t)((all + 1) / 2);
    }
    if (limit > WSI_INJECTOR_SLOTS - offset) {
        limit = (size_t)(WSI_INJECTOR_SLOTS - offset);
    }
    while (n < limit) {
        /* acquire: pairs with the release of the item in push */
        items[n] = wsi_ptr_load_acquire(&s->items[offset + n]);
        if (items[n] == NULL) {
            break;
        }
        n++;
    }
    /* n == 0: the pusher of the oldest item is about to write it, or a thief is
     * about to move the head on (offset 63).  acq_rel:
     * claims the items; success proves that s is their segment (I3) */
    if (n == 0 || !wsi_u64_cas_acq_rel(&q->head.index, &head, head + n)) {
        return WS_STEAL_RETRY;
    }
    if (offset + n == WSI_INJECTOR_SLOTS) {
        /* acquire: set before the last item, which we have seen (I2) */
        segment *next = wsi_ptr_load_acquire(&s->next);
        /* release, both: pair with the acquires at the top */
        wsi_ptr_store_release(&q->head.segment, next);
        wsi_u64_store_release(&q->head.index, head + n + 1);
    }
    segment_read(q, s, (uint32_t)n);
    *taken = n;
    return WS_STEAL_SUCCESS;
}

ws_steal wsi_injector_steal(wsi_injector *q, void **out)
{
    size_t n;
    void *item;
    ws_steal result = claim(q, 1, false, &item, &n);
    if (result == WS_STEAL_SUCCESS) {
        *out = item;
    }
    return result;
}

ws_steal wsi_injector_steal_batch(wsi_injector *q, wsi_deque *dest,
                                  size_t limit, void **first, bool *answered)
{
    void *items[WS_STEAL_BATCH_MAX];
    size_t n;
    size_t skip = first != NULL ? 1 : 0;
    *answered = false;
    if (limit == 0) {
        return WS_STEAL_EMPTY;
    }
    limit = limit < WS_STEAL_BATCH_MAX ? limit : WS_STEAL_BATCH_MAX;
    size_t room = wsi_deque_reserve(dest, limit) + skip;
    limit = limit < room ? limit : room;
    if (limit == 0) {
        return WS_STEAL_RETRY;
    }
    ws_steal result = claim(q, limit, true, items, &n);
    if (result == WS_STEAL_SUCCESS) {
        if (first != NULL) {
            *first = items[0];
        }
        *answered = wsi_deque_deliver(dest, WS_FIFO, items + skip, n - skip) ==
                    WSI_PUSH_ANSWERED;
    }
    return result;
}

size_t wsi_injector_len(const wsi_injector *q)
{
    /* acquire: the head first: the tail is then not older than it */
    uint64_t head = wsi_u64_load_acquire(&q->head.index);
    uint64_t tail = wsi_u64_load_acquire(&q->tail.index);
    return (size_t)distance(head, tail);
}
