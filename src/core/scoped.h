/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scoped.h: a set of jobs that somebody waits for.
 *
 * A scope lives in the frame of the call that opened it, on the *opener's*
 * thread: mostly a worker of the scope's pool, for a scope in place perhaps a
 * worker of another pool or a foreign thread.
 *
 * Counting.  Whoever takes the last job away opens the gate on which the opener
 * waits; after that the scope may be gone.  While the body runs, jobs that are
 * spawned and done on the opener's own thread are counted in `local`, without a
 * read-modify-write; all others in `pending`, which begins at BIAS so that it
 * cannot reach 0.  The number of jobs is local + pending - BIAS.  Before it
 * waits, the opener *settles*: it moves `local` to `pending` and takes BIAS
 * away; whoever then brings `pending` to 0 was the last.
 *
 * Guests.  A job that a foreign thread spawns stands in the pool's injector and
 * in the scope's own list, so that the opener can run it without touching jobs
 * of others.  Two references to one record {claims}: who comes first runs the
 * job, who comes second frees the record, which may be after the scope.
 *
 * Layer: core.  See src/README.md, "Scope".
 */
#ifndef WSI_CORE_SCOPED_H
#define WSI_CORE_SCOPED_H

#include <stdbool.h>

#include <wsteal/scope.h>

#include "core/context.h"
#include "core/fifo.h"
#include "core/gate.h"
#include "core/mail.h"
#include "core/record.h"

struct ws_scope {
    ws_pool *pool;      /* constant; NULL: none could be had, jobs run inline */
    wsi_worker *opener; /* constant; NULL: a foreign thread */
    const void *thread; /* constant; identifies the opener's thread */
    unsigned depth;     /* constant; of the opener when it opened the scope */
    unsigned flags;     /* constant */
    uint64_t id;        /* constant; unique in the pool, 0: nobody leapfrogs */
    uint64_t mark;      /* constant; of the opener's deque */
    const wsi_context *context; /* of its jobs; constant */
    wsi_context own;            /* that, of a fail-fast scope */
    uint64_t local;             /* the opener's */
    wsi_atomic_ptr biased; /* the opener while it counts in `local`, or NULL */
    wsi_atomic_u64 pending;
    wsi_atomic_u32 code;    /* the first code of a job that is not 0 */
    wsi_atomic_u32 dropped; /* 1: a job was */
    wsi_fifo fifo;          /* jobs of a FIFO scope that have not started */
    wsi_mail guests;
    wsi_gate gate;
};

/* Opens a scope of `pool` (NULL: jobs run inline) on the calling thread. */
void wsi_scope_open(struct ws_scope *scope, ws_pool *pool, unsigned flags);

/* Waits until no job is left; true.  False: the deadline came first. */
bool wsi_scope_wait(struct ws_scope *scope, uint64_t deadline_ns);

/* The code of a scope whose body returned `code`, when no job is left. */
int wsi_scope_close(struct ws_scope *scope, int code);

/* Whether a job must be dropped instead of run. */
bool wsi_scope_stopped(const struct ws_scope *scope);

/* Records that one was. */
void wsi_scope_note_dropped(struct ws_scope *scope);

/* Records the code of a job. */
void wsi_scope_note(struct ws_scope *scope, int code);

/* `n` jobs more; one job less, after which the scope may be gone. */
void wsi_scope_hold(struct ws_scope *scope, uint64_t n);
void wsi_scope_done(struct ws_scope *scope);

/* Queues a task whose kind is set, for any worker of the pool.  False: out of
 * memory, nothing changed. */
bool wsi_scope_add(struct ws_scope *scope, wsi_task *task);

/* Runs fn(scope, arg), or drop(arg) if that is not NULL when the scope has
 * stopped, on the calling thread. */
void wsi_scope_run(struct ws_scope *scope, ws_scope_fn fn, void *arg,
                   ws_drop_fn drop);

#endif
