/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * yield.c: running one job on request, and what a worker can ask before.
 *
 * Layer: api.
 */
#include <wsteal/task.h>

#include "core/worker.h"

static ws_yield run_one(wsi_job *(*find)(wsi_worker *w))
{
    wsi_worker *w = wsi_current_worker;
    if (w == NULL) {
        return WS_YIELD_NO_POOL;
    }
    if (!wsi_worker_has_room(w) || wsi_pool_is_forked(w->pool)) {
        return WS_YIELD_IDLE;
    }
    uint64_t before = wsi_deque_mark(&w->deque);
    wsi_job *job = find(w);
    if (job == NULL) {
        return WS_YIELD_IDLE;
    }
    uint64_t after = wsi_deque_mark(&w->deque);
    /* The creator's thread, outside all calls, must leave nothing behind. */
    if (after < before && w->depth > 0 &&
        (w->marks == NULL || after >= w->marks->at)) {
        /* Its own, and no older than what waits below. */
        wsi_worker_run(w, job);
    } else {
        wsi_marks_lower(w);
        wsi_worker_run_unrelated(w, job);
    }
    return WS_YIELD_EXECUTED;
}

/* A worker in a long job does not answer a polite thief. */
static wsi_job *find_by_force(wsi_worker *w)
{
    wsi_job *job = wsi_find_any(w);
    return job != NULL ? job : wsi_find_elsewhere(w, WSI_STEAL_FORCE);
}

ws_yield ws_yield_now(void)
{
    return run_one(find_by_force);
}

ws_yield ws_yield_local(void)
{
    return run_one(wsi_find_local);
}

int ws_has_pending(void)
{
    const wsi_worker *w = wsi_current_worker;
    return w != NULL ? wsi_deque_len(&w->deque) > 0 : -1;
}

int ws_hungry(void)
{
    const wsi_worker *w = wsi_current_worker;
    if (w == NULL) {
        return 0;
    }
    /* A searcher that finds jobs here asks; where none are it goes on. */
    return wsi_deque_is_poisoned(&w->deque) ||
           (wsi_deque_len(&w->deque) == 0 &&
            wsi_sleep_any_searching(&w->pool->sleep));
}
