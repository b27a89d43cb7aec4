/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * scope.h: trees of jobs that end before the call that opened them returns.
 *
 * A scope is opened by one of the calls below, which runs `body`; the body and
 * all jobs of the scope may spawn more jobs into it; the call returns when all
 * of them are done.
 *
 * Errors: the first non-zero code wins, the body's before all others; the call
 * returns it.  All jobs run in any case, also after an error or a cancellation,
 * since a job that never runs would leak what its argument owns.  A scope with
 * WS_SCOPE_FAIL_FAST differs: after the first error, or when a token in force
 * is canceled (cancel.h), jobs that have not started are dropped, and
 * ws_cancelled() is true in those that run.
 *
 * Order on one worker: the newest job starts first.  With WS_SCOPE_FIFO the
 * oldest does: each free worker starts the oldest job of the scope that has not
 * started, whoever spawned it.
 */
#ifndef WSTEAL_SCOPE_H
#define WSTEAL_SCOPE_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** How a scope behaves; flags of ws_scope_in(). */
enum ws_scope_flags {
    /** Jobs start in the order in which they were spawned. */
    WS_SCOPE_FIFO = 1,
    /** The first error stops the scope: what has not started is dropped. */
    WS_SCOPE_FAIL_FAST = 2,
    /** The body runs on the calling thread, only the jobs run in the pool. */
    WS_SCOPE_IN_PLACE = 4
};

/**
 * Opens a scope of the given pool: runs body(scope, arg) and returns when the
 * body and all jobs that were spawned into the scope, directly or by its jobs,
 * are done.  Serial equivalent: the body, with each spawn being a call.
 *
 * `pool` NULL means the current pool.  Without WS_SCOPE_IN_PLACE the body runs
 * in a worker of the pool.
 *
 * Thread: any.
 * Blocks: until everything in the scope is done.  A thread that is no worker
 * does not help with the jobs.
 * May run other jobs: yes, while it waits in a worker (task.h).
 * May allocate: at most once in a thousand spawns; the injector.
 * Owns: nothing; `scope` and what it borrows live until the call returns.
 * Returns: the body's code if it is not 0, else the first non-zero code of a
 * job in order of completion, else 0.  WS_ECANCELED: a fail-fast scope in which
 * no job failed was canceled, and something was dropped, or the body was not
 * called.  WS_EINVAL: body NULL or unknown flags, nothing ran; WS_EFORKED or
 * WS_ENOMEM: nothing ran.  With `pool` NULL, where no pool can be had, body and
 * jobs run on the caller.
 */
WS_API int ws_scope_in(ws_pool *pool, unsigned flags, ws_scope_fn body,
                       void *arg);

/**
 * ws_scope_in(NULL, 0, body, arg).
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_scope_in().
 */
WS_API int ws_scope(ws_scope_fn body, void *arg);

/**
 * ws_scope_in(NULL, WS_SCOPE_FIFO, body, arg).
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_scope_in().
 */
WS_API int ws_scope_fifo(ws_scope_fn body, void *arg);

/**
 * ws_scope_in(NULL, WS_SCOPE_IN_PLACE, body, arg).
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_scope_in().
 */
WS_API int ws_in_place_scope(ws_scope_fn body, void *arg);

/**
 * ws_scope_in(NULL, WS_SCOPE_IN_PLACE | WS_SCOPE_FIFO, body, arg).
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_scope_in().
 */
WS_API int ws_in_place_scope_fifo(ws_scope_fn body, void *arg);

/**
 * Adds the job fn(scope, arg) to the scope.  It runs at some time before the
 * scope's call returns, on any worker of its pool, unless a fail-fast scope
 * drops it.
 *
 * Thread: any thread, while the scope is open: from its body, from its jobs,
 * or from a thread that one of those waits for.
 * Blocks: no.
 * May run other jobs: no.  Where memory is out it runs fn itself, before it
 * returns; in a FIFO scope those that were spawned before, in their order.
 * May allocate: at most once in a thousand spawns; once per spawn on a thread
 * under a token (cancel.h) that the thread which opened the scope was not
 * under, unless ws_with_token() was called inside the scope.
 * Owns: nothing; `arg` must live until the job is done.
 * Returns: WS_OK, also when the job is dropped; WS_EINVAL (a NULL scope or
 * fn).  The job's own code goes to the scope.
 */
WS_API int ws_scope_spawn(struct ws_scope *scope, ws_scope_fn fn, void *arg);

/**
 * ws_scope_spawn() with an owner for the argument: when a fail-fast scope drops
 * the job, drop(arg) is called instead of fn(scope, arg), on any worker, or
 * before the spawn returns.  Exactly one of the two is called.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_scope_spawn().
 * Owns: `arg` is taken when it returns WS_OK.
 * Returns: WS_OK; WS_EINVAL (a NULL scope, fn or drop): neither is called.
 */
WS_API int ws_scope_spawn_or_drop(struct ws_scope *scope, ws_scope_fn fn,
                                  void *arg, ws_drop_fn drop);

/**
 * ws_scope_spawn() with a copy of the argument: the job gets a pointer to its
 * own copy of the `size` bytes at `arg`, aligned for any type and writable,
 * valid until the job returns.
 *
 * Thread, Blocks, May run other jobs: as ws_scope_spawn().
 * May allocate: at most once in a thousand spawns of up to 96 bytes; once per
 * spawn for more.
 * Owns: nothing; `arg` is read during the call only.
 * Returns: WS_OK; WS_EINVAL (a NULL scope or fn; arg NULL with size > 0);
 * WS_ENOMEM: no job (only for more than 96 bytes).
 */
WS_API int ws_scope_spawn_copy(struct ws_scope *scope, ws_scope_fn fn,
                               const void *arg, size_t size);

/**
 * ws_scope_spawn_copy() with an owner for what the copy holds: when a fail-fast
 * scope drops the job, drop(copy) is called instead of fn(scope, copy), on any
 * worker, or before the spawn returns.  Exactly one of the two is called.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_scope_spawn_copy().
 * Owns: what the bytes at `arg` hold is taken when it returns WS_OK.
 * Returns: as ws_scope_spawn_copy(); WS_EINVAL also for a NULL drop.  When it
 * is not WS_OK neither is called.
 */
WS_API int ws_scope_spawn_copy_or_drop(struct ws_scope *scope, ws_scope_fn fn,
                                       const void *arg, size_t size,
                                       ws_drop_fn drop);

/**
 * Adds one job per worker of the scope's pool: fn runs once on each, as
 * ws_spawn_broadcast() says, before the scope's call returns.
 *
 * Thread, Blocks: as ws_scope_spawn().
 * May run other jobs: no.
 * May allocate: at most once in a thousand jobs.
 * Owns: nothing; `arg` must live until all of them are done.
 * Returns: WS_OK; WS_EINVAL (a NULL scope or fn); WS_ENOMEM, and WS_EFORKED in
 * a child that was forked inside a worker: no job was added.  The jobs' codes
 * go to the scope.  Where no pool could be had, fn runs once,
 * on the caller.
 */
WS_API int ws_scope_spawn_broadcast(struct ws_scope *scope, ws_broadcast_fn fn,
                                    void *arg);

/**
 * Waits until all jobs of the scope are done, in the middle of its body; the
 * scope stays open and can be given more jobs.
 *
 * Thread: the one that runs the body, inside the body and not inside a job
 * that runs on top of it.
 * Blocks: until all jobs are done.
 * May run other jobs: yes, in a worker.
 * May allocate: no.
 * Owns: nothing.
 * Returns: WS_OK: no job is left; WS_EINVAL: scope NULL, or another thread, or
 * inside a job.  Codes of jobs stay for the call that opened the scope.
 */
WS_API int ws_scope_wait(struct ws_scope *scope);

/**
 * ws_scope_wait() that gives up when ws_clock_ns() reaches `deadline_ns`.  It
 * helps while it waits; a job that it has begun is not interrupted, so it can
 * return late by the length of one job.  With a deadline in the past it only
 * asks.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns: as ws_scope_wait().
 * Returns: WS_OK: no job is left; WS_ETIMEDOUT: some are, the scope goes on as
 * before; WS_EINVAL as above.
 */
WS_API int ws_scope_wait_until(struct ws_scope *scope, uint64_t deadline_ns);

/**
 * The clock of all deadlines: monotonic, in nanoseconds, with an arbitrary
 * zero.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the time now.
 */
WS_API uint64_t ws_clock_ns(void);

WS_END_DECLS

#endif
