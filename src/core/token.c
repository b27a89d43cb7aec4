/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * token.c: contract in token.h; any thread.
 *
 * Tokens of tokens form chains: the first parent is what was given last, mostly
 * a plain token, the second what was in force before.  So loops go along the
 * second parents, and only the first ones recurse.
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
    for (; inner != NULL; inner = inner->parents[1]) {
        if (inner == outer || (inner->parents[0] != NULL &&
                               answers_for(inner->parents[0], outer))) {
            return true;
        }
    }
    return false;
}

/* Whether a parent of a token can never be canceled any more: the token has the
 * only share of it. */
static bool is_dead(const ws_token *parent)
{
    /* acquire: who canceled it had a share, and has released that since */
    return parent->parents[0] == NULL &&
           wsi_u32_load_acquire(&parent->shares) == 1 &&
           !wsi_token_is_cancelled(parent);
}

/* What of a token can still be canceled, so that jobs which make a token each
 * and pass it on do not heap them up. */
static ws_token *living_part(ws_token *token)
{
    while (token != NULL && token->parents[0] != NULL) {
        if (is_dead(token->parents[0])) {
            token = token->parents[1];
        } else if (is_dead(token->parents[1])) {
            token = token->parents[0];
        } else {
            break;
        }
    }
    return token;
}

ws_token *wsi_token_both(ws_token *a, ws_token *b)
{
    ws_token *token = answers_for(a, b) ? a : answers_for(b, a) ? b : NULL;
    if (token == NULL && a != NULL && b != NULL) {
        token = wsi_token_new();
        if (token != NULL) {
            token->parents[0] = a;
            token->parents[1] = living_part(b);
            wsi_token_retain(a);
            wsi_token_retain(token->parents[1]);
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
    while (token != NULL && wsi_u32_fetch_sub_acq_rel(&token->shares, 1) == 1) {
        ws_token *next = token->parents[1];
        wsi_token_release(token->parents[0]);
        wsi_mem_free(token);
        token = next;
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
    for (; token != NULL; token = token->parents[1]) {
        /* acquire: pairs with wsi_token_cancel() */
        if (wsi_u32_load_acquire(&token->canceled) != 0 ||
            (token->parents[0] != NULL &&
             wsi_token_is_cancelled(token->parents[0]))) {
            return true;
        }
    }
    return false;
}
