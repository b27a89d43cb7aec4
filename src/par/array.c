/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * array.c: ws_map, ws_filter and ws_pack.
 *
 * A filter writes what it keeps to the front of each piece; where two pieces
 * meet, the right one's is moved to the end of the left one's.  Pieces are few,
 * so little is moved, and each element is asked once.
 *
 * Layer: par.
 */
#include <wsteal/array.h>

#include <string.h>

#include "par/loop.h"

/* ---- map ------------------------------------------------------------- */

typedef struct {
    const char *in;
    char *out;
    size_t in_size;
    size_t out_size;
    ws_map_fn fn;
    void *arg;
} mapping;

static int map_some(size_t begin, size_t end, void *arg)
{
    const mapping *m = arg;
    int code = 0;
    for (size_t i = begin; code == 0 && i < end; i++) {
        code = m->fn(m->in + i * m->in_size, m->out + i * m->out_size, m->arg);
    }
    return code;
}

int ws_map(const void *in, size_t in_size, void *out, size_t out_size, size_t n,
           const ws_for_opts *opts, ws_map_fn fn, void *arg)
{
    mapping m = {in, out, in_size, out_size, fn, arg};
    if (fn == NULL || (n > 0 && (in == NULL || out == NULL))) {
        return WS_EINVAL;
    }
    return ws_for(0, n, opts, map_some, &m);
}

/* ---- filter ---------------------------------------------------------- */

typedef struct {
    const char *in;
    char *out;
    size_t size;
    ws_keep_fn keep;
    void *arg;
    const unsigned char *flags; /* instead of keep */
} filter;

/* Of a piece. */
typedef struct {
    size_t begin;
    size_t kept;
} harvest;

static bool keeps(const filter *f, size_t i)
{
    return f->flags != NULL ? f->flags[i] != 0
                            : f->keep(f->in + i * f->size, f->arg) != 0;
}

static int filter_some(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    const filter *f = loop->owner;
    harvest *h = acc;
    for (size_t i = begin; i < end; i++) {
        const char *from = f->in + i * f->size;
        char *to = f->out + (h->begin + h->kept) * f->size;
        if (keeps(f, i)) {
            if (to != from) {
                memcpy(to, from, f->size);
            }
            h->kept++;
        }
    }
    return 0;
}

static void start_right(wsi_loop *loop, size_t at, void *acc)
{
    (void)loop;
    *(harvest *)acc = (harvest){at, 0};
}

static int move_right(wsi_loop *loop, void *acc, void *right)
{
    const filter *f = loop->owner;
    harvest *l = acc;
    const harvest *r = right;
    memmove(f->out + (l->begin + l->kept) * f->size,
            f->out + r->begin * f->size, r->kept * f->size);
    l->kept += r->kept;
    return 0;
}

static const wsi_loop_kind kind = {filter_some, start_right, move_right, NULL};

static int run(filter *f, size_t n, const ws_for_opts *opts, size_t *kept)
{
    ws_for_opts o;
    wsi_loop loop;
    harvest all = {0, 0};
    if (wsi_opts_check(&o, opts) != WS_OK || (o.flags & WS_FOR_STATIC) != 0 ||
        f->size == 0 || kept == NULL ||
        (n > 0 && (f->in == NULL || f->out == NULL))) {
        return WS_EINVAL;
    }
    wsi_loop_init(&loop, &kind, sizeof(harvest), f, &o);
    int code = wsi_loop_run(&loop, 0, n, &all, &o);
    if (code == 0) {
        *kept = all.kept;
    }
    return code;
}

int ws_filter(const void *in, void *out, size_t n, size_t size,
              const ws_for_opts *opts, ws_keep_fn keep, void *arg, size_t *kept)
{
    filter f = {in, out, size, keep, arg, NULL};
    return keep != NULL ? run(&f, n, opts, kept) : WS_EINVAL;
}

int ws_pack(const void *in, void *out, size_t n, size_t size,
            const ws_for_opts *opts, const unsigned char *flags, size_t *kept)
{
    filter f = {in, out, size, NULL, NULL, flags};
    return flags != NULL || n == 0 ? run(&f, n, opts, kept) : WS_EINVAL;
}
