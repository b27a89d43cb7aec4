/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * wsteal.h: an embeddable work-stealing thread pool for C programs.
 *
 * Concepts
 *  - A *pool* owns a fixed number of *workers*: threads, each with a deque of
 *    jobs.  A worker runs its own newest job first; a worker without jobs
 *    steals the oldest job of another.
 *  - ws_join() runs two functions, perhaps in parallel; ws_spawn() detaches a
 *    job; ws_broadcast() runs one on every worker; ws_pool_install() enters a
 *    pool from any other thread (task.h).
 *  - ws_scope() runs a tree of jobs whose size nobody knows (scope.h).
 *  - ws_for() and ws_for_2d() run loops that need no grain (loop.h);
 *    ws_reduce(), ws_find_first() and their kin make one result from many
 *    indices (reduce.h); ws_filter(), ws_scan() and others make arrays from
 *    arrays (array.h).
 *  - ws_sort() and ws_stable_sort() sort arrays in the pool (sort.h);
 *    WS_SORT_DEFINE() makes the fastest sorts, for one type (sort_define.h).
 *  - ws_spliter_run() drives work that can be divided while it runs
 *    (spliter.h), ws_search() searches a graph (search.h).
 *  - ws_pipeline() sends a stream of items through stages (pipeline.h).
 *  - Callbacks return 0 or an error code, which travels to the call that waits;
 *    tokens cancel what is no longer wanted (cancel.h).
 *  - Each thread can have a slot of its own for partial results (local.h).
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

#include <wsteal/array.h>
#include <wsteal/base.h>
#include <wsteal/bitmap.h>
#include <wsteal/cancel.h>
#include <wsteal/deque.h>
#include <wsteal/local.h>
#include <wsteal/loop.h>
#include <wsteal/pipeline.h>
#include <wsteal/reduce.h>
#include <wsteal/scope.h>
#include <wsteal/search.h>
#include <wsteal/sort.h>
#include <wsteal/spliter.h>
#include <wsteal/stats.h>
#include <wsteal/task.h>

WS_BEGIN_DECLS

/** The largest number of workers of one pool. */
#define WS_MAX_WORKERS 1024
/** The smallest and the largest accepted stack size of a worker, in bytes. */
#define WS_MIN_STACK_SIZE ((size_t)64 * 1024)
#define WS_MAX_STACK_SIZE ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 30))

/** What a worker may run while it waits in a call. */
typedef enum ws_wait_policy {
    /** The default of the pool: WS_WAIT_SUBTREE. */
    WS_WAIT_DEFAULT = 0,
    /** Any job of the pool: needs no spare threads, but an unrelated job can
     * run on top of the waiting one, and must not need a lock that the waiting
     * one holds.  When jobs run on top of each other max_depth deep, or half of
     * the thread's stack is used, the worker waits as with WS_WAIT_SUBTREE. */
    WS_WAIT_ANY = 1,
    /** Only jobs that the waiting call's own jobs have spawned, and broadcasts:
     * its own newest jobs, jobs that foreign threads spawned into its scope,
     * and jobs of the thief that runs what it waits for (leapfrogging).  When
     * there is none and the pool has other work, the worker lends its seat to a
     * spare thread and blocks, so that as many threads work as the pool has
     * workers.  When no spare thread can be had, a worker idles; it then also
     * runs what workers of other pools have installed, so that pools that wait
     * for each other go on. */
    WS_WAIT_SUBTREE = 2
} ws_wait_policy;

/** A thread that a spawn handler is asked to start. */
typedef struct ws_thread ws_thread;

/** max_spares of a pool that must not have any. */
#define WS_NO_SPARES (~0u)

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
    /** Spare threads at most (WS_WAIT_SUBTREE), 1 to WS_MAX_WORKERS, or
     * WS_NO_SPARES; default the number of workers, at least 4.  A spare is
     * started when it is first needed, and ends when it was not needed for a
     * second. */
    unsigned max_spares;
    /** How many jobs a worker may run on top of each other, each in a wait of
     * the one below, before it stops taking unrelated ones (WS_WAIT_ANY,
     * ws_yield_now()); default 64. */
    unsigned max_depth;
    /** 1: the calling thread becomes worker 0.  It has index 0 from then on,
     * runs jobs only while it waits in a call of this library, and is the one
     * that must destroy the pool.  Handlers are not called for it. */
    unsigned use_current_thread;
    /** Called in each worker before its first job and after its last, spares
     * included, with its index; NULL = not.  A code other than 0 goes to the
     * error handler.  The start handler may use the pool; the exit handler must
     * not spawn or broadcast, since no worker may be left. */
    int (*start_handler)(unsigned index, void *arg);
    int (*exit_handler)(unsigned index, void *arg);
    /** Gets each code other than 0 that nobody waits for: of detached jobs and
     * of the handlers above; on the thread that ran it; NULL = it is only
     * counted. */
    void (*error_handler)(int code, void *arg);
    /** Starts the pool's threads in the library's place: arranges that another
     * thread calls ws_thread_run(thread), and returns 0.  Other than 0: no
     * thread could be started.  It is called under locks: of this library it
     * may call ws_thread_index(), _name() and _stack_size() only, and it must
     * not wait for the new thread.  Called by ws_pool_create(), and later by
     * workers that need a spare thread; spares that were started so do not end
     * before the pool does.  The pool does not join these threads. */
    int (*spawn_handler)(ws_thread *thread, void *arg);
    /** For the four handlers. */
    void *handler_arg;
} ws_pool_config;

/** Initialiser of a ws_pool_config with all defaults. */
#define WS_POOL_CONFIG_INIT                                                    \
    {                                                                          \
        sizeof(ws_pool_config), 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL,   \
            NULL, NULL, NULL                                                   \
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
 * in range); WS_EINWORKER (use_current_thread in a worker of some pool);
 * WS_ENOMEM; WS_ETHREADS (also when the spawn handler failed).  *out is written
 * on success only.
 */
WS_API int ws_pool_create(ws_pool **out, const ws_pool_config *config);

/**
 * Runs every job that was spawned or installed, including those that they
 * spawn, then stops and joins the workers and frees the pool.
 *
 * In a forked child nothing runs and nothing is joined: the memory is freed.
 *
 * Thread: any but a worker of this pool; of a pool made with
 * use_current_thread only the creator, outside all jobs.  No other call on the
 * pool may begin after this one has.
 * Blocks: until the last job is done and the last thread has ended, or, with a
 * spawn handler, has left ws_thread_run().
 * May run other jobs: the creator's thread; a worker of another pool, as in
 * all its waits.  May allocate: no.
 * Owns: takes `pool` when it returns WS_OK.
 * Returns: WS_OK; WS_EINVAL (pool NULL, or the global pool); WS_EINWORKER:
 * called in a worker of this pool, or not by the creator; nothing changed.
 */
WS_API int ws_pool_destroy(ws_pool *pool);

/**
 * ws_pool_destroy() that gives up after `timeout_ns` nanoseconds.  It returns
 * as soon as the last job is done; it does not wait for jobs when timeout_ns is
 * 0.
 *
 * Thread: as ws_pool_destroy().  No other call on the pool may begin while this
 * one is waiting, but those of its own jobs; after WS_ETIMEDOUT the pool is as
 * before.
 * Blocks: until the last job is done and the threads have ended, at most
 * `timeout_ns` before the last job is done.
 * May run other jobs: the creator's thread; a worker of another pool, as in
 * all its waits.  May allocate: no.
 * Owns: takes `pool` when it returns WS_OK.
 * Returns: as ws_pool_destroy(); WS_ETIMEDOUT: jobs are left, nothing changed.
 */
WS_API int ws_pool_destroy_timeout(ws_pool *pool, uint64_t timeout_ns);

/**
 * Makes the calling thread the worker that `thread` stands for, until the pool
 * ends.  To be called once for each thread that a spawn handler was given, also
 * when ws_pool_create() fails: it then returns at once.
 *
 * Thread: one that is no worker.
 * Blocks: until the pool is destroyed.
 * May run other jobs: yes, all.  May allocate: yes.
 * Owns: takes `thread`; it is gone when the call returns, and the calling
 * thread is no worker any more.
 * Returns: WS_OK; WS_EINVAL (NULL); WS_EINWORKER: the caller is a worker,
 * nothing changed.
 */
WS_API int ws_thread_run(ws_thread *thread);

/**
 * The index that the worker will have.
 *
 * Thread: any, until ws_thread_run() is called.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the index.
 */
WS_API unsigned ws_thread_index(const ws_thread *thread);

/**
 * The name that the pool would have given the thread.
 *
 * Thread: any, until ws_thread_run() is called.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing; the string is valid until ws_thread_run() is called.
 * Returns: never NULL.
 */
WS_API const char *ws_thread_name(const ws_thread *thread);

/**
 * The stack size that the thread should have, in bytes.
 *
 * Thread: any, until ws_thread_run() is called.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the size.
 */
WS_API size_t ws_thread_stack_size(const ws_thread *thread);

/**
 * The number of workers: as many as run, spare threads not counted.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the number; 0 for NULL.
 */
WS_API unsigned ws_pool_num_workers(const ws_pool *pool);

/**
 * ws_worker_slots() of a given pool.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the number; 0 for NULL.
 */
WS_API unsigned ws_pool_worker_slots(const ws_pool *pool);

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
 * Creates the global pool with the given config instead of the default one;
 * once, before anything has used it.
 *
 * Thread: any.  Blocks: until all workers run.  May run other jobs: no.
 * May allocate: yes.
 * Owns: nothing; `config` is read during the call only; NULL = defaults.
 * Returns: WS_OK; WS_EEXIST: there is one, made by an earlier call or at the
 * first use; else as ws_pool_create().
 */
WS_API int ws_pool_global_init(const ws_pool_config *config);

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
