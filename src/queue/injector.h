/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * injector.h: an unbounded FIFO queue for any number of pushers and thieves.
 *
 * A list of segments of 63 slots.  A pusher claims the next slot by a
 * compare-and-swap on the tail index and then fills it; a thief claims filled
 * slots by one on the head index.  The 64th index of a lap means that the
 * thread which claimed the 63rd is just moving on to the next segment.
 *
 * Invariants
 *  I1  A segment whose 63 items were all read goes to a free list and is used
 *      again; its memory is returned by destroy only.  So a slow thread may
 *      read a segment that is no longer its own: its compare-and-swap fails.
 *  I2  next is set before the item of the last slot: who sees that item can
 *      move the head on.
 *  I3  Indices only grow.
 *
 * Nobody waits for another thread, with one exception: a pusher that comes
 * while another one moves the tail to the next segment (three stores, once in
 * 63 pushes) yields until that is done.  Thieves report RETRY instead.
 *
 * Algorithm: the segmented queue of crossbeam's Injector, with a count of
 * finished readers per segment in place of its per-slot flags.
 *
 * Layer: queue.  See src/README.md, "Injector".
 */
#ifndef WSI_QUEUE_INJECTOR_H
#define WSI_QUEUE_INJECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "port/atomic.h"
#include "queue/deque.h"

#define WSI_INJECTOR_LAP 64
#define WSI_INJECTOR_SLOTS (WSI_INJECTOR_LAP - 1)

typedef struct {
    wsi_atomic_u64 index;
    wsi_atomic_ptr segment;
    char pad[WSI_CACHE_LINE - 8 - sizeof(wsi_atomic_ptr)];
} wsi_injector_end;

typedef struct {
    wsi_injector_end head;
    wsi_injector_end tail;
    wsi_atomic_ptr free;   /* stack of unused segments, taken whole */
    wsi_atomic_ptr chunks; /* all memory, for destroy */
} wsi_injector;

/* Segments of one allocation. */
#define WSI_INJECTOR_CHUNK 32

/* `start` is the first index, rounded down to a multiple of the lap: a test
 * hook.  False: out of memory, nothing to undo. */
bool wsi_injector_init(wsi_injector *q, uint64_t start);
/* Frees all segments.  No other thread may use the queue any more. */
void wsi_injector_destroy(wsi_injector *q);

/* Adds `item` (not NULL).  False: out of memory, nothing changed. */
bool wsi_injector_push(wsi_injector *q, void *item);

ws_steal wsi_injector_steal(wsi_injector *q, void **out);

/* As wsi_deque_steal_batch(), from one segment. */
ws_steal wsi_injector_steal_batch(wsi_injector *q, wsi_deque *dest,
                                  size_t limit, void **first, bool *answered);

/* A snapshot. */
size_t wsi_injector_len(const wsi_injector *q);

#endif
