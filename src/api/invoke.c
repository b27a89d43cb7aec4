/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * invoke.c: n tasks by recursive halving with ws_join().
 *
 * The code of the first half wins in ws_join(), so the code of the first task
 * that failed wins here.
 *
 * Layer: api.
 */
#include <wsteal/task.h>

#include "core/context.h"
#include "core/entry.h"
#include "core/worker.h"

/* Shared by all parts of one call. */
typedef struct {
    wsi_context *fail_fast; /* NULL: every task runs */
    wsi_atomic_u32 dropped;
} invocation;

typedef struct {
    invocation *all;
    const ws_task *tasks;
    size_t n; /* at least 1 */
} part;

static int run_one(invocation *all, const ws_task *task)
{
    if (all->fail_fast == NULL) {
        return task->fn(task->arg);
    }
    if (wsi_context_stopped(all->fail_fast)) {
        /* relaxed: read when all is done */
        wsi_u32_store_relaxed(&all->dropped, 1);
        if (task->drop != NULL) {
            task->drop(task->arg);
        }
        return 0;
    }
    int code = task->fn(task->arg);
    if (code != 0) {
        wsi_context_stop(all->fail_fast);
    }
    return code;
}

static int run_part(void *arg)
{
    const part *p = arg;
    if (p->n == 1) {
        return run_one(p->all, p->tasks);
    }
    size_t half = p->n - p->n / 2;
    part first = {p->all, p->tasks, half};
    part second = {p->all, p->tasks + half, p->n - half};
    return ws_join(run_part, &first, run_part, &second);
}

/* All of them, in the current pool. */
static int run_all(part *whole)
{
    if (whole->n == 0) {
        return WS_OK;
    }
    wsi_entry entry = wsi_run_in_current(run_part, whole);
    return entry.status == WS_OK ? entry.code
                                 : wsi_run_serially(run_part, whole);
}

static bool valid(size_t n, const ws_task tasks[])
{
    for (size_t i = 0; i < n; i++) {
        if (tasks == NULL || tasks[i].fn == NULL) {
            return false;
        }
    }
    return true;
}

int ws_invoke(size_t n, const ws_task tasks[])
{
    invocation all = {.fail_fast = NULL};
    part whole = {&all, tasks, n};
    if (!valid(n, tasks)) {
        return WS_EINVAL;
    }
    return run_all(&whole);
}

int ws_invoke_fail_fast(size_t n, const ws_task tasks[])
{
    wsi_context own;
    invocation all = {.fail_fast = &own};
    part whole = {&all, tasks, n};
    if (!valid(n, tasks)) {
        return WS_EINVAL;
    }
    const wsi_context *outer = wsi_context_current();
    wsi_context_init(&own, outer, outer->token);
    wsi_u32_init(&all.dropped, 0);
    wsi_context_switch(&own);
    int code = run_all(&whole);
    wsi_context_switch(outer);
    /* relaxed: all is done */
    bool dropped = wsi_u32_load_relaxed(&all.dropped) != 0;
    return code == 0 && dropped ? WS_ECANCELED : code;
}
