/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * token.c: contract in token.h; any thread.
 *
 * Layer: core.
 */
#include "core/token.h"

#include "port/atomic.h"
#include "port/compiler.h"
#include "port/platform.h"

struct ws_token {
    wsi_atomic_u32 shares;
    wsi_atomic_u32 canceled;
    ws_token *parents[2]; /* constant; with a share of each, or NULL */
};

ws_token *wsi_token_new(void)
{
    ws_token *token = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*token));
    if (token != NULL) {
        wsi_u32_init(&token->shares, 1);
        wsi_u32_init(&token->canceled, 0);
    }
    return token;
}

/* Whether `inner` is canceled whenever `outer` is. */
static bool answers_for(const ws_token *inner, const ws_token *outer)
{
    return inner == outer ||
           (inner != NULL && (answers_for(inner->parents[0], outer) ||
                              answers_for(inner->parents[1], outer)));
}

ws_token *wsi_token_both(ws_token *a, ws_token *b)
{
    ws_token *token = answers_for(a, b) ? a : answers_for(b, a) ? b : NULL;
    if (token == NULL && a != NULL && b != NULL) {
        token = wsi_token_new();
        if (token != NULL) {
            token->parents[0] = a;
            token->parents[1] = b;
            wsi_token_retain(a);
            wsi_token_retain(b);
        }
        return token;
    }
    token = token != NULL ? token : a != NULL ? a : b;
    wsi_token_retain(token);
    return token;
}

void wsi_token_retain(ws_token *token)
{
    if (token != NULL) {
        /* relaxed: the caller has a share */
        wsi_u32_fetch_add_relaxed(&token->shares, 1);
    }
}

void wsi_token_release(ws_token *token)
{
    /* acq_rel: the last one comes after all that the others did */
    if (token != NULL && wsi_u32_fetch_sub_acq_rel(&token->shares, 1) == 1) {
        wsi_token_release(token->parents[0]);
        wsi_token_release(token->parents[1]);
        wsi_mem_free(token);
    }
}

void wsi_token_cancel(ws_token *token)
{
    if (token != NULL) {
        /* release: pairs with the acquire in wsi_token_is_cancelled() */
        wsi_u32_store_release(&token->canceled, 1);
    }
}

bool wsi_token_is_cancelled(const ws_token *token)
{
    /* acquire: pairs with wsi_token_cancel() */
    return token != NULL && (wsi_u32_load_acquire(&token->canceled) != 0 ||
                             wsi_token_is_cancelled(token->parents[0]) ||
                             wsi_token_is_cancelled(token->parents[1]));
}
