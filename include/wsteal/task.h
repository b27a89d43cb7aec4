/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * task.h: run work in a pool: join, scope, spawn, install.
 *
 * Who is the current pool: inside a worker, the worker's own pool; elsewhere a
 * process-wide pool that is created at the first use (ws_pool_global()).
 *
 * Waiting in a worker keeps the worker busy: while a call waits, its thread
 * runs other jobs of the pool *on top of the caller's stack*.  With the default
 * policy WS_WAIT_ANY these can be unrelated jobs.  So do not hold a lock, or
 * rely on thread-local state, across a call that waits, if other jobs use the
 * same lock or state; or create the pool with WS_WAIT_SUBTREE.
 */
#ifndef WSTEAL_TASK_H
#define WSTEAL_TASK_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/**
 * Runs a(arg_a) and b(arg_b), perhaps at the same time, and returns when both
 * are done.  Serial equivalent:
 *
 *     ra = a(arg_a);  rb = b(arg_b);  return ra != 0 ? ra : rb;
 *
 * The caller's thread runs `a`; `b` is offered to idle workers meanwhile and
 * runs on the caller's thread if nobody took it.  Both always run, also when
 * one fails.  The call itself cannot fail: where no thread or memory can be
 * had, it is exactly its serial equivalent.  Costs a few nanoseconds, so no
 * hand-tuned cut-off is needed for work of that size upward.
 *
 * Thread: any; outside a worker the pair runs in the global pool.
 * Blocks: until both are done.
 * May run other jobs: yes, while it waits for a stolen `b` (see above).
 * May allocate: not after warm-up (the deque grows by doubling).
 * Owns: nothing; the arguments must live until it returns.  a and b are not
 * checked: they must not be NULL.
 * Returns: a's code if it is not 0, else b's.
 *
 * Algorithm: work-first fork and join as in Cilk; src/README.md, "Join".
 */
WS_API int ws_join(ws_fn a, void *arg_a, ws_fn b, void *arg_b);

/**
 * ws_join() whose jobs learn where they run: the worker's index, and whether
 * they moved to another thread than the caller's.  Called outside a worker,
 * both have moved.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns: as ws_join().  Where
 * no pool can be had, both run on the caller with worker_index -1 and
 * migrated 0.
 * Returns: a's code if it is not 0, else b's.
 */
WS_API int ws_join_context(ws_ctx_fn a, void *arg_a, ws_ctx_fn b, void *arg_b);

/**
 * Runs body(scope, arg) and returns when the body and all jobs that were
 * spawned into the scope, directly or by its jobs, are done.  Serial
 * equivalent: the body, with each spawn being a call.
 *
 * Thread: any; outside a worker the body runs in the global pool.
 * Blocks: until everything in the scope is done.
 * May run other jobs: yes, while it waits.
 * May allocate: at most once in a thousand spawns.
 * Owns: nothing; `scope` and what it borrows live until the call returns.
 * Returns: the body's code if it is not 0, else the first non-zero code of a
 * job in order of completion, else 0; all jobs run in any case.
 * WS_EINVAL (body NULL).  Where no pool can be had, body and jobs run on the
 * caller.
 */
WS_API int ws_scope(ws_scope_fn body, void *arg);

/**
 * Adds the job fn(scope, arg) to the scope.  It runs at some time before the
 * scope's call returns, on any worker of its pool; on one worker the newest
 * spawn runs first.
 *
 * Thread: any thread, while the scope is open: from its body, from its jobs,
 * or from a thread that one of those waits for.
 * Blocks: no.
 * May run other jobs: no; runs `fn` itself, before it returns, where memory
 * is out.
 * May allocate: at most once in a thousand spawns.
 * Owns: nothing; `arg` must live until the job is done.
 * Returns: WS_OK; WS_EINVAL (a NULL scope or fn).  The job's own code goes to
 * the scope.
 */
WS_API int ws_scope_spawn(struct ws_scope *scope, ws_scope_fn fn, void *arg);

/**
 * Queues the detached job fn(arg): nobody waits for it but
 * ws_pool_destroy().  Its code is only counted (ws_worker_stats.errors).
 *
 * `pool` NULL means the current pool.
 *
 * Thread: any.  From a worker of `pool` the job goes to the worker's own deque
 * (newest first); from elsewhere it goes to the end of the pool's injector.
 * Blocks: no.  May run other jobs: no.
 * May allocate: at most once in a thousand calls.
 * Owns: nothing; `arg` must live until the job is done.
 * Returns: WS_OK; WS_EINVAL (fn NULL); WS_ENOMEM: not queued; WS_EFORKED; for
 * the global pool also what ws_pool_global() returns.
 */
WS_API int ws_spawn(ws_pool *pool, ws_fn fn, void *arg);

/**
 * Runs fn(arg) inside the pool and returns its code.  Inside, ws_join() and
 * ws_scope() use this pool.
 *
 * `pool` NULL means the current pool.
 *
 * Thread: any.  From a worker of `pool` it is a plain call; from a worker of
 * another pool the job is handed over, and the waiting worker goes on to run
 * jobs of its own pool; any other thread sleeps until the job is done.
 * Blocks: until fn has returned.
 * May run other jobs: only in a worker of another pool.
 * May allocate: once in a thousand calls at most (the injector grows).
 * Owns: nothing; `arg` must live until it returns.
 * Returns: fn's code; WS_EINVAL (fn NULL); WS_ENOMEM or WS_EFORKED: fn did not
 * run; for the global pool also what ws_pool_global() returns.
 */
WS_API int ws_pool_install(ws_pool *pool, ws_fn fn, void *arg);

/**
 * The index of the calling worker: 0 to n - 1 in a pool of n workers, no two
 * workers of a pool have the same one, and it never changes.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the index; -1 outside a worker.
 */
WS_API int ws_current_index(void);

/**
 * The number of workers of the current pool.  Outside a worker that is the
 * global pool, which is created if needed.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.
 * May allocate: creates the global pool at its first use.
 * Owns: nothing.
 * Returns: the number, at least 1; 0 when the global pool cannot be had.
 */
WS_API unsigned ws_current_num_workers(void);

WS_END_DECLS

#endif
