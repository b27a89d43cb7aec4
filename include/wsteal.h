/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * wsteal.h: an embeddable work-stealing thread pool for C programs.
 *
 * Concepts
 *  - A *pool* owns a fixed number of *workers*: threads, each with a deque of
 *    jobs.  A worker runs its own newest job first; a worker without jobs
 *    steals the oldest job of another.
 *  - ws_join() runs two functions, perhaps in parallel; ws_scope() runs a tree
 *    of jobs whose size nobody knows; ws_spawn() detaches a job;
 *    ws_pool_install() enters a pool from any other thread (task.h).
 *  - The deque and the injector can be used without a pool (deque.h).
 *
 * Thread rules
 *  - Every function says under *Thread* who may call it.  A pool's handle may
 *    be used by all threads at once; ws_pool_destroy() must be the last call.
 *  - Workers block all signals but the synchronous ones (SIGSEGV, SIGBUS, ...),
 *    so that the program's signals reach the program's own threads.
 *  - fork(): the child has no workers.  Calls that would need them return
 *    WS_EFORKED there instead of hanging; ws_pool_destroy() frees the memory.
 *    A child that is forked inside a worker goes on alone, but a call that
 *    another worker was helping at that moment does not end in it: there, call
 *    exec or _exit.  Processes are told apart by their process id.
 *  - The library never exits, aborts or prints, has no static constructors or
 *    destructors, and keeps no state of a foreign thread after a call returns.
 *
 * Environment (read when a pool is created)
 *  - WSTEAL_NUM_THREADS: workers of a pool whose config says 0; a decimal
 *    number from 1 to WS_MAX_WORKERS; 0 or empty = the machine.
 *  - WSTEAL_FENCES=seqcst: never use membarrier(2).
 *
 * A complete program, the smallest use of a pool:
 *
 * @code
 * #include <stdio.h>
 * #include <wsteal.h>
 *
 * struct range {
 *     long begin, end, sum;
 * };
 *
 * static int sum(void *arg)
 * {
 *     struct range *r = arg;
 *     if (r->end - r->begin < 1000) {
 *         for (r->sum = 0; r->begin < r->end; r->begin++) {
 *             r->sum += r->begin;
 *         }
 *         return 0;
 *     }
 *     long middle = r->begin + (r->end - r->begin) / 2;
 *     struct range left = {r->begin, middle, 0};
 *     struct range right = {middle, r->end, 0};
 *     int code = ws_join(sum, &left, sum, &right);
 *     r->sum = left.sum + right.sum;
 *     return code;
 * }
 *
 * int main(void)
 * {
 *     ws_pool *pool;
 *     struct range all = {0, 1000000, 0};
 *     int code = ws_pool_create(&pool, NULL);
 *     if (code == WS_OK) {
 *         code = ws_pool_install(pool, sum, &all);
 *         ws_pool_destroy(pool);
 *     }
 *     printf("%ld (%s)\n", all.sum, ws_strerror(code));
 *     return code != 0 || all.sum != 499999500000;
 * }
 * @endcode
 */
#ifndef WSTEAL_H
#define WSTEAL_H

#include <wsteal/base.h>
#include <wsteal/deque.h>
#include <wsteal/stats.h>
#include <wsteal/task.h>

WS_BEGIN_DECLS

/** The largest number of workers of one pool. */
#define WS_MAX_WORKERS 1024
/** The smallest and the largest accepted stack size of a worker, in bytes. */
#define WS_MIN_STACK_SIZE ((size_t)64 * 1024)
#define WS_MAX_STACK_SIZE ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 30))

/** What a worker may run while it waits in a ws_join() or ws_scope(). */
typedef enum ws_wait_policy {
    /** The default of the pool: in this version WS_WAIT_ANY. */
    WS_WAIT_DEFAULT = 0,
    /** Any job of the pool: nobody idles, but an unrelated job can run on top
     * of the waiting one, and must not need a lock that the waiting one holds.
     */
    WS_WAIT_ANY = 1,
    /** Only jobs that the waiting call's own jobs have spawned: its own newest
     * jobs, then jobs of the thief that runs the stolen half (leapfrogging).
     * Locks and thread-local state are safe across the call; a worker can
     * idle.  Two things void this for the call and for all calls that wait for
     * it: jobs that foreign threads spawn into a scope (its waiter then also
     * runs jobs from the injector), and ws_pool_install() into another pool
     * from a worker (it goes on working for its own pool meanwhile). */
    WS_WAIT_SUBTREE = 2
} ws_wait_policy;

/** How to make a pool.  Start from WS_POOL_CONFIG_INIT; 0 and NULL always mean
 * the default, so that fields can be added at the end. */
typedef struct ws_pool_config {
    /** Set by WS_POOL_CONFIG_INIT.  A smaller one (an older program) is
     * accepted, what it lacks is default; bytes beyond the struct of the
     * library must be 0. */
    size_t struct_size;
    /** Workers, 1 to WS_MAX_WORKERS.  0 = WSTEAL_NUM_THREADS, else the CPUs
     * this process may use: min(online, affinity, cgroup quota rounded up). */
    unsigned num_threads;
    /** ws_wait_policy. */
    unsigned wait_policy;
    /** Stack of each worker in bytes, WS_MIN_STACK_SIZE to WS_MAX_STACK_SIZE;
     * default 8 MiB, never taken from RLIMIT_STACK. */
    size_t stack_size;
    /** Threads are named ws-<name>-<index>, cut to what the system keeps (15
     * bytes on Linux); the index stays whole.  Default "pool".  Copied. */
    const char *name;
    /** How long a worker without jobs searches before it sleeps, in
     * microseconds, at most 1,000,000; default 50.  Measured in time, since the
     * cost of a pause instruction differs tenfold between CPUs. */
    unsigned search_us;
    /** Every so many jobs a worker looks at the injector before its own deque,
     * so that endless local work cannot starve what comes from outside;
     * default 61.  With WS_WAIT_SUBTREE only when its own deque is empty. */
    unsigned fairness_interval;
    /** Jobs a worker's deque holds before it first grows, rounded up to a
     * power of two, at most 2^30 (2^28 where pointers have 32 bits); default
     * 256. */
    size_t deque_capacity;
} ws_pool_config;

/** Initialiser of a ws_pool_config with all defaults. */
#define WS_POOL_CONFIG_INIT                                                    \
    {                                                                          \
        sizeof(ws_pool_config), 0, 0, 0, NULL, 0, 0, 0                         \
    }

/**
 * Makes a pool and starts its workers.
 *
 * When the system refuses threads, a pool of a stated size is not made; a pool
 * of automatic size starts with as many workers as could be had, if at least
 * one (ws_pool_num_workers() tells).  A call that fails leaves nothing behind
 * and can be tried again.
 *
 * Thread: any.  Blocks: until all workers run.  May run other jobs: no.
 * May allocate: yes.
 * Owns: the caller releases *out with ws_pool_destroy().  `config` is read
 * during the call only; NULL = defaults.
 * Returns: WS_OK; WS_EINVAL (out NULL, a field out of its range, unknown bytes
 * that are not 0); WS_EENV (WSTEAL_NUM_THREADS is consulted and is not a number
 * in range); WS_ENOMEM; WS_ETHREADS.  *out is written on success only.
 */
WS_API int ws_pool_create(ws_pool **out, const ws_pool_config *config);

/**
 * Runs every job that was spawned or installed, including those that they
 * spawn, then stops and joins the workers and frees the pool.
 *
 * In a forked child nothing runs and nothing is joined: the memory is freed.
 *
 * Thread: any but a worker of this pool; no other call on the pool may begin
 * after this one has.
 * Blocks: until the last job is done and the last thread has ended.
 * May run other jobs: no.  May allocate: no.
 * Owns: takes `pool` when it returns WS_OK.
 * Returns: WS_OK; WS_EINVAL (pool NULL, or the global pool); WS_EINWORKER:
 * called in a worker of this pool, nothing changed.
 */
WS_API int ws_pool_destroy(ws_pool *pool);

/**
 * The number of workers.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the number; 0 for NULL.
 */
WS_API unsigned ws_pool_num_workers(const ws_pool *pool);

/**
 * The process-wide pool that is used outside any worker; created by the first
 * call that needs it, with the default config, and alive until
 * ws_pool_global_destroy() or the end of the process.
 *
 * Thread: any.  Blocks: the first call, until all workers run.
 * May run other jobs: no.  May allocate: the first call.
 * Owns: nothing: do not destroy *out.
 * Returns: WS_OK; WS_EINVAL (out NULL); else as ws_pool_create(), and the next
 * call tries again.  *out is written on success only.
 */
WS_API int ws_pool_global(ws_pool **out);

/**
 * Destroys the global pool as ws_pool_destroy() does; a later use makes a new
 * one.  For leak checkers and for libraries that are unloaded.
 *
 * Thread: any but its workers, when no other thread uses the global pool.
 * Blocks: as ws_pool_destroy().  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: WS_OK, also when there was none; WS_EINWORKER.
 */
WS_API int ws_pool_global_destroy(void);

WS_END_DECLS

#endif
