/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * deque.h: the work-stealing deque and the injector, usable without a pool.
 *
 * A *worker* is a queue with one owner, who pushes and pops.  A *stealer* is a
 * handle to the same queue from which any thread takes items at the other end.
 * An *injector* is a FIFO queue into which every thread may push and from
 * which every thread may steal.  Build your own scheduler from them: one
 * worker for each thread, a stealer of each worker for all the others, one
 * injector for work from outside.  The loop of each thread is
 *
 *     item = ws_worker_pop(mine);
 *     found = WS_STEAL_RETRY;
 *     while (item == NULL && found != WS_STEAL_EMPTY) {
 *         found = ws_injector_steal_batch_and_pop(injector, mine, &item);
 *         for (i = 0; i < n && item == NULL; i++) {
 *             one = ws_stealer_steal(others[i], &item);
 *             found = ws_steal_combine(found, one);
 *         }
 *     }
 *
 * Items are pointers other than NULL and stay the caller's: the queue never
 * looks behind one.
 *
 * The three-state result matters: WS_STEAL_RETRY says that another thread was
 * in the way and items may be left.  A thread that takes RETRY for EMPTY stops
 * looking while there is work.
 *
 * Algorithm: the array deque of Chase and Lev (2005) with the C11 orders of
 * Le, Pop, Cohen and Zappa Nardelli (2013), changed so that one word names the
 * items that thieves may take and the owner needs no fence; src/README.md has
 * the proof.  Orders and names follow crossbeam-deque.
 */
#ifndef WSTEAL_DEQUE_H
#define WSTEAL_DEQUE_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** The owner's side of a deque. */
typedef struct ws_worker ws_worker;
/** A thief's side of a deque. */
typedef struct ws_stealer ws_stealer;
/** A FIFO queue for any number of pushing and stealing threads. */
typedef struct ws_injector ws_injector;

/** Which end the owner pops from.  Thieves always take the oldest item. */
typedef enum ws_flavor {
    /** The owner pops the newest item: best for recursive work. */
    WS_LIFO = 0,
    /** The owner pops the oldest item. */
    WS_FIFO = 1
} ws_flavor;

/** What a call that steals found. */
typedef enum ws_steal {
    /** The queue had no items when it was looked at. */
    WS_STEAL_EMPTY = 0,
    /** Something was taken. */
    WS_STEAL_SUCCESS = 1,
    /** Another thread made progress on the queue meanwhile: look again. */
    WS_STEAL_RETRY = 2
} ws_steal;

/** Largest batch of one steal, in items, and the default limit. */
#define WS_STEAL_BATCH_MAX 32

/** Options of ws_worker_create(); 0 and NULL mean the default. */
typedef struct ws_worker_opts {
    /** Set by WS_WORKER_OPTS_INIT. */
    size_t struct_size;
    /** Size of the first buffer in items, rounded up to a power of two; default
     * 64, at most 2^30 (2^28 where pointers have 32 bits).  The buffer doubles
     * when it is full, and one place always stays free. */
    size_t capacity;
    /** Called for each item that is left when the last handle is released. */
    void (*drop)(void *item, void *drop_arg);
    /** Second argument of `drop`. */
    void *drop_arg;
} ws_worker_opts;

/** Initialiser of a ws_worker_opts with all defaults. */
#define WS_WORKER_OPTS_INIT                                                    \
    {                                                                          \
        sizeof(ws_worker_opts), 0, NULL, NULL                                  \
    }

/**
 * Combines the results of several steal attempts: SUCCESS wins, then RETRY,
 * and only EMPTY with EMPTY is EMPTY.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the combined result.
 */
WS_API ws_steal ws_steal_combine(ws_steal first, ws_steal second);

/**
 * Makes a deque and hands out its owner's side.
 *
 * Thread: any; the handle may be passed to another thread, which then is the
 * owner, like any object.
 * Blocks: no.  May run other jobs: no.  May allocate: yes.
 * Owns: the caller releases *out with ws_worker_destroy().  `opts` is read
 * during the call only; NULL = defaults.
 * Returns: WS_OK; WS_EINVAL (out NULL, unknown flavor, capacity too large);
 * WS_ENOMEM.  *out is written on success only.
 */
WS_API int ws_worker_create(ws_worker **out, ws_flavor flavor,
                            const ws_worker_opts *opts);

/**
 * Releases the owner's side.  Items that are left can still be stolen through
 * live stealers; with the last handle the deque goes, and `drop` is called for
 * what is left, oldest first.
 *
 * Thread: the owner.  Blocks: no.  May run other jobs: no (only `drop`).
 * May allocate: no.  Owns: takes `worker`; NULL does nothing.
 */
WS_API void ws_worker_destroy(ws_worker *worker);

/**
 * Adds an item at the owner's end.
 *
 * Thread: the owner.  Blocks: no.  May run other jobs: no.
 * May allocate: when the buffer is full.
 * Owns: nothing; the item is the caller's until somebody takes it.
 * Returns: WS_OK; WS_EINVAL (a NULL argument); WS_ENOMEM: the buffer could not
 * grow, the item was not added and nothing else changed.
 */
WS_API int ws_worker_push(ws_worker *worker, void *item);

/**
 * Takes an item: the newest (LIFO) or the oldest (FIFO).
 *
 * Thread: the owner.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: the caller has the item alone.
 * Returns: the item, or NULL when the deque is empty or `worker` is NULL.
 */
WS_API void *ws_worker_pop(ws_worker *worker);

/**
 * The number of items; exact while nobody steals.
 *
 * Thread: the owner.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the count, 0 for NULL.
 */
WS_API size_t ws_worker_len(const ws_worker *worker);

/**
 * Whether ws_worker_len() is 0.
 *
 * Thread: the owner.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 when empty (or NULL), else 0.
 */
WS_API int ws_worker_is_empty(const ws_worker *worker);

/**
 * Makes a thief's handle to the deque.
 *
 * Thread: the owner.  Blocks: no.  May run other jobs: no.
 * May allocate: no: a handle is a counted reference to the deque.
 * Owns: the caller releases *out with ws_stealer_release().
 * Returns: WS_OK; WS_EINVAL (a NULL argument).
 */
WS_API int ws_worker_stealer(ws_worker *worker, ws_stealer **out);

/**
 * Makes another handle to the same deque.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: the caller releases *out with ws_stealer_release().
 * Returns: WS_OK; WS_EINVAL (a NULL argument).
 */
WS_API int ws_stealer_clone(ws_stealer *stealer, ws_stealer **out);

/**
 * Releases a thief's handle; the last handle of a deque destroys it, see
 * ws_worker_destroy().
 *
 * Thread: any.  Blocks: no.  May run other jobs: no (only `drop`).
 * May allocate: no.  Owns: takes `stealer`; NULL does nothing.
 */
WS_API void ws_stealer_release(ws_stealer *stealer);

/**
 * The number of items as seen by a thief: a snapshot.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the count, 0 for NULL.
 */
WS_API size_t ws_stealer_len(const ws_stealer *stealer);

/**
 * Whether ws_stealer_len() is 0.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 when empty (or NULL), else 0.
 */
WS_API int ws_stealer_is_empty(const ws_stealer *stealer);

/**
 * Takes the oldest item.  When the owner has opened nothing to thieves, the
 * call forces half of its items into the open at the price of one system call
 * (about a microsecond) and takes the oldest of them.
 *
 * Thread: any; a handle may be shared.
 * Blocks: no; there is no loop inside.  May run other jobs: no.
 * May allocate: no.
 * Owns: on success the caller has *out alone.
 * Returns: WS_STEAL_SUCCESS, *out written; WS_STEAL_EMPTY (also for a NULL
 * argument); WS_STEAL_RETRY: another thread made progress on this deque.
 */
WS_API ws_steal ws_stealer_steal(ws_stealer *stealer, void **out);

/**
 * Moves min(half of the items rounded up, 32) of the oldest items into `dest`,
 * with one compare-and-swap; fewer when fewer are open to thieves.  `dest` will
 * pop them in the order in which the owner of the source would have popped
 * them, whatever the two flavors are.
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow; where it cannot, fewer items move (with
 * no room at all: WS_STEAL_RETRY).
 * Owns: nothing.
 * Returns: WS_STEAL_SUCCESS: at least one item was moved; WS_STEAL_EMPTY, also
 * for a NULL argument and when `dest` is the source itself; WS_STEAL_RETRY.
 */
WS_API ws_steal ws_stealer_steal_batch(ws_stealer *stealer, ws_worker *dest);

/**
 * ws_stealer_steal_batch() of at most `limit` items (and at most 32).
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: nothing.
 * Returns: as ws_stealer_steal_batch(); a limit of 0 is WS_STEAL_EMPTY.
 */
WS_API ws_steal ws_stealer_steal_batch_with_limit(ws_stealer *stealer,
                                                  ws_worker *dest,
                                                  size_t limit);

/**
 * As ws_stealer_steal_batch(), and hands the first item of the batch to the
 * caller instead of moving it: the one that the source's owner would have
 * popped first.
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: on success the caller has *out alone.
 * Returns: WS_STEAL_SUCCESS, *out written; else as ws_stealer_steal_batch().
 */
WS_API ws_steal ws_stealer_steal_batch_and_pop(ws_stealer *stealer,
                                               ws_worker *dest, void **out);

/**
 * ws_stealer_steal_batch_and_pop() of at most `limit` items, the one handed
 * out included.
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: on success the caller has *out alone.
 * Returns: as ws_stealer_steal_batch_and_pop(); a limit of 0 is EMPTY.
 */
WS_API ws_steal ws_stealer_steal_batch_with_limit_and_pop(ws_stealer *stealer,
                                                          ws_worker *dest,
                                                          size_t limit,
                                                          void **out);

/**
 * Makes an injector.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: yes.
 * Owns: the caller releases *out with ws_injector_destroy().
 * Returns: WS_OK; WS_EINVAL (out NULL); WS_ENOMEM.
 */
WS_API int ws_injector_create(ws_injector **out);

/**
 * Destroys an injector.  Items that are left are forgotten: steal them first
 * if they own something.
 *
 * Thread: any, when no other thread uses it.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: takes `injector`; NULL does nothing.
 */
WS_API void ws_injector_destroy(ws_injector *injector);

/**
 * Adds an item at the end.
 *
 * Thread: any.  Blocks: no; may yield while another pusher is installing the
 * next segment (a few stores, once in 63 pushes).
 * May run other jobs: no.  May allocate: once in 2,000 pushes at most; emptied
 * segments are used again.
 * Owns: nothing; the item is the caller's until somebody takes it.
 * Returns: WS_OK; WS_EINVAL (a NULL argument); WS_ENOMEM: nothing changed.
 */
WS_API int ws_injector_push(ws_injector *injector, void *item);

/**
 * Takes the oldest item.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: on success the caller has *out alone.
 * Returns: WS_STEAL_SUCCESS, *out written; WS_STEAL_EMPTY (also for a NULL
 * argument); WS_STEAL_RETRY: another thread is in the middle of an operation.
 */
WS_API ws_steal ws_injector_steal(ws_injector *injector, void **out);

/**
 * Moves min(half of the items rounded up, 32) of the oldest items, as far as
 * they lie in one segment, into `dest`, which will pop them oldest first.
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: nothing.
 * Returns: WS_STEAL_SUCCESS: at least one item was moved; WS_STEAL_EMPTY, also
 * for a NULL argument; WS_STEAL_RETRY.
 */
WS_API ws_steal ws_injector_steal_batch(ws_injector *injector, ws_worker *dest);

/**
 * ws_injector_steal_batch() of at most `limit` items (and at most 32).
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: nothing.
 * Returns: as ws_injector_steal_batch(); a limit of 0 is WS_STEAL_EMPTY.
 */
WS_API ws_steal ws_injector_steal_batch_with_limit(ws_injector *injector,
                                                   ws_worker *dest,
                                                   size_t limit);

/**
 * As ws_injector_steal_batch(), and hands the oldest item to the caller.
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: on success the caller has *out alone.
 * Returns: WS_STEAL_SUCCESS, *out written; else as ws_injector_steal_batch().
 */
WS_API ws_steal ws_injector_steal_batch_and_pop(ws_injector *injector,
                                                ws_worker *dest, void **out);

/**
 * ws_injector_steal_batch_and_pop() of at most `limit` items, the one handed
 * out included.
 *
 * Thread: the owner of `dest`.  Blocks: no.  May run other jobs: no.
 * May allocate: when `dest` must grow.
 * Owns: on success the caller has *out alone.
 * Returns: as ws_injector_steal_batch_and_pop(); a limit of 0 is EMPTY.
 */
WS_API ws_steal ws_injector_steal_batch_with_limit_and_pop(
    ws_injector *injector, ws_worker *dest, size_t limit, void **out);

/**
 * The number of items: a snapshot.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the count, 0 for NULL.
 */
WS_API size_t ws_injector_len(const ws_injector *injector);

/**
 * Whether ws_injector_len() is 0.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 when empty (or NULL), else 0.
 */
WS_API int ws_injector_is_empty(const ws_injector *injector);

WS_END_DECLS

#endif
