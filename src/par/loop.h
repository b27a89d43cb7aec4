/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loop.h: the engine under all that goes over a range of indices.
 *
 * A *piece* is a part of the range that one thread works on from its front.  It
 * is cut in two when somebody wants work, or always while it is longer than
 * max_grain; the second half is forked (ws_join()), so it runs elsewhere or, if
 * nobody took it, here.  What the kind of loop accumulates stands in the frames
 * of the cuts and is merged in the order of the indices.
 *
 * Invariants
 *  P1  Each index is in one piece, or was in a block that has begun; or the
 *      loop has stopped.
 *  P2  At most 64 cuts are open above each other: each halves a piece.
 *  P3  No memory but frames, unless an accumulator is larger than a frame
 *      should be; where that memory is out, the piece is not cut.
 *
 * Layer: par.
 */
#ifndef WSI_PAR_LOOP_H
#define WSI_PAR_LOOP_H

#include <stdbool.h>
#include <stddef.h>

#include <wsteal/loop.h>

#include "port/atomic.h"

typedef struct wsi_loop wsi_loop;

/* What one kind of loop does. */
typedef struct {
    /* Works on a block of a piece with accumulator `acc`. */
    int (*block)(wsi_loop *loop, size_t begin, size_t end, void *acc);
    /* The accumulator of the right half of a cut, which begins at `at`; not
     * called if acc_size is 0. */
    void (*start)(wsi_loop *loop, size_t at, void *acc);
    /* acc = acc and then right; likewise. */
    int (*merge)(wsi_loop *loop, void *acc, void *right);
    /* Whether a piece that begins here is still of use; NULL: yes. */
    bool (*wanted)(const wsi_loop *loop, size_t begin);
} wsi_loop_kind;

struct wsi_loop {
    const wsi_loop_kind *kind;
    size_t acc_size;
    void *owner; /* the kind's own */
    size_t min;  /* at least 1 */
    size_t max;  /* SIZE_MAX: no limit */
    bool slots;
    wsi_atomic_u32 code;    /* the first code that is not 0 */
    wsi_atomic_u32 skipped; /* 1: something was left out */
};

/* Checks the options (NULL = defaults): WS_OK or WS_EINVAL. */
int wsi_opts_check(ws_for_opts *out, const ws_for_opts *opts);

void wsi_loop_init(wsi_loop *loop, const wsi_loop_kind *kind, size_t acc_size,
                   void *owner, const ws_for_opts *opts);

/* Runs the loop over the range with a started accumulator (or NULL, as always
 * with WS_FOR_STATIC): what the public call returns. */
int wsi_loop_run(wsi_loop *loop, size_t begin, size_t end, void *acc,
                 const ws_for_opts *opts);

/* Calls the kind's block, with a slot if the loop has them. */
int wsi_loop_block(wsi_loop *loop, size_t begin, size_t end, void *acc);

/* Records a code; from then on no block begins. */
void wsi_loop_fail(wsi_loop *loop, int code);

/* Whether what has not begun must be left out, as it then is. */
bool wsi_loop_stopped(wsi_loop *loop);

/* What the call returns when all pieces have been joined. */
int wsi_loop_result(const wsi_loop *loop);

/* Calls fn(arg) under the token, if there is one. */
int wsi_under_token(ws_token *token, ws_fn fn, void *arg);

/* Calls fn(arg) in the current pool, from a thread outside; *code is its code.
 * False: no pool could be had, or memory is out, and it was not called. */
bool wsi_in_pool(ws_fn fn, void *arg, int *code);

/* Calls fn(acc, arg) with room for an accumulator; *code is its code.  False:
 * memory is out, and it was not called. */
bool wsi_with_acc(size_t size, int (*fn)(void *acc, void *arg), void *arg,
                  int *code);

#endif
