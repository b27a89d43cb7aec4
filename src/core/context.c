/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * context.c: contract in context.h.
 *
 * Any thread, each about itself; the chain of contexts above a job is constant
 * while the job exists.
 *
 * Layer: core.
 */
#include "core/context.h"

#include "core/half.h"
#include "core/worker.h"

const wsi_context wsi_context_root = {.halves = {wsi_half_run, NULL}};

/* Of a thread that is no worker; NULL = the root. */
static WSI_THREAD_LOCAL const wsi_context *foreign;

const wsi_context *wsi_context_current(void)
{
    const wsi_worker *w = wsi_current_worker;
    if (w != NULL) {
        return wsi_worker_context(w);
    }
    return foreign != NULL ? foreign : &wsi_context_root;
}

const wsi_context *wsi_context_switch(const wsi_context *to)
{
    const wsi_context *before = wsi_context_current();
    if (wsi_current_worker != NULL) {
        wsi_worker_set_context(wsi_current_worker, to);
    } else {
        foreign = to;
    }
    return before;
}

void wsi_context_init(wsi_context *context, const wsi_context *outer,
                      ws_token *token)
{
    context->halves = wsi_context_root.halves;
    context->outer = outer;
    context->token = token;
    wsi_u32_init(&context->stopped, 0);
}

bool wsi_context_stopped(const wsi_context *context)
{
    /* The token of the innermost context answers for the outer ones. */
    if (wsi_token_is_cancelled(context->token)) {
        return true;
    }
    for (; context->outer != NULL; context = context->outer) {
        /* acquire: pairs with wsi_context_stop() */
        if (wsi_u32_load_acquire(&context->stopped) != 0) {
            return true;
        }
    }
    return false;
}
