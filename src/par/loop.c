/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loop.c: contract in loop.h.
 *
 * Layer: par.  See src/README.md, "Loops".
 */
#include "par/loop.h"

#include <stdlib.h>

#include <wsteal/task.h>

#include "par/pace.h"
#include "port/compiler.h"

#define ALL_FLAGS (WS_FOR_STATIC | WS_FOR_SLOTS | WS_FOR_FIXED)

/* An accumulator up to this size stands in a frame. */
#define ACC_IN_FRAME 256

/* What a thread tries by itself before it enters a pool, which takes it two
 * wakes. */
#define PROBING_OUTSIDE ((uint64_t)10 * WSI_TICKS_PER_US)

typedef struct {
    wsi_loop *loop;
    size_t begin;
    size_t end;
    void *acc;
    wsi_pace pace;
    bool alone; /* it may not be cut */
} piece;

/* ---- options --------------------------------------------------------- */

int wsi_opts_check(ws_for_opts *out, const ws_for_opts *opts)
{
    static const ws_for_opts defaults = WS_FOR_OPTS_INIT;
    *out = opts != NULL ? *opts : defaults;
    if (out->struct_size != sizeof(*out) ||
        (out->flags & ~(unsigned)ALL_FLAGS) != 0 ||
        (out->max_grain != 0 && out->min_grain > out->max_grain)) {
        return WS_EINVAL;
    }
    return WS_OK;
}

void wsi_loop_init(wsi_loop *loop, const wsi_loop_kind *kind, size_t acc_size,
                   void *owner, const ws_for_opts *opts)
{
    loop->kind = kind;
    loop->acc_size = acc_size;
    loop->owner = owner;
    loop->min = opts->min_grain != 0 ? opts->min_grain : 1;
    loop->max = opts->max_grain != 0 ? opts->max_grain : SIZE_MAX;
    loop->slots = (opts->flags & WS_FOR_SLOTS) != 0;
    wsi_u32_init(&loop->code, 0);
    wsi_u32_init(&loop->skipped, 0);
}

/* ---- stopping -------------------------------------------------------- */

void wsi_loop_fail(wsi_loop *loop, int code)
{
    uint32_t none = 0;
    /* acq_rel: release pairs with the join of the pieces, which is what orders
     * the code before it is returned */
    wsi_u32_cas_acq_rel(&loop->code, &none, (uint32_t)code);
}

bool wsi_loop_stopped(wsi_loop *loop)
{
    /* relaxed: a hint */
    if (WSI_UNLIKELY(wsi_u32_load_relaxed(&loop->code) != 0 ||
                     ws_cancelled())) {
        /* relaxed: read after the join */
        wsi_u32_store_relaxed(&loop->skipped, 1);
        return true;
    }
    return false;
}

/* Nothing of the piece is wanted any more. */
static bool ended(const piece *p)
{
    wsi_loop *loop = p->loop;
    if (p->begin == p->end || wsi_loop_stopped(loop)) {
        return true;
    }
    return loop->kind->wanted != NULL && !loop->kind->wanted(loop, p->begin);
}

int wsi_loop_result(const wsi_loop *loop)
{
    /* relaxed, both: all pieces have been joined */
    int code = (int)wsi_u32_load_relaxed(&loop->code);
    bool skipped = wsi_u32_load_relaxed(&loop->skipped) != 0;
    return code == 0 && skipped ? WS_ECANCELED : code;
}

/* ---- slots ----------------------------------------------------------- */

/* A body that runs on this thread, and what it runs on top of. */
typedef struct body {
    const wsi_loop *loop;
    const struct body *outer;
} body;

static WSI_THREAD_LOCAL const body *innermost;

int ws_for_slot(void)
{
    int index = ws_current_index();
    int slot = index >= 0 ? index : 0;
    if (innermost == NULL || !innermost->loop->slots) {
        return -1;
    }
    for (const body *b = innermost->outer; b != NULL; b = b->outer) {
        slot += b->loop == innermost->loop ? (int)ws_worker_slots() : 0;
    }
    return slot;
}

static int call_with_slot(const piece *p, size_t end)
{
    const body here = {p->loop, innermost};
    innermost = &here;
    int code = p->loop->kind->block(p->loop, p->begin, end, p->acc);
    innermost = here.outer;
    return code;
}

/* ---- pieces ---------------------------------------------------------- */

static void run_block(piece *p, size_t n)
{
    wsi_loop *loop = p->loop;
    size_t end = p->begin + n;
    int code = loop->slots ? call_with_slot(p, end)
                           : loop->kind->block(loop, p->begin, end, p->acc);
    p->begin = end;
    if (WSI_UNLIKELY(code != 0)) {
        wsi_loop_fail(loop, code);
    }
}

static void run_piece(piece *p);

static int run_left(void *arg)
{
    run_piece(arg);
    return 0;
}

/* The other half, perhaps on another thread and later. */
static int run_right(void *arg)
{
    piece *p = arg;
    p->pace.last = wsi_ticks();
    run_piece(p);
    return 0;
}

/* Cuts the piece in two and runs both. */
static void cut_with(piece *p, void *acc)
{
    wsi_loop *loop = p->loop;
    size_t middle = p->begin + (p->end - p->begin + 1) / 2;
    piece right = *p;
    right.begin = middle;
    right.acc = acc;
    p->end = middle;
    if (loop->acc_size > 0) {
        loop->kind->start(loop, middle, acc);
    }
    ws_join(run_left, p, run_right, &right);
    if (loop->acc_size > 0) {
        int code = loop->kind->merge(loop, p->acc, acc);
        if (code != 0) {
            wsi_loop_fail(loop, code);
        }
    }
}

static WSI_COLD void cut_with_frame(piece *p)
{
    _Alignas(16) char acc[ACC_IN_FRAME];
    cut_with(p, acc);
}

static WSI_COLD void cut_with_heap(piece *p)
{
    void *acc = malloc(p->loop->acc_size);
    if (acc == NULL) {
        p->alone = true;
        run_piece(p);
        return;
    }
    cut_with(p, acc);
    free(acc);
}

static void cut(piece *p)
{
    size_t size = p->loop->acc_size;
    if (size == 0) {
        cut_with(p, NULL);
    } else if (size <= ACC_IN_FRAME) {
        cut_with_frame(p);
    } else {
        cut_with_heap(p);
    }
}

/* Whether to give half of the n indices away. */
static bool should_cut(const piece *p, size_t n)
{
    const wsi_loop *loop = p->loop;
    if (p->alone || n <= loop->min) {
        return false;
    }
    if (n > loop->max) {
        return true;
    }
    /* What is left must be worth a steal. */
    return p->pace.probe_end == 0 && n > p->pace.block / 2 && ws_hungry();
}

static size_t next_block(const piece *p, size_t n)
{
    size_t block = p->pace.block;
    block = block > p->loop->min ? block : p->loop->min;
    block = block < p->loop->max ? block : p->loop->max;
    return block < n ? block : n;
}

static void run_piece(piece *p)
{
    while (!ended(p)) {
        size_t n = p->end - p->begin;
        if (should_cut(p, n)) {
            cut(p);
            return;
        }
        run_block(p, next_block(p, n));
        if (p->begin < p->end) {
            wsi_pace_step(&p->pace);
        }
    }
}

/* ---- the whole ------------------------------------------------------- */

/* What a thread outside the pool can do at once; the rest is left. */
static void run_probe(piece *p)
{
    while (p->pace.probe_end != 0 && !ended(p)) {
        run_block(p, next_block(p, p->end - p->begin));
        if (p->begin < p->end) {
            wsi_pace_step(&p->pace);
        }
    }
}

typedef struct {
    piece *p;
    bool ran;
} entry;

static int run_inside(void *arg)
{
    entry *e = arg;
    e->ran = true;
    run_piece(e->p);
    return 0;
}

static void run_from_outside(piece *p)
{
    entry e = {p, false};
    run_probe(p);
    if (ended(p)) {
        return;
    }
    ws_pool_install(NULL, run_inside, &e);
    if (!e.ran) {
        /* No pool could be had, or memory is out. */
        p->alone = true;
        run_piece(p);
    }
}

static int run_all(void *arg)
{
    piece *p = arg;
    wsi_loop *loop = p->loop;
    size_t n = p->end - p->begin;
    bool inside = ws_current_index() >= 0;
    if (n <= loop->min) {
        p->alone = true;
        if (!ended(p)) {
            run_block(p, n);
        }
        return 0;
    }
    wsi_pace_begin(&p->pace, n, inside ? WSI_PACE_PROBING : PROBING_OUTSIDE);
    if (n > loop->max) {
        /* Nothing runs before the rest can be taken. */
        p->pace.probe_end = 0;
    }
    if (inside) {
        run_piece(p);
    } else {
        run_from_outside(p);
    }
    return 0;
}

int wsi_under_token(ws_token *token, ws_fn fn, void *arg)
{
    return token == NULL ? fn(arg) : ws_with_token(token, fn, arg);
}

int wsi_loop_run(wsi_loop *loop, size_t begin, size_t end, void *acc,
                 ws_token *token)
{
    piece p = {.loop = loop, .begin = begin, .end = end, .acc = acc};
    int code = wsi_under_token(token, run_all, &p);
    return code != 0 ? code : wsi_loop_result(loop);
}

/* ---- one piece per worker -------------------------------------------- */

typedef struct {
    wsi_loop *loop;
    size_t begin;
    size_t end;
    bool ran;
} shares;

/* Piece k of n: the first ones are longer by one. */
static size_t share_begin(const shares *s, size_t k, size_t n)
{
    size_t length = s->end - s->begin;
    size_t longer = length % n;
    return s->begin + k * (length / n) + (k < longer ? k : longer);
}

static int run_share(const ws_broadcast_ctx *ctx, void *arg)
{
    shares *s = arg;
    piece p = {.loop = s->loop, .alone = true};
    p.begin = share_begin(s, ctx->index, ctx->num_workers);
    p.end = share_begin(s, (size_t)ctx->index + 1, ctx->num_workers);
    p.pace.block = p.end - p.begin;
    run_piece(&p);
    return 0;
}

static int run_shares(void *arg)
{
    shares *s = arg;
    if (ws_broadcast(NULL, run_share, s, NULL) != WS_OK) {
        wsi_loop_run(s->loop, s->begin, s->end, NULL, NULL);
    }
    return 0;
}

int wsi_loop_run_static(wsi_loop *loop, size_t begin, size_t end,
                        ws_token *token)
{
    shares s = {loop, begin, end, false};
    int code = wsi_under_token(token, run_shares, &s);
    return code != 0 ? code : wsi_loop_result(loop);
}
