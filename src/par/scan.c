/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scan.c: ws_scan and ws_scan_array.
 *
 * The caller scans block by block, as the serial program does, until somebody
 * is hungry.  Then a *round* covers the next parts, one more than there are
 * workers: first part 0 is scanned while parts 1 to workers - 1 are folded,
 * then, with the prefixes known, all the others are scanned.  With w workers
 * that takes 2 / (w + 1) of the serial time.  A round is short, so that its
 * parts are still in the caches when they are scanned, and after it the caller
 * looks anew.
 *
 * Source of the two passes: Blelloch (1990); that the first part needs one pass
 * only: oneTBB's parallel_scan.
 *
 * Layer: par.
 */
#include <wsteal/array.h>

#include <stdlib.h>
#include <string.h>

#include <wsteal/task.h>

#include "par/loop.h"
#include "par/pace.h"

/* A part of a round, in blocks: some 100 us. */
#define BLOCKS_PER_PART 32
#define SLOTS_IN_FRAME 4096

typedef struct {
    wsi_loop *loop;
    const ws_scanner *s;
    void *arg;
    size_t begin;
    size_t end;
    char *total; /* of all before `begin` */
    wsi_pace pace;
    /* Of rounds: a slot for each part but the first, and one to work in. */
    size_t workers;
    char *slots;
    size_t part;
    bool serial;
} scanning;

/* ---- a round --------------------------------------------------------- */

static char *slot(const scanning *c, size_t part)
{
    return c->slots + (part - 1) * c->s->size;
}

/* Part 0 is scanned, the sum of each other goes to the slot behind its own. */
static int first_pass(size_t first, size_t end, void *arg)
{
    const scanning *c = arg;
    int code = 0;
    for (size_t k = first; code == 0 && k < end; k++) {
        size_t begin = c->begin + k * c->part;
        if (k == 0) {
            code = c->s->scan(begin, begin + c->part, c->total, c->arg);
        } else {
            c->s->identity(slot(c, k + 1), c->arg);
            code = c->s->fold(begin, begin + c->part, slot(c, k + 1), c->arg);
        }
    }
    return code;
}

/* Slot k becomes what stands before part k. */
static int spread_sums(const scanning *c)
{
    size_t size = c->s->size;
    char *spare = slot(c, c->workers + 1);
    int code = 0;
    memcpy(slot(c, 1), c->total, size);
    for (size_t k = 1; code == 0 && k < c->workers; k++) {
        memcpy(spare, slot(c, k), size);
        code = c->s->combine(spare, slot(c, k + 1), c->arg);
        memcpy(slot(c, k + 1), spare, size);
    }
    return code;
}

static int second_pass(size_t first, size_t end, void *arg)
{
    const scanning *c = arg;
    int code = 0;
    for (size_t k = first; code == 0 && k < end; k++) {
        size_t begin = c->begin + k * c->part;
        code = c->s->scan(begin, begin + c->part, slot(c, k), c->arg);
    }
    return code;
}

static int run_round(scanning *c)
{
    ws_for_opts each = WS_FOR_OPTS_INIT;
    each.max_grain = 1;
    int code = ws_for(0, c->workers, &each, first_pass, c);
    if (code == 0) {
        code = spread_sums(c);
    }
    if (code == 0) {
        code = ws_for(1, c->workers + 1, &each, second_pass, c);
    }
    if (code == 0) {
        memcpy(c->total, slot(c, c->workers), c->s->size);
        c->begin += (c->workers + 1) * c->part;
    }
    return code;
}

/* Whether a round pays now; sets the length of its parts. */
static bool should_share(scanning *c)
{
    size_t parts = c->workers + 1;
    size_t left = c->end - c->begin;
    if (c->serial || c->pace.probe_end != 0 || !ws_hungry() ||
        left / parts <= c->pace.block) {
        return false;
    }
    c->part = left / parts;
    if (c->part / BLOCKS_PER_PART > c->pace.block) {
        c->part = c->pace.block * BLOCKS_PER_PART;
    }
    return true;
}

/* ---- block by block -------------------------------------------------- */

static int scan_block(scanning *c)
{
    size_t left = c->end - c->begin;
    size_t n = c->pace.block < left ? c->pace.block : left;
    int code = c->s->scan(c->begin, c->begin + n, c->total, c->arg);
    c->begin += n;
    if (c->begin < c->end) {
        wsi_pace_step(&c->pace);
    }
    return code;
}

static int run_scan(scanning *c, bool outside)
{
    int code = 0;
    while (code == 0 && c->begin < c->end && !wsi_loop_stopped(c->loop) &&
           (!outside || c->pace.probe_end != 0)) {
        if (should_share(c)) {
            code = run_round(c);
            c->pace.last = wsi_ticks();
        } else {
            code = scan_block(c);
        }
    }
    return code;
}

/* ---- the call -------------------------------------------------------- */

/* On a worker, or where no pool could be had. */
static int run_with_slots(void *arg)
{
    scanning *c = arg;
    _Alignas(16) char frame[SLOTS_IN_FRAME];
    char *heap = NULL;
    c->workers = ws_current_index() >= 0 ? ws_current_num_workers() : 1;
    c->slots = frame;
    if (c->workers + 1 > sizeof(frame) / c->s->size && c->workers > 1) {
        heap = c->s->size <= SIZE_MAX / (c->workers + 1)
                   ? malloc((c->workers + 1) * c->s->size)
                   : NULL;
        c->slots = heap;
    }
    c->serial = c->workers == 1 || c->slots == NULL;
    int code = run_scan(c, false);
    free(heap);
    return code;
}

static int run_inside(void *arg)
{
    scanning *c = arg;
    c->pace.last = wsi_ticks();
    return run_with_slots(c);
}

static int run_all(void *arg)
{
    scanning *c = arg;
    int code;
    wsi_pace_begin(&c->pace, c->end - c->begin, WSI_PACE_PROBING);
    if (ws_current_index() >= 0) {
        return run_with_slots(c);
    }
    /* What is done at once is done here. */
    c->serial = true;
    code = run_scan(c, true);
    if (code != 0 || c->begin == c->end) {
        return code;
    }
    return wsi_in_pool(run_inside, c, &code) ? code : run_with_slots(c);
}

static const wsi_loop_kind no_kind;

static bool is_whole(const ws_scanner *s)
{
    return s != NULL && s->size > 0 && s->identity != NULL && s->fold != NULL &&
           s->combine != NULL && s->scan != NULL;
}

int ws_scan(size_t begin, size_t end, const ws_for_opts *opts,
            const ws_scanner *scanner, void *total, void *arg)
{
    ws_for_opts o;
    wsi_loop loop;
    if (wsi_opts_check(&o, opts) != WS_OK || begin > end || o.flags != 0 ||
        !is_whole(scanner) || total == NULL) {
        return WS_EINVAL;
    }
    scanning c = {.loop = &loop,
                  .s = scanner,
                  .arg = arg,
                  .begin = begin,
                  .end = end,
                  .total = total};
    wsi_loop_init(&loop, &no_kind, 0, NULL, &o);
    scanner->identity(total, arg);
    int code = wsi_under_token(o.token, run_all, &c);
    return code != 0 ? code : wsi_loop_result(&loop);
}

/* ---- arrays ---------------------------------------------------------- */

#define SIZE_OF_ELEMENT_MAX 256

static void array_identity(void *acc, void *arg)
{
    const ws_prefixes *p = arg;
    memcpy(acc, p->identity, p->size);
}

static int array_fold(size_t begin, size_t end, void *acc, void *arg)
{
    const ws_prefixes *p = arg;
    const char *in = p->in;
    for (size_t i = begin; i < end; i++) {
        p->op(acc, in + i * p->size, p->arg);
    }
    return 0;
}

static int array_combine(void *acc, const void *right, void *arg)
{
    const ws_prefixes *p = arg;
    p->op(acc, right, p->arg);
    return 0;
}

static int array_scan(size_t begin, size_t end, void *acc, void *arg)
{
    const ws_prefixes *p = arg;
    const char *in = p->in;
    char *out = p->out;
    _Alignas(16) char before[SIZE_OF_ELEMENT_MAX];
    for (size_t i = begin; i < end; i++) {
        if (p->exclusive) {
            memcpy(before, acc, p->size);
        }
        p->op(acc, in + i * p->size, p->arg);
        memcpy(out + i * p->size, p->exclusive ? before : acc, p->size);
    }
    return 0;
}

int ws_scan_array(const ws_prefixes *prefixes, const ws_for_opts *opts,
                  void *total)
{
    _Alignas(16) char own[SIZE_OF_ELEMENT_MAX];
    const ws_prefixes *p = prefixes;
    if (p == NULL || p->size == 0 || p->size > SIZE_OF_ELEMENT_MAX ||
        p->identity == NULL || p->op == NULL ||
        (p->n > 0 && (p->in == NULL || p->out == NULL))) {
        return WS_EINVAL;
    }
    const ws_scanner s = {p->size, array_identity, array_fold, array_combine,
                          array_scan};
    return ws_scan(0, p->n, opts, &s, total != NULL ? total : own,
                   (void *)(uintptr_t)p);
}
