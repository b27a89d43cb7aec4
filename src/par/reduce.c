/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * reduce.c: ws_reduce, divided on demand or in a fixed way.
 *
 * Layer: par.
 */
#include <wsteal/reduce.h>

#include <wsteal/task.h>

#include "par/loop.h"

/* Of a fixed tree that the caller gives no max_grain. */
#define FIXED_LEAVES 1024

typedef struct {
    const ws_reducer *r;
    void *arg;
} reduction;

static int fold_block(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    const reduction *red = loop->owner;
    return red->r->fold(begin, end, acc, red->arg);
}

static void start_right(wsi_loop *loop, size_t at, void *acc)
{
    const reduction *red = loop->owner;
    (void)at;
    red->r->identity(acc, red->arg);
}

static int merge_right(wsi_loop *loop, void *acc, void *right)
{
    const reduction *red = loop->owner;
    return red->r->combine(acc, right, red->arg);
}

static const wsi_loop_kind kind = {fold_block, start_right, merge_right, NULL};

/* ---- the fixed tree -------------------------------------------------- */

/* Leaf k covers `leaf` indices from k * leaf; each has an accumulator that
 * starts anew, and they are merged two by two. */
typedef struct {
    reduction red;
    size_t begin;
    size_t end;
    size_t leaf;
    wsi_loop *loop;
} tree;

typedef struct {
    const tree *t;
    size_t first; /* leaf */
    size_t n;     /* leaves */
    void *acc;    /* started */
} branch;

static int run_branch(void *arg);

static int fold_leaf(const branch *b)
{
    const tree *t = b->t;
    size_t begin = t->begin + b->first * t->leaf;
    size_t left = t->end - begin;
    return wsi_loop_block(t->loop, begin,
                          begin + (left < t->leaf ? left : t->leaf), b->acc);
}

static int run_halves(void *acc, void *arg)
{
    const branch *b = arg;
    const reduction *red = &b->t->red;
    size_t half = b->n - b->n / 2;
    branch left = {b->t, b->first, half, b->acc};
    branch right = {b->t, b->first + half, b->n - half, acc};
    red->r->identity(acc, red->arg);
    ws_join(run_branch, &left, run_branch, &right);
    return red->r->combine(b->acc, acc, red->arg);
}

static int run_branch(void *arg)
{
    const branch *b = arg;
    wsi_loop *loop = b->t->loop;
    int code;
    if (b->n == 0 || wsi_loop_stopped(loop)) {
        return 0;
    }
    if (b->n == 1) {
        code = fold_leaf(b);
    } else if (!wsi_with_acc(b->t->red.r->size, run_halves, arg, &code)) {
        code = WS_ENOMEM;
    }
    if (code != 0) {
        wsi_loop_fail(loop, code);
    }
    return 0;
}

static int run_fixed(wsi_loop *loop, size_t begin, size_t end, void *acc,
                     const ws_for_opts *opts)
{
    tree t = {*(const reduction *)loop->owner, begin, end, opts->max_grain,
              loop};
    size_t n = end - begin;
    if (t.leaf == 0) {
        t.leaf = n > FIXED_LEAVES ? (n - 1) / FIXED_LEAVES + 1 : 1;
    }
    branch root = {&t, 0, n > 0 ? (n - 1) / t.leaf + 1 : 0, acc};
    int code = wsi_under_token(opts->token, run_branch, &root);
    return code != 0 ? code : wsi_loop_result(loop);
}

/* ---- the call -------------------------------------------------------- */

static bool is_whole(const ws_reducer *r)
{
    return r != NULL && r->size > 0 && r->identity != NULL && r->fold != NULL &&
           r->combine != NULL;
}

int ws_reduce(size_t begin, size_t end, const ws_for_opts *opts,
              const ws_reducer *reducer, void *result, void *arg)
{
    ws_for_opts o;
    wsi_loop loop;
    reduction red = {reducer, arg};
    if (wsi_opts_check(&o, opts) != WS_OK || begin > end ||
        (o.flags & WS_FOR_STATIC) != 0 || !is_whole(reducer) ||
        result == NULL) {
        return WS_EINVAL;
    }
    wsi_loop_init(&loop, &kind, reducer->size, &red, &o);
    reducer->identity(result, arg);
    return o.flags & WS_FOR_FIXED ? run_fixed(&loop, begin, end, result, &o)
                                  : wsi_loop_run(&loop, begin, end, result, &o);
}
