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
    size_t block; /* the length that the last one says is right; 0: none does */
} piece;

/* ---- options --------------------------------------------------------- */

int wsi_opts_check(ws_for_opts *out, const ws_for_opts *opts)
{
    static const ws_for_opts defaults = WS_FOR_OPTS_INIT;
    if (opts != NULL && opts->struct_size != sizeof(*opts)) {
        /* It may be shorter: nothing else of it is read. */
        return WS_EINVAL;
    }
    *out = opts != NULL ? *opts : defaults;
    if ((out->flags & ~(unsigned)ALL_FLAGS) != 0 ||
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

/* Nothing is left to do for the piece. */
static inline bool ended(const piece *p)
{
    const wsi_loop_kind *kind = p->loop->kind;
    return p->begin == p->end || wsi_loop_stopped(p->loop) ||
           (kind->wanted != NULL && !kind->wanted(p->loop, p->begin));
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

static int call_with_slot(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    const body here = {loop, innermost};
    innermost = &here;
    int code = loop->kind->block(loop, begin, end, acc);
    innermost = here.outer;
    return code;
}

int wsi_loop_block(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    return loop->slots ? call_with_slot(loop, begin, end, acc)
                       : loop->kind->block(loop, begin, end, acc);
}

/* ---- pieces ---------------------------------------------------------- */

static inline void run_block(piece *p, size_t n)
{
    wsi_loop *loop = p->loop;
    size_t end = p->begin + n;
    int code = wsi_loop_block(loop, p->begin, end, p->acc);
    p->begin = end;
    if (WSI_UNLIKELY(code != 0)) {
        wsi_loop_fail(loop, code);
    }
}

static void run_piece(piece *p);

static int run_half(void *arg)
{
    run_piece(arg);
    return 0;
}

/* Cuts the piece in two and runs both, the right half perhaps on another
 * thread. */
static int cut_with(void *acc, void *arg)
{
    piece *p = arg;
    wsi_loop *loop = p->loop;
    size_t n = p->end - p->begin;
    size_t middle = p->end - n / 2;
    piece right = {loop, middle, p->end, acc, p->block};
    p->end = middle;
    if (loop->acc_size == 0) {
        return ws_join(run_half, p, run_half, &right);
    }
    loop->kind->start(loop, middle, acc);
    ws_join(run_half, p, run_half, &right);
    return loop->kind->merge(loop, p->acc, acc);
}

static void run_serially(piece *p);

static WSI_COLD void cut_accumulating(piece *p)
{
    int code = 0;
    if (!wsi_with_acc(p->loop->acc_size, cut_with, p, &code)) {
        run_serially(p);
    }
    if (code != 0) {
        wsi_loop_fail(p->loop, code);
    }
}

static void cut(piece *p)
{
    if (p->loop->acc_size == 0) {
        cut_with(NULL, p);
    } else {
        cut_accumulating(p);
    }
}

static size_t within(const piece *p, size_t block)
{
    size_t n = p->end - p->begin;
    block = block > p->loop->min ? block : p->loop->min;
    block = block < p->loop->max ? block : p->loop->max;
    /* Nothing short is left for the end. */
    return block < n && (n - block >= p->loop->min || n > p->loop->max) ? block
                                                                        : n;
}

/* A block, and a look at the clock if others follow. */
static void run_next(piece *p, wsi_pace *pace)
{
    run_block(p, within(p, pace->block));
    if (p->begin < p->end) {
        wsi_pace_step(pace);
    }
}

/* Where pieces cannot be given away. */
static void run_serially(piece *p)
{
    wsi_pace pace;
    wsi_pace_begin(&pace, p->end - p->begin, 0);
    while (!ended(p)) {
        run_next(p, &pace);
    }
}

/* While the loop is young nobody is asked. */
static void run_probe(piece *p, wsi_pace *pace)
{
    while (pace->probe_end != 0 && !ended(p)) {
        run_next(p, pace);
    }
}

/* Block by block, until somebody is hungry and what is left is worth a steal.
 */
static void run_on_demand(piece *p, wsi_pace *pace)
{
    run_probe(p, pace);
    while (!ended(p)) {
        size_t n = p->end - p->begin;
        if (n / 2 >= p->loop->min && n > pace->block / 2 && ws_hungry()) {
            p->block = pace->block;
            cut(p);
            return;
        }
        run_next(p, pace);
    }
}

/* A frame of its own, so that those of run_piece() stay small. */
static WSI_NOINLINE void run_paced(piece *p)
{
    wsi_pace pace;
    wsi_pace_begin(&pace, p->end - p->begin, 0);
    pace.block = p->block != 0 ? p->block : pace.block;
    run_on_demand(p, &pace);
}

static void run_piece(piece *p)
{
    wsi_loop *loop = p->loop;
    size_t n = p->end - p->begin;
    if (n > loop->max) {
        cut(p);
    } else if (n > loop->min) {
        run_paced(p);
    } else if (!ended(p)) {
        run_block(p, n);
    }
}

/* ---- the whole ------------------------------------------------------- */

/* On a thread outside the pool, which first does what is done at once. */
static void run_from_outside(piece *p, wsi_pace *pace)
{
    int code;
    run_probe(p, pace);
    if (ended(p)) {
        return;
    }
    p->block = pace->block;
    if (!wsi_in_pool(run_half, p, &code)) {
        run_serially(p);
    }
}

static int run_all(void *arg)
{
    piece *p = arg;
    wsi_loop *loop = p->loop;
    size_t n = p->end - p->begin;
    bool inside = ws_current_index() >= 0;
    wsi_pace pace;
    if (n < WSI_PACE_PROBED_FROM) {
        /* Nobody will know in time how long they take. */
        size_t most = loop->min <= n ? 2 * loop->min - 1 : n;
        loop->max = loop->max < most ? loop->max : most;
    }
    if (n <= loop->min || (inside && n > loop->max)) {
        run_piece(p);
        return 0;
    }
    /* With a limit, nothing runs before the rest can be taken. */
    wsi_pace_begin(&pace, n,
                   inside          ? WSI_PACE_PROBING
                   : n > loop->max ? 0
                                   : PROBING_OUTSIDE);
    if (inside) {
        run_on_demand(p, &pace);
    } else {
        run_from_outside(p, &pace);
    }
    return 0;
}

/* ---- one piece per worker -------------------------------------------- */

typedef struct {
    wsi_loop *loop;
    size_t begin;
    size_t end;
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
    piece p = {.loop = s->loop};
    p.begin = share_begin(s, ctx->index, ctx->num_workers);
    p.end = share_begin(s, (size_t)ctx->index + 1, ctx->num_workers);
    while (!ended(&p)) {
        run_block(&p, within(&p, SIZE_MAX));
    }
    return 0;
}

static int run_shares(void *arg)
{
    shares *s = arg;
    piece all = {.loop = s->loop, .begin = s->begin, .end = s->end};
    return ws_broadcast(NULL, run_share, s, NULL) == WS_OK ? 0 : run_all(&all);
}

/* ---- the call -------------------------------------------------------- */

int wsi_loop_run(wsi_loop *loop, size_t begin, size_t end, void *acc,
                 const ws_for_opts *opts)
{
    piece p = {.loop = loop, .begin = begin, .end = end, .acc = acc};
    shares s = {loop, begin, end};
    int code = opts->flags & WS_FOR_STATIC
                   ? wsi_under_token(opts->token, run_shares, &s)
                   : wsi_under_token(opts->token, run_all, &p);
    return code != 0 ? code : wsi_loop_result(loop);
}

/* ---- what calls share ------------------------------------------------ */

int wsi_under_token(ws_token *token, ws_fn fn, void *arg)
{
    return token == NULL ? fn(arg) : ws_with_token(token, fn, arg);
}

typedef struct {
    ws_fn fn;
    void *arg;
    bool ran;
} entry;

static int run_entry(void *arg)
{
    entry *e = arg;
    e->ran = true;
    return e->fn(e->arg);
}

bool wsi_in_pool(ws_fn fn, void *arg, int *code)
{
    entry e = {fn, arg, false};
    *code = ws_pool_install(NULL, run_entry, &e);
    return e.ran;
}

static WSI_COLD int with_acc_in_frame(int (*fn)(void *acc, void *arg),
                                      void *arg)
{
    _Alignas(16) char acc[ACC_IN_FRAME];
    return fn(acc, arg);
}

bool wsi_with_acc(size_t size, int (*fn)(void *acc, void *arg), void *arg,
                  int *code)
{
    if (size <= ACC_IN_FRAME) {
        *code = with_acc_in_frame(fn, arg);
        return true;
    }
    void *acc = malloc(size);
    if (acc == NULL) {
        return false;
    }
    *code = fn(acc, arg);
    free(acc);
    return true;
}
