/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cancel.c: tokens and ws_cancelled; core/token.c and context.c do the work.
 *
 * Layer: api.
 */
#include <wsteal/cancel.h>

#include "core/context.h"
#include "core/worker.h"

int ws_token_create(ws_token **out)
{
    if (out == NULL) {
        return WS_EINVAL;
    }
    ws_token *token = wsi_token_new();
    if (token == NULL) {
        return WS_ENOMEM;
    }
    *out = token;
    return WS_OK;
}

ws_token *ws_token_retain(ws_token *token)
{
    wsi_token_retain(token);
    return token;
}

void ws_token_release(ws_token *token)
{
    wsi_token_release(token);
}

void ws_token_cancel(ws_token *token)
{
    wsi_token_cancel(token);
}

int ws_token_is_cancelled(const ws_token *token)
{
    return wsi_token_is_cancelled(token);
}

/* On any thread; `own` is the context of fn. */
static int run_in(const wsi_context *own, ws_fn fn, void *arg)
{
    wsi_worker *w = wsi_current_worker;
    bool outermost = w != NULL && wsi_worker_begin_call(w);
    const wsi_context *outer = wsi_context_switch(own);
    int code = fn(arg);
    wsi_context_switch(outer);
    if (w != NULL) {
        wsi_worker_end_call(w, outermost);
    }
    return code;
}

int ws_with_token(ws_token *token, ws_fn fn, void *arg)
{
    if (token == NULL || fn == NULL) {
        return WS_EINVAL;
    }
    const wsi_context *outer = wsi_context_current();
    ws_token *both = wsi_token_both(token, outer->token);
    if (both == NULL) {
        return WS_ENOMEM;
    }
    wsi_context own;
    wsi_context_init(&own, outer, both);
    int code = wsi_context_stopped(&own) ? WS_ECANCELED : run_in(&own, fn, arg);
    wsi_token_release(both);
    return code;
}

int ws_cancelled(void)
{
    const wsi_context *context = wsi_context_current();
    /* Loops ask often, and mostly nothing can stop them. */
    return context != &wsi_context_root && wsi_context_stopped(context);
}
