/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * cancel.h: stopping work that is no longer wanted.
 *
 * A *token* is a flag that any thread can trip once.  ws_with_token() runs a
 * function under a token; everything that the function forks, spawns or
 * installs, in any pool, at any depth, detached jobs included, is under the
 * token too, and also under those that were in force before.
 *
 * Nothing is interrupted: long bodies poll ws_cancelled() and return.  Calls
 * that can skip work (fail-fast scopes and ws_invoke_fail_fast()) start nothing
 * more: each worker begins at most one further body.  A call that skipped
 * something says so: it returns an error, WS_ECANCELED if there is no other;
 * never 0.  ws_join(), plain scopes and plain ws_invoke() run all their bodies
 * in any case; a body that stops early returns a code, and that travels.
 */
#ifndef WSTEAL_CANCEL_H
#define WSTEAL_CANCEL_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** A flag for cancellation, shared by reference counting. */
typedef struct ws_token ws_token;

/**
 * Makes a token that is not canceled.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: yes.
 * Owns: the caller gives *out back with ws_token_release().
 * Returns: WS_OK; WS_EINVAL (out NULL); WS_ENOMEM.  *out is written on success
 * only.
 */
WS_API int ws_token_create(ws_token **out);

/**
 * Takes one more share of the token, to be given back by ws_token_release().
 *
 * Thread: any that has a share.  Blocks: no.  May run other jobs: no.
 * May allocate: no.
 * Owns: one share more; NULL is ignored.
 * Returns: token.
 */
WS_API ws_token *ws_token_retain(ws_token *token);

/**
 * Gives a share back; the last one frees the token.  It can be released while
 * jobs are under it: it stays in force.  Only who still has a share, by
 * ws_token_create() or ws_token_retain(), may cancel it or ask it; that a job
 * is under the token is no such share.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: takes one share; NULL is ignored.
 * Returns: nothing.
 */
WS_API void ws_token_release(ws_token *token);

/**
 * Cancels everything that runs under the token, now and later; there is no way
 * back.  What was stored before the call is seen by who finds ws_cancelled()
 * true.
 *
 * Thread: any that has a share; may be called in a signal handler.
 * Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing; NULL is ignored.
 * Returns: nothing.
 */
WS_API void ws_token_cancel(ws_token *token);

/**
 * Whether the token was canceled.
 *
 * Thread: any that has a share.  Blocks: no.  May run other jobs: no.
 * May allocate: no.
 * Owns: nothing.
 * Returns: 1 or 0; 0 for NULL.
 */
WS_API int ws_token_is_cancelled(const ws_token *token);

/**
 * Runs fn(arg) under the token, on the calling thread.
 *
 * Thread: any.  Blocks: as fn.  May run other jobs: as fn.
 * May allocate: once, when another token is in force.
 * Owns: nothing; holds a share meanwhile.
 * Returns: fn's code; WS_ECANCELED: canceled before, fn did not run; WS_EINVAL
 * (token or fn NULL); WS_ENOMEM: fn did not run.
 */
WS_API int ws_with_token(ws_token *token, ws_fn fn, void *arg);

/**
 * Whether the calling job should stop: a token that it is under was canceled,
 * or a fail-fast call that it is part of has failed.  Costs a few loads.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 or 0.
 */
WS_API int ws_cancelled(void);

WS_END_DECLS

#endif
