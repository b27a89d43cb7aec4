/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * pipeline.h: a stream of items through stages, with a bound on how many are
 * under way: read, work, write in order.
 *
 * The first stage is the *source*: each call makes the next item, or says that
 * there are no more.  Every item then passes the other stages, one after the
 * other; the stages work on different items at the same time.  At most
 * max_in_flight items are between the source and the end of the last stage, so
 * memory is bounded however fast the source is.
 *
 * NULL is no item: a source that leaves NULL has ended the stream; a later
 * stage that leaves NULL has taken its item out of the stream, and the stages
 * behind it are not called for it.
 *
 * A complete use, in three stages:
 *
 * @code
 * #include <stdio.h>
 * #include <wsteal.h>
 *
 * static int numbers[8];
 *
 * static int next(ws_pipeline_item *item, void *arg)
 * {
 *     const uint64_t *n = arg;
 *     if (item->number < *n) {
 *         numbers[item->slot] = (int)item->number;
 *         item->data = &numbers[item->slot];
 *     }
 *     return 0;
 * }
 *
 * static int square(ws_pipeline_item *item, void *arg)
 * {
 *     int *number = item->data;
 *     (void)arg;
 *     *number *= *number;
 *     return 0;
 * }
 *
 * static int print(ws_pipeline_item *item, void *arg)
 * {
 *     const int *number = item->data;
 *     (void)arg;
 *     return printf("%d\n", *number) < 0;
 * }
 *
 * int main(void)
 * {
 *     uint64_t n = 10;
 *     const ws_stage stages[] = {
 *         {WS_STAGE_SERIAL, next, &n, NULL},
 *         {WS_STAGE_PARALLEL, square, NULL, NULL},
 *         {WS_STAGE_SERIAL, print, NULL, NULL},
 *     };
 *     return ws_pipeline(3, stages, 8);
 * }
 * @endcode
 */
#ifndef WSTEAL_PIPELINE_H
#define WSTEAL_PIPELINE_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** How many calls of a stage may run at the same time, and in which order. */
enum ws_stage_kind {
    /** One at a time, in the order in which the source made the items. */
    WS_STAGE_SERIAL = 0,
    /** As many as there are workers, in any order. */
    WS_STAGE_PARALLEL = 1,
    /** One at a time, in the order in which the items arrive: no item waits
     * for an earlier one that is late. */
    WS_STAGE_SERIAL_UNORDERED = 2
};

/** What a stage works on.  The struct is valid during the call only; stages
 * change `data` alone, and what else they write is ignored. */
typedef struct ws_pipeline_item {
    /** What the stages hand on.  The source finds NULL and sets it; the others
     * find what the stage before has left.  See above for NULL. */
    void *data;
    /** 0, 1, 2, ... in the order of the source's calls. */
    uint64_t number;
    /** Below max_in_flight; no two items that are in flight have the same one.
     * An index for the caller's buffers, so that none is made per item: the
     * buffers of a slot can be used again when the source is given the slot. */
    size_t slot;
} ws_pipeline_item;

/** A stage's work on one item: returns 0, or an error code, which stops the
 * pipeline.  A call that fails leaves in `data` what it found there, or NULL if
 * it has disposed of that.  It must not wait for other items of the pipeline:
 * they may be next on the same thread. */
typedef int (*ws_stage_fn)(ws_pipeline_item *item, void *arg);

/** Disposes of an item that a stage has made and that will go no further. */
typedef void (*ws_stage_drop_fn)(void *data, void *arg);

/** One stage of ws_pipeline(). */
typedef struct ws_stage {
    /** ws_stage_kind; the source's must not be WS_STAGE_PARALLEL. */
    unsigned kind;
    ws_stage_fn fn;
    /** For fn and drop. */
    void *arg;
    /** After an error or a cancellation, called with each item that this stage
     * has left and that the next one was not called with, or failed with and
     * left in place; by any worker, several at once.  NULL = nothing to do.  Of
     * the last stage it is never called: what that leaves is ignored. */
    ws_stage_drop_fn drop;
} ws_stage;

/**
 * Runs a stream of items through n stages, with at most max_in_flight items
 * under way, and returns when all have passed.  Serial equivalent, but for the
 * drops:
 *
 *     for (number = 0; code == 0; number++) {
 *         item.data = NULL;
 *         for (s = 0; s < n && code == 0; s++) {
 *             code = stages[s].fn(&item, stages[s].arg);
 *             if (item.data == NULL) break;
 *         }
 *         if (s == 0 && item.data == NULL) break;
 *     }
 *     return code;
 *
 * A thread carries its item through as many stages as it can, while the data
 * is in its cache.  An item that comes to a serial stage too early stays there
 * without a thread, and whoever ends the turn before goes on with it: no
 * thread waits for a stage.
 *
 * The first error stops the pipeline, and so does the cancellation of a token
 * in force (cancel.h): the source is not called any more, nor any stage, each
 * worker begins at most one further call, and ws_cancelled() is true in those
 * that run.  For each item that the source made, the last stage has succeeded,
 * or a stage has left NULL, or one drop was called.
 *
 * max_in_flight: with less than twice the number of workers some of them may
 * find nothing to do; 1 is the serial equivalent.
 *
 * Thread: any; outside a worker the stages run in the global pool.
 * Blocks: until every item is done.
 * May run other jobs: yes, while it waits: as ws_scope().
 * May allocate: three times, for the items and what waits at serial stages
 * (about 128 + 8 * n bytes for each item in flight); then as
 * ws_scope_spawn_or_drop(), one job per item and serial stage at most.
 * Owns: nothing; `stages` and what it points to must live until it returns.
 * Returns: 0; the first error code in order of time; WS_ECANCELED: it was
 * canceled before any error, and a call was left out; WS_EINVAL (stages NULL or
 * n 0; max_in_flight 0; an fn that is NULL, an unknown kind, a parallel source)
 * or WS_ENOMEM or WS_EFORKED: nothing was called.  Where no pool can be had,
 * the calls are made on the caller, as in the serial equivalent.
 *
 * Algorithm: tokens that go round through the stages, as in TBB's
 * parallel_pipeline; the hand-over at serial stages: src/par/turn.h.
 */
WS_API int ws_pipeline(size_t n, const ws_stage stages[], size_t max_in_flight);

WS_END_DECLS

#endif
