/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * join.c: ws_join and ws_join_context.
 *
 * The second half is a job in the caller's frame, pushed into the worker's own
 * deque; the first half is called; then the second is popped and called, or,
 * if a thief has it, waited for.  The fast path is a push, two calls and a
 * pop: no fence, no read-modify-write, no memory.  tests/checks/codegen.sh
 * holds it to that.
 *
 * Layer: api.  See src/README.md, "Join".
 */
#include <wsteal/task.h>

#include "core/entry.h"
#include "core/half.h"
#include "core/worker.h"

/* The pop after the first half did not simply give the second half back. */
static WSI_COLD int finish(wsi_worker *w, wsi_half *half, wsi_job *popped)
{
    while (popped != NULL && popped != &half->head.job) {
        if (wsi_latch_is_set(&half->head.latch)) {
            /* Run already, from a wait inside the first half or by a thief:
             * what was popped may be older than this call.  There is room. */
            wsi_worker_push(w, popped);
            return half->code;
        }
        /* Spawned by the first half, so inside this call's subtree. */
        wsi_worker_run(w, popped);
        popped = wsi_worker_pop(w);
    }
    if (popped != NULL) {
        return half->fn(half->arg);
    }
    /* A thief has it, and with it all that was older: what the deque gets from
     * now on belongs to the subtree. */
    const wsi_waiting waiting =
        wsi_wait_on(&half->head.latch, wsi_deque_mark(&w->deque));
    wsi_worker_wait(w, &waiting);
    return half->code;
}

/* The newest job is public, claimed or gone. */
static WSI_COLD int finish_slow(wsi_worker *w, wsi_half *half, uint64_t index)
{
    wsi_job *popped = wsi_deque_pop_slow(&w->deque, index);
    return popped == &half->head.job ? half->fn(half->arg)
                                     : finish(w, half, popped);
}

/* The newest job is another one. */
static WSI_COLD int finish_other(wsi_worker *w, wsi_half *half, uint64_t index)
{
    return finish(w, half, wsi_deque_item(&w->deque, index));
}

/* The first half is done; does the second, and returns its code. */
static WSI_ALWAYS_INLINE int join_second(wsi_worker *w, wsi_half *half,
                                         wsi_fences fences)
{
    uint64_t index;
    if (!wsi_deque_pop_begin(&w->deque, &index, fences)) {
        return finish_slow(w, half, index);
    }
    if (WSI_UNLIKELY(wsi_deque_item(&w->deque, index) != &half->head.job)) {
        return finish_other(w, half, index);
    }
    return half->fn(half->arg);
}

/* The first half has failed: its code wins. */
static WSI_COLD int join_failed(wsi_worker *w, wsi_half *half, int code)
{
    join_second(w, half, w->deque.fences);
    return code;
}

/* From the push of the second half on. */
static WSI_ALWAYS_INLINE int join_rest(wsi_worker *w, wsi_half *half, ws_fn a,
                                       void *arg_a, wsi_fences fences)
{
    int code = a(arg_a);
    if (WSI_UNLIKELY(code != 0)) {
        return join_failed(w, half, code);
    }
    return join_second(w, half, fences);
}

/* The push met the poison or a full buffer. */
static WSI_COLD int join_pushed(wsi_worker *w, wsi_half *half, ws_fn a,
                                void *arg_a, uint64_t index)
{
    if (wsi_worker_push_slow(w, index)) {
        return join_rest(w, half, a, arg_a, w->deque.fences);
    }
    int code_a = a(arg_a);
    int code_b = half->fn(half->arg);
    return code_a != 0 ? code_a : code_b;
}

static WSI_ALWAYS_INLINE int join_in(wsi_worker *w, ws_fn a, void *arg_a,
                                     ws_fn b, void *arg_b, wsi_fences fences)
{
    wsi_half half;
    half.head = w->half_head;
    half.fn = b;
    half.arg = arg_b;
    uint64_t index;
    if (!wsi_deque_push_begin(&w->deque, &half.head.job, &index, fences)) {
        return join_pushed(w, &half, a, arg_a, index);
    }
    return join_rest(w, &half, a, arg_a, fences);
}

typedef struct {
    ws_fn a;
    void *arg_a;
    ws_fn b;
    void *arg_b;
} pair;

static int run_pair(void *arg)
{
    const pair *p = arg;
    return ws_join(p->a, p->arg_a, p->b, p->arg_b);
}

static int run_pair_serially(void *arg)
{
    const pair *p = arg;
    int code_a = p->a(p->arg_a);
    int code_b = p->b(p->arg_b);
    return code_a != 0 ? code_a : code_b;
}

/* Outside a worker, or where the owner's side needs fences. */
static WSI_COLD int join_otherwise(ws_fn a, void *arg_a, ws_fn b, void *arg_b)
{
    pair both = {a, arg_a, b, arg_b};
    wsi_worker *w = wsi_current_worker;
    if (w != NULL) {
        bool outermost = wsi_worker_begin_call(w);
        int code = join_in(w, a, arg_a, b, arg_b, WSI_FENCES_SEQCST);
        wsi_worker_end_call(w, outermost);
        return code;
    }
    wsi_entry entry = wsi_run_in_current(run_pair, &both);
    return entry.status == WS_OK ? entry.code
                                 : wsi_run_serially(run_pair_serially, &both);
}

WSI_HOT int ws_join(ws_fn a, void *arg_a, ws_fn b, void *arg_b)
{
    wsi_worker *w = wsi_unfenced_worker;
    if (WSI_UNLIKELY(w == NULL)) {
        return join_otherwise(a, arg_a, b, arg_b);
    }
    return join_in(w, a, arg_a, b, arg_b, WSI_FENCES_ASYMMETRIC);
}

/* ---- ws_join_context: the same with two adapters --------------------- */

typedef struct {
    ws_ctx_fn fn;
    void *arg;
    const wsi_worker *caller; /* NULL: called outside a worker */
} informed;

static int run_informed(void *arg)
{
    const informed *half = arg;
    ws_ctx ctx = {ws_current_index(), wsi_current_worker != half->caller};
    return half->fn(&ctx, half->arg);
}

int ws_join_context(ws_ctx_fn a, void *arg_a, ws_ctx_fn b, void *arg_b)
{
    informed first = {a, arg_a, wsi_current_worker};
    informed second = {b, arg_b, wsi_current_worker};
    return ws_join(run_informed, &first, run_informed, &second);
}
