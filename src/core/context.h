/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * context.h: what a job inherits from the job that made it.
 *
 * A context is a tree's answer to "should this stop?": a fail-fast call or
 * ws_with_token() puts one into its frame, and all jobs made below it run in
 * it.  The frame outlives them; detached jobs, which it does not outlive, take
 * a share of its token instead (api/spawn.c).
 *
 * To carry the context costs a fork nothing: a worker's current context is the
 * *kind* of the halves that it forks, so ws_join() copies it with the rest of
 * the head (half.h), and a thief finds it there.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_CONTEXT_H
#define WSI_CORE_CONTEXT_H

#include <stdbool.h>

#include "core/job.h"
#include "core/token.h"
#include "port/atomic.h"

typedef struct wsi_context wsi_context;

struct wsi_context {
    wsi_job_kind halves;      /* first: of the halves forked in it */
    const wsi_context *outer; /* NULL: this is the root */
    ws_token
        *token; /* the one in force, which knows about outer ones; or NULL */
    wsi_atomic_u32 stopped; /* 1: the fail-fast call that owns it has failed */
};

/* Of jobs that nothing can stop. */
extern const wsi_context wsi_context_root;

/* The context of the calling thread, worker or not. */
const wsi_context *wsi_context_current(void);

/* Makes `to` the context of the calling thread; returns the one before, to be
 * put back.  In between the thread may become a worker (use_current_thread) or
 * cease to be one: it keeps its context (wsi_worker_attach(), _detach()). */
const wsi_context *wsi_context_switch(const wsi_context *to);

/* A context inside the calling thread's. */
void wsi_context_init(wsi_context *context, const wsi_context *outer,
                      ws_token *token);

/* Jobs of the context should stop. */
bool wsi_context_stopped(const wsi_context *context);

static inline void wsi_context_stop(wsi_context *context)
{
    /* release: what the failed job stored; pairs with wsi_context_stopped() */
    wsi_u32_store_release(&context->stopped, 1);
}

#endif
