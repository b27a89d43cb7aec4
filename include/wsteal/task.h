/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * task.h: run work in a pool: join, invoke, spawn, broadcast, install, yield.
 *
 * Who is the current pool: inside a worker, the worker's own pool; elsewhere a
 * process-wide pool that is created at the first use (ws_pool_global()).
 *
 * Waiting in a worker keeps the pool busy, and by default stays in its own
 * subtree (WS_WAIT_SUBTREE): on top of the caller's stack run only jobs that
 * the call waits for, jobs that those have spawned, and broadcasts; everything
 * else the pool has to do meanwhile is done by another thread, a spare one if
 * need be.  So a lock can be held across a call that waits, and thread-local
 * state stays.  A pool made with WS_WAIT_ANY has no spare threads: its waiting
 * workers run any job, and a job that wants a lock which the caller below it
 * holds blocks for ever.
 *
 * Exceptions.  Jobs in the subtree that spawn into an outer FIFO scope, or with
 * ws_spawn_fifo(), let the waiting thread run the oldest job there, which can
 * be an unrelated one.  A yield inside the subtree runs any job.  Where no
 * spare thread can be had, a waiting worker also runs what workers of other
 * pools wait for, since that may be what it waits for itself.  Where memory is
 * out, it may run a job that a broadcast has left on it.
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
 * May run other jobs: yes, while it waits for a stolen `b`: those of its
 * subtree (see above).  In a pool made with WS_WAIT_ANY also unrelated ones: do
 * not call it there with a lock held that other jobs want.
 * May allocate: not after warm-up (the deque grows by doubling, and a spare
 * thread may be started).
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

/** One of the tasks of ws_invoke(). */
typedef struct ws_task {
    ws_fn fn;
    void *arg;
    /** Called with arg instead of fn by ws_invoke_fail_fast() when the task
     * never starts; NULL = nothing to do. */
    ws_drop_fn drop;
} ws_task;

/**
 * Runs n tasks, perhaps at the same time, and returns when all are done.
 * Serial equivalent:
 *
 *     for (i = 0; i < n; i++) {
 *         r = tasks[i].fn(tasks[i].arg);
 *         code = code != 0 ? code : r;
 *     }
 *     return code;
 *
 * Thread: any; outside a worker they run in the global pool.
 * Blocks: until all are done.
 * May run other jobs: as ws_join().  May allocate: not after warm-up.
 * Owns: nothing; `tasks` and the arguments must live until it returns.
 * Returns: the code of the first task in the array whose code is not 0, else
 * 0; WS_EINVAL (tasks NULL with n > 0, or an fn that is NULL): nothing ran.
 *
 * Algorithm: recursive halving with ws_join().
 */
WS_API int ws_invoke(size_t n, const ws_task tasks[]);

/**
 * ws_invoke() that stops at the first error, or when a token in force is
 * canceled (cancel.h): tasks that have not started are dropped, and
 * ws_cancelled() is true in those that run.  For each task either fn or drop is
 * called, once.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns: as ws_invoke().
 * Returns: the code of the first task in the array that ran and failed, else
 * WS_ECANCELED if something was dropped, else 0; WS_EINVAL as above, neither
 * fn nor drop was called.
 */
WS_API int ws_invoke_fail_fast(size_t n, const ws_task tasks[]);

/**
 * Queues the detached job fn(arg): nobody waits for it but
 * ws_pool_destroy().  A code other than 0 is counted (ws_worker_stats.errors)
 * and given to the pool's error handler (ws_pool_config.error_handler).
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
 * ws_spawn() for jobs that should start in the order of their spawns: whoever
 * takes such a job from a worker's deque starts the oldest that this worker has
 * spawned with ws_spawn_fifo() and that has not started.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_spawn().
 */
WS_API int ws_spawn_fifo(ws_pool *pool, ws_fn fn, void *arg);

/**
 * ws_spawn() with a copy of the argument: the job gets a pointer to its own
 * copy of the `size` bytes at `arg`, aligned for any type and writable, valid
 * until the job returns.
 *
 * Thread, Blocks, May run other jobs: as ws_spawn().
 * May allocate: at most once in a thousand calls for up to 96 bytes; once per
 * call for more.
 * Owns: nothing; `arg` is read during the call only.
 * Returns: as ws_spawn(); WS_EINVAL also for arg NULL with size > 0.
 */
WS_API int ws_spawn_copy(ws_pool *pool, ws_fn fn, const void *arg, size_t size);

/**
 * Runs fn once on every worker of the pool, the caller included if it is one,
 * and returns when all are done.  A worker comes to it when its own deque is
 * empty, before it steals; a worker that waits in some call comes to it while
 * it waits, on top of that call.  Broadcasts reach a worker in the order in
 * which they were made.  Spare threads do not count as workers.
 *
 * `pool` NULL means the current pool.
 *
 * Thread: any.
 * Blocks: until all workers have run it; so a worker that never ends a job
 * blocks the caller, and so does the creator's thread (use_current_thread)
 * until it waits for something in the pool or yields.
 * May run other jobs: yes, in a worker.
 * May allocate: at most once in a thousand jobs.
 * Owns: nothing; `arg` and `codes` must live until it returns.
 * Returns: the code of the worker with the lowest index whose code is not 0,
 * else 0.  `codes`, unless NULL, has room for ws_pool_num_workers() codes and
 * gets each worker's own by index.  WS_EINVAL (fn NULL), WS_ENOMEM, WS_EFORKED:
 * it ran nowhere; for the global pool also what ws_pool_global() returns.
 */
WS_API int ws_broadcast(ws_pool *pool, ws_broadcast_fn fn, void *arg,
                        int codes[]);

/**
 * ws_broadcast() that does not wait.  Codes go where those of ws_spawn() go,
 * once per failing worker.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.
 * May allocate: at most once in a thousand jobs.
 * Owns: nothing; `arg` must live until all of them are done.
 * Returns: WS_OK; else as ws_broadcast().
 */
WS_API int ws_spawn_broadcast(ws_pool *pool, ws_broadcast_fn fn, void *arg);

/** What ws_yield_now() and ws_yield_local() did. */
typedef enum ws_yield {
    /** The calling thread is not a worker. */
    WS_YIELD_NO_POOL = -1,
    /** There was nothing to run. */
    WS_YIELD_IDLE = 0,
    /** One job was run. */
    WS_YIELD_EXECUTED = 1
} ws_yield;

/**
 * Runs at most one job of the pool, any one, on top of the caller: its own
 * newest, a broadcast's, another worker's, or one from outside.
 *
 * Thread: any.  Blocks: while that job runs.
 * May run other jobs: one, unrelated ones too, whatever the wait policy says.
 * May allocate: no.
 * Owns: nothing.
 * Returns: ws_yield.  WS_YIELD_IDLE also when as many jobs run on top of each
 * other on this thread as the pool allows.
 */
WS_API ws_yield ws_yield_now(void);

/**
 * ws_yield_now() for the worker's own deque and broadcasts only.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_yield_now().
 */
WS_API ws_yield ws_yield_local(void);

/**
 * Whether the calling worker's own deque has jobs.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 or 0; -1 outside a worker.
 */
WS_API int ws_has_pending(void);

/**
 * Whether another worker of the pool looks for work, or sleeps because there
 * was none, and has got nothing from the calling worker since.  A job that can
 * be divided should then give half of what is left away, with ws_join() or a
 * spawn; else it need not divide.  What a loop asks between its blocks: a few
 * loads.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 or 0; 0 outside a worker.  A hint: it can stay 1 until the next
 * fork or spawn although somebody else was faster to feed the asker.
 */
WS_API int ws_hungry(void);

/**
 * Runs fn(arg) inside the pool and returns its code.  Inside, ws_join() and
 * ws_scope() use this pool.
 *
 * `pool` NULL means the current pool.
 *
 * Thread: any.  From a worker of `pool` it is a plain call; from a worker of
 * another pool the job is handed over, and a spare thread of its own pool takes
 * the waiting worker's place (with WS_WAIT_ANY the waiting worker goes on to
 * run jobs of its own pool); any other thread sleeps until the job is done.
 * Blocks: until fn has returned.
 * May run other jobs: only in a worker of another pool: with WS_WAIT_ANY, and
 * when no spare thread can be had.
 * May allocate: once in a thousand calls at most (the injector grows).
 * Owns: nothing; `arg` must live until it returns.
 * Returns: fn's code; WS_EINVAL (fn NULL); WS_ENOMEM or WS_EFORKED: fn did not
 * run; for the global pool also what ws_pool_global() returns.
 */
WS_API int ws_pool_install(ws_pool *pool, ws_fn fn, void *arg);

/**
 * The index of the calling worker: 0 to n - 1 in a pool of n workers; a spare
 * thread that has taken a waiting worker's place has one of its own, below
 * ws_worker_slots().  No two threads of a pool have the same one, and it never
 * changes.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the index; -1 outside a worker.
 */
WS_API int ws_current_index(void);

/**
 * ws_current_index() for workers of one pool.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the index; -1 outside the workers of `pool`.
 */
WS_API int ws_pool_current_index(const ws_pool *pool);

/**
 * The bound of ws_current_index() in the current pool: workers and spare
 * threads.  Scratch space per worker is sized by it.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.
 * May allocate: creates the global pool at its first use.
 * Owns: nothing.
 * Returns: the number, at least ws_current_num_workers(); 0 when the global
 * pool cannot be had.
 */
WS_API unsigned ws_worker_slots(void);

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
