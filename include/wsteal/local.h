/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * local.h: worker-local storage, the base of reducers.
 *
 * One slot for each thread that asks: each worker of the pool has its own, so
 * has each other thread; none is shared, so slots are used without locks.  Two
 * slots never share a cache line.
 *
 * A slot belongs to a thread, not to a job: a call that waits (task.h) can run
 * another job on the same thread, which gets the same slot.  So do not keep a
 * slot half changed across such a call.
 */
#ifndef WSTEAL_LOCAL_H
#define WSTEAL_LOCAL_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** A set of slots. */
typedef struct ws_local ws_local;

/** Begins, ends or visits one slot. */
typedef void (*ws_slot_fn)(void *slot, void *arg);

/**
 * Makes a set of slots of `size` bytes for the workers of `pool`, NULL = the
 * current pool.  A slot comes to life when its thread first asks for it: it is
 * zeroed, then init(slot, arg) is called on that thread, unless init is NULL.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: yes.
 * Owns: the caller releases *out with ws_local_destroy(), before the pool.
 * `arg` must live until then.
 * Returns: WS_OK; WS_EINVAL (out NULL, size 0 or above 2^30); WS_ENOMEM; for
 * the global pool also what ws_pool_global() returns.
 */
WS_API int ws_local_create(ws_local **out, ws_pool *pool, size_t size,
                           ws_slot_fn init, void *arg);

/**
 * The calling thread's own slot, aligned for any type.
 *
 * Thread: any.  A thread keeps its slot as long as the set lives.
 * Blocks: no.  May run other jobs: as init.
 * May allocate: the first call of a thread that is no worker of the pool.
 * Owns: nothing.
 * Returns: the slot; NULL: local NULL, or out of memory for a thread that is
 * no worker of the pool.
 */
WS_API void *ws_local_get(ws_local *local);

/**
 * Calls visit(slot, arg) for each slot that has come to life, one after the
 * other: workers by index, then other threads in the order of their first call
 * ever.
 *
 * Thread: any, while no other thread uses its slot.
 * Blocks: no.  May run other jobs: as visit.  May allocate: no.
 * Owns: nothing.
 * Returns: the number of slots visited; 0 when local or visit is NULL.
 */
WS_API size_t ws_local_each(ws_local *local, ws_slot_fn visit, void *arg);

/**
 * Folds all slots into *into with combine(into, slot), in the order of
 * ws_local_each(), and makes each as if it had never been used; the next
 * ws_local_get() begins it anew.
 *
 * Thread: any, while no other thread uses its slot.
 * Blocks: no.  May run other jobs: as combine.  May allocate: no.
 * Owns: nothing.
 * Returns: the number of slots folded; 0 when local or combine is NULL.
 */
WS_API size_t ws_local_combine(ws_local *local, void *into,
                               void (*combine)(void *into, void *slot));

/**
 * Frees the set.  With `fini` not NULL, fini(slot, arg of create) is called for
 * each slot that has come to life.
 *
 * Thread: any, when no other thread uses the set.
 * Blocks: no.  May run other jobs: as fini.  May allocate: no.
 * Owns: takes `local`; NULL is ignored.
 * Returns: nothing.
 */
WS_API void ws_local_destroy(ws_local *local, ws_slot_fn fini);

WS_END_DECLS

#endif
