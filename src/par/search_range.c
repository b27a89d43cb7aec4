/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search_range.c: ws_find_first and ws_find_any.
 *
 * The best index so far is shared; a piece that begins behind it is dropped,
 * and for "any" every piece is.
 *
 * Layer: par.
 */
#include <wsteal/reduce.h>

#include "par/loop.h"

typedef struct {
    ws_find_fn find;
    void *arg;
    bool first;
    wsi_atomic_u64 best; /* NONE, or an index */
} finding;

#define NONE UINT64_MAX

static void note(finding *f, size_t at)
{
    /* relaxed: checked by the CAS */
    uint64_t best = wsi_u64_load_relaxed(&f->best);
    while (at < best) {
        /* acq_rel: read after the join; in between it only saves work */
        if (wsi_u64_cas_acq_rel(&f->best, &best, at)) {
            return;
        }
    }
}

static int look(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    finding *f = loop->owner;
    size_t at = end;
    (void)acc;
    int code = f->find(begin, end, &at, f->arg);
    if (code == 0 && at < end) {
        note(f, at);
    }
    return code;
}

static bool wanted(const wsi_loop *loop, size_t begin)
{
    const finding *f = loop->owner;
    /* relaxed: an old value costs a block */
    uint64_t best = wsi_u64_load_relaxed(&f->best);
    return f->first ? begin < best : best == NONE;
}

static const wsi_loop_kind kind = {look, NULL, NULL, wanted};

static int run(bool first, size_t begin, size_t end, const ws_for_opts *opts,
               ws_find_fn find, void *arg, size_t *at)
{
    ws_for_opts o;
    wsi_loop loop;
    finding f = {.find = find, .arg = arg, .first = first};
    if (wsi_opts_check(&o, opts) != WS_OK || begin > end || find == NULL ||
        at == NULL) {
        return WS_EINVAL;
    }
    wsi_u64_init(&f.best, NONE);
    wsi_loop_init(&loop, &kind, 0, &f, &o);
    int code = wsi_loop_run(&loop, begin, end, NULL, &o);
    if (code == 0) {
        /* relaxed: all pieces have been joined */
        uint64_t best = wsi_u64_load_relaxed(&f.best);
        *at = best == NONE ? end : (size_t)best;
    }
    return code;
}

int ws_find_first(size_t begin, size_t end, const ws_for_opts *opts,
                  ws_find_fn find, void *arg, size_t *at)
{
    return run(true, begin, end, opts, find, arg, at);
}

int ws_find_any(size_t begin, size_t end, const ws_for_opts *opts,
                ws_find_fn find, void *arg, size_t *at)
{
    return run(false, begin, end, opts, find, arg, at);
}
