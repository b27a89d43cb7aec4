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

#include "core/fifo.h"
#include "core/half.h"
#include "core/job.h"
#include "core/latch.h"
#include "core/mail.h"
#include "core/seats.h"
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
    wsi_atomic_u64 lent;
    wsi_atomic_u64 max_depth;
} wsi_counters;

/* What a spawn handler gets. */
struct ws_thread {
    wsi_worker *worker;
    char name[16];
};

/* A height of a worker's deque, below which a frame has no jobs: of each open
 * scope and each wait.  What pops deeper (a yield, a wait for an outer scope,
 * any wait under WS_WAIT_ANY) lowers them: all that stood above is gone. */
typedef struct wsi_mark {
    uint64_t at;
    struct wsi_mark *outer;
} wsi_mark;

struct wsi_worker {
    _Alignas(WSI_CACHE_LINE) wsi_deque deque;
    /* The worker's own. */
    ws_pool *pool;           /* constant */
    wsi_half_head half_head; /* of every join; its kind is the context */
    unsigned index;          /* constant */
    unsigned n_runs;         /* for the fairness interval */
    unsigned depth;        /* jobs from queues that run on top of each other */
    uint64_t n_scopes;     /* that it has opened: the next one's id */
    wsi_mark *marks;       /* innermost first */
    bool spare;            /* constant: index >= n_workers */
    bool adopted;          /* the creator's thread */
    uintptr_t stack_floor; /* unrelated jobs only above it; 0 = not known */
    uint64_t random;       /* xorshift64* state */
    wsi_slab_cache small;
    wsi_slab_cache large;
    wsi_thread thread;
    ws_thread handle; /* for the spawn handler */
    wsi_fifo fifo;    /* of ws_spawn_fifo() on this worker */
    wsi_mail mail;    /* jobs for this worker and no other */
    /* Shared. */
    wsi_latch terminate;
    wsi_atomic_u64 serving; /* scope of what the deque holds, or 0: subtree.c */
    wsi_atomic_u32 mixed;   /* 1: the deque may hold jobs of several subtrees */
    wsi_atomic_u32 called;  /* 1: mail, or a job for its inbox, has come */
    wsi_atomic_u32 stuck;   /* 1: it waits, and no spare could take its seat */
    wsi_counters counters;
};

/* A checked config, plus hooks that only tests set. */
typedef struct {
    ws_pool_config config; /* no field is 0 that has another default */
    bool may_shrink; /* run with fewer threads if the system refuses some */
    bool subtree;
    unsigned n_spares;
    uint64_t first_index; /* of deques: hook for wrap-around */
    uint32_t first_event; /* of the sleep module: likewise */
    uint64_t patience_ns; /* of spare threads that are not needed */
} wsi_pool_plan;

struct ws_pool {
    wsi_sleep sleep;
    wsi_injector injector;
    wsi_fifo visitors;   /* jobs for which workers of other pools wait */
    wsi_atomic_u32 open; /* the handle, and each piece of work from outside */
    wsi_atomic_u32 refs;
    wsi_atomic_u32 gate;    /* what started threads wait for */
    wsi_atomic_ptr stopper; /* wsi_gate of a worker elsewhere that stops it */
    wsi_atomic_u32
        lodgers; /* threads of the spawn handler that have not left */
    wsi_seats seats;
    /* Constant once the gate is open. */
    wsi_worker *workers; /* n_slots of them: n_workers, then spares */
    unsigned n_workers;
    unsigned n_slots;
    wsi_pool_plan plan;
    wsi_sleep_ops sleep_ops;
    uint64_t process;
    uint64_t search_ns;
    wsi_parker *parkers;
    wsi_seat *spare_seats;
    wsi_slab_depot small;
    wsi_slab_depot large;
};

/* The plan of a config (NULL = defaults): WS_OK, WS_EINVAL or WS_EENV. */
int wsi_pool_plan_make(wsi_pool_plan *plan, const ws_pool_config *config);

/* WS_OK, WS_ENOMEM, WS_ETHREADS or WS_EINWORKER; *out on success only. */
int wsi_pool_start(ws_pool **out, const wsi_pool_plan *plan);

/* Whether the calling thread may stop the pool: WS_OK or WS_EINWORKER. */
int wsi_pool_may_stop(const ws_pool *pool);

/* Lets all work end, joins the workers, drops the handle's reference.  False:
 * jobs were left at `deadline_ns`, nothing changed.  In a forked child only
 * frees. */
bool wsi_pool_stop(ws_pool *pool, uint64_t deadline_ns);

/* Joins or awaits all threads, which are ending. */
void wsi_pool_join_threads(ws_pool *pool);

/* What a thread of the spawn handler does. */
void wsi_pool_lodge(wsi_worker *w);

/* This process is a child that was forked from the pool's. */
bool wsi_pool_is_forked(const ws_pool *pool);

/* Holds the pool open for one piece of work.  False: this process is a forked
 * child, which has no workers; nothing to undo. */
bool wsi_pool_enter(ws_pool *pool);
void wsi_pool_leave(ws_pool *pool);
/* The same for who does not hold it; false: the last share is gone. */
bool wsi_pool_reopen(ws_pool *pool);

/* Keeps the memory of the pool. */
void wsi_pool_retain(ws_pool *pool);
void wsi_pool_release(ws_pool *pool);

/* Queues a job from outside a worker and sees to it that somebody comes.
 * False: out of memory, nothing changed. */
bool wsi_pool_inject(ws_pool *pool, wsi_job *job);

/* How jobs that nobody waits for are requeued (job.h). */
wsi_job *wsi_job_inject(wsi_job *job, ws_pool *pool);

/* The same for a job for which a worker of another pool waits. */
void wsi_pool_visit(ws_pool *pool, wsi_task *visitor);

/* Puts a job into the mail of worker `index`, which alone will run it. */
void wsi_pool_mail(ws_pool *pool, unsigned index, wsi_letter *letter);

/* A worker may have something new to see that no queue shows: wakes it. */
void wsi_pool_call(ws_pool *pool, unsigned index);

/* A code for which nobody waits: counted, and given to the error handler.  On
 * worker `w`. */
void wsi_pool_error(wsi_worker *w, int code);

/* The process-wide pool, created if needed; codes as ws_pool_create(). */
int wsi_pool_global(ws_pool **out);
/* Creates it: also WS_EEXIST. */
int wsi_pool_global_start(const ws_pool_config *config);
bool wsi_pool_is_global(const ws_pool *pool);
/* Stops it if there is one: WS_OK or WS_EINWORKER. */
int wsi_pool_global_stop(void);

#endif
