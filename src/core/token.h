/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * token.h: cancellation tokens: a flag with shares, and up to two parents.
 *
 * A token is canceled when its own flag is set or a parent is canceled.  Only
 * tokens made by wsi_token_both() have parents: they stand for two tokens that
 * are in force at once.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_TOKEN_H
#define WSI_CORE_TOKEN_H

#include <stdbool.h>

#include <wsteal/cancel.h>

/* With one share for the caller; NULL: out of memory. */
ws_token *wsi_token_new(void);

/* A share of a token that is canceled when one of the two is, which may be one
 * of them; NULL: out of memory. */
ws_token *wsi_token_both(ws_token *a, ws_token *b);

/* NULL is ignored by all of these. */
void wsi_token_retain(ws_token *token);
void wsi_token_release(ws_token *token);
void wsi_token_cancel(ws_token *token);
bool wsi_token_is_cancelled(const ws_token *token);

#endif
