/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * registry.h: the pool's own data: its workers and what they share.
 *
 * Life of a pool: wsi_pool_start() builds it and starts the threads; every
 * piece of work from outside holds it open (wsi_pool_enter/leave); the last
 * leave after wsi_pool_stop() began sets each worker's terminate latch, the
 * threads end, stop joins them; the memory goes with the last reference.
 *
 * Invariants
 *  I1  Everything is initialised before the first worker passes the gate.
 *  I2  open > 0 while any job exists: no worker terminates under a job.
 *  I3  refs > 0 while anybody may touch the memory: the handle, and each setter
 *      of a latch on which a worker of this pool waits from another pool.
 *
 * Layer: core.  See src/README.md, "Shutdown".
 */
#ifndef WSI_CORE_REGISTRY_H
#define WSI_CORE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/half.h"
#include "core/job.h"
#include "core/latch.h"
#include "core/slab.h"
#include "core/sleep.h"
#include "port/platform.h"
#include "queue/deque.h"
#include "queue/injector.h"
#include <wsteal.h>

/* Written by their worker only, read by anybody. */
typedef struct {
    wsi_atomic_u64 jobs;
    wsi_atomic_u64 steals;
    wsi_atomic_u64 injected;
    wsi_atomic_u64 forced;
    wsi_atomic_u64 sleeps;
    wsi_atomic_u64 wakes;
    wsi_atomic_u64 errors;
} wsi_counters;

struct wsi_worker {
    _Alignas(WSI_CACHE_LINE) wsi_deque deque;
    /* The worker's own. */
    ws_pool *pool;           /* constant */
    wsi_half_head half_head; /* of every join; constant */
    unsigned index;          /* constant */
    unsigned n_runs;         /* for the fairness interval */
    uint64_t random;         /* xorshift64* state */
    wsi_slab_cache slab;
    wsi_thread thread;
    /* Shared. */
    wsi_latch terminate;
    wsi_atomic_ptr serving; /* the scope whose stolen job runs here, or NULL */
    wsi_atomic_u32 mixed;   /* 1: the deque may hold jobs of several subtrees */
    wsi_counters counters;
};

struct ws_pool {
    wsi_sleep sleep;
    wsi_injector injector;
    wsi_atomic_u32 open; /* the handle, and each piece of work from outside */
    wsi_atomic_u32 refs;
    wsi_atomic_u32 gate; /* what started threads wait for */
    /* Constant once the gate is open. */
    wsi_worker *workers;
    unsigned n_workers;
    wsi_sleep_ops sleep_ops;
    uint64_t process;
    bool subtree;
    unsigned fairness_interval;
    uint64_t search_ns;
    wsi_parker *parkers;
    wsi_slab_depot depot;
};

/* A checked config, plus hooks that only tests set. */
typedef struct {
    unsigned num_threads;
    bool may_shrink; /* run with fewer threads if the system refuses some */
    bool subtree;
    size_t stack_size;
    const char *name;
    uint64_t search_ns;
    unsigned fairness_interval;
    size_t deque_capacity;
    uint64_t first_index; /* of deques: hook for wrap-around */
    uint32_t first_event; /* of the sleep module: likewise */
} wsi_pool_plan;

/* The plan of a config (NULL = defaults): WS_OK, WS_EINVAL or WS_EENV. */
int wsi_pool_plan_make(wsi_pool_plan *plan, const ws_pool_config *config);

/* WS_OK, WS_ENOMEM or WS_ETHREADS; *out on success only. */
int wsi_pool_start(ws_pool **out, const wsi_pool_plan *plan);

/* Lets all work end, joins the workers, drops the handle's reference.  Not in
 * a worker of the pool.  In a forked child only frees. */
void wsi_pool_stop(ws_pool *pool);

/* Holds the pool open for one piece of work.  False: this process is a forked
 * child, which has no workers; nothing to undo. */
bool wsi_pool_enter(ws_pool *pool);
void wsi_pool_leave(ws_pool *pool);

/* Keeps the memory of the pool. */
void wsi_pool_retain(ws_pool *pool);
void wsi_pool_release(ws_pool *pool);

/* Queues a job from outside a worker and sees to it that somebody comes.
 * False: out of memory, nothing changed. */
bool wsi_pool_inject(ws_pool *pool, wsi_job *job);

/* The process-wide pool, created if needed; codes as ws_pool_create(). */
int wsi_pool_global(ws_pool **out);
bool wsi_pool_is_global(const ws_pool *pool);
/* Stops it if there is one: WS_OK or WS_EINWORKER. */
int wsi_pool_global_stop(void);

#endif
