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
 * Jobs from threads outside the pool come through the inbox (inbox.h).
 *
 * Tokens.  A scope's jobs run in the context in which it was opened.  A thread
 * that spawns under a token which that context does not know gives the job a
 * token of its own, which stands for both, and the job runs in a context that
 * is inside the scope's.
 *
 * Memory out.  What cannot be queued runs on the thread that spawns it; such a
 * job is *inline*, and may not wait for the scope: `inline_jobs` tells.
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
#include "core/inbox.h"
#include "core/record.h"

struct ws_scope {
    ws_pool *pool;      /* constant; NULL: none could be had, jobs run inline */
    wsi_worker *opener; /* constant; NULL: a foreign thread */
    const void *thread; /* constant; identifies the opener's thread */
    unsigned depth;     /* constant; of the opener when it opened the scope */
    unsigned inlined;   /* constant; inline jobs on its stack at that time */
    unsigned flags;     /* constant */
    uint64_t id;        /* constant; unique in the pool, 0: nobody leapfrogs */
    wsi_mark mark;      /* of the opener's deque; the opener's */
    const wsi_context *context; /* of its jobs; constant */
    wsi_context own;            /* that, of a fail-fast scope */
    uint64_t local;             /* the opener's */
    wsi_atomic_ptr biased; /* the opener while it counts in `local`, or NULL */
    wsi_atomic_u64 pending;
    wsi_atomic_u32 code;    /* the first code of a job that is not 0 */
    wsi_atomic_u32 dropped; /* 1: a job was */
    wsi_fifo fifo;          /* jobs of a FIFO scope that have not started */
    wsi_atomic_ptr inbox;   /* NULL: nothing came from outside yet */
    wsi_gate gate;
};

/* Opens a scope of `pool` (NULL: jobs run inline) on the calling thread. */
void wsi_scope_open(struct ws_scope *scope, ws_pool *pool, unsigned flags);

/* Waits until no job is left; true.  False: the deadline came first. */
bool wsi_scope_wait(struct ws_scope *scope, uint64_t deadline_ns);

/* The code of a scope whose body returned `code`, when no job is left. */
int wsi_scope_close(struct ws_scope *scope, int code);

/* Whether jobs of that context must be dropped instead of run. */
bool wsi_scope_stopped(const struct ws_scope *scope,
                       const wsi_context *context);

/* Records that one was. */
void wsi_scope_note_dropped(struct ws_scope *scope);

/* Records the code of a job. */
void wsi_scope_note(struct ws_scope *scope, int code);

/* `n` jobs more; one job less, after which the scope may be gone. */
void wsi_scope_hold(struct ws_scope *scope, uint64_t n);
void wsi_scope_done(struct ws_scope *scope);

/* Queues a task whose kind is set, for any worker of the pool; where memory is
 * out, runs it, or in a FIFO scope the oldest one. */
void wsi_scope_add(struct ws_scope *scope, wsi_task *task);

/* How its tasks are requeued (job.h). */
wsi_job *wsi_scope_requeue(wsi_job *job, ws_pool *pool);

/* A call that the scope makes: fn(scope, arg), or drop(arg) if that is not NULL
 * and the scope, or the context, has stopped. */
typedef struct {
    ws_scope_fn fn;
    void *arg;
    ws_drop_fn drop;
    const wsi_context *context; /* the scope's, or one inside it */
} wsi_scope_call;

/* Makes it as a job of the scope that was queued. */
void wsi_scope_run(struct ws_scope *scope, const wsi_scope_call *call);

/* The same on the thread that spawns, for which there is no record. */
void wsi_scope_run_inline(struct ws_scope *scope, ws_scope_fn fn, void *arg,
                          ws_drop_fn drop);

/* Whether the calling thread is the opener's, and not inside a job. */
bool wsi_scope_in_body(const struct ws_scope *scope);

/* The calling thread is under no token that jobs of the scope are not under. */
static inline bool wsi_scope_knows_token(const struct ws_scope *scope)
{
    const wsi_context *current = wsi_context_current();
    return current == scope->context || current->token == NULL ||
           current->token == scope->context->token;
}

/* If it is, a share of the token for what it spawns; NULL: out of memory. */
static inline ws_token *wsi_scope_token(const struct ws_scope *scope)
{
    return wsi_token_both(wsi_context_current()->token, scope->context->token);
}

#endif
