/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scope.c: opening scopes, and waiting in the middle of one.
 *
 * core/scoped.c does the work; spawns are in scope_spawn.c.
 *
 * Layer: api.  See src/README.md, "Scope".
 */
#include <wsteal/scope.h>

#include "core/entry.h"
#include "core/scoped.h"
#include "core/worker.h"

#define ALL_FLAGS (WS_SCOPE_FIFO | WS_SCOPE_FAIL_FAST | WS_SCOPE_IN_PLACE)

typedef struct {
    unsigned flags;
    ws_scope_fn body;
    void *arg;
} opening;

static int run_open(const opening *o, ws_pool *pool)
{
    struct ws_scope scope;
    wsi_scope_open(&scope, pool, o->flags);
    int code = WS_ECANCELED;
    if (!wsi_scope_stopped(&scope, scope.context)) {
        const wsi_context *outer = wsi_context_switch(scope.context);
        code = o->body(&scope, o->arg);
        wsi_context_switch(outer);
        wsi_scope_note(&scope, code);
    }
    wsi_scope_wait(&scope, UINT64_MAX);
    return wsi_scope_close(&scope, code);
}

/* On the opener's thread. */
static int open_and_run(const opening *o, ws_pool *pool)
{
    wsi_worker *w = wsi_current_worker;
    if (w == NULL) {
        return run_open(o, pool);
    }
    bool outermost = wsi_worker_begin_call(w);
    int code = run_open(o, pool);
    wsi_worker_end_call(w, outermost);
    return code;
}

/* In a worker, or on any thread when no pool could be had. */
static int run_inside(void *arg)
{
    const wsi_worker *w = wsi_current_worker;
    return open_and_run(arg, w != NULL ? w->pool : NULL);
}

/* The body here, the jobs there. */
static int run_in_place(const opening *o, ws_pool *pool)
{
    if (!wsi_pool_enter(pool)) {
        return WS_EFORKED;
    }
    wsi_pool_retain(pool);
    int code = open_and_run(o, pool);
    wsi_pool_leave(pool);
    wsi_pool_release(pool);
    return code;
}

int ws_scope_in(ws_pool *pool, unsigned flags, ws_scope_fn body, void *arg)
{
    opening o = {flags, body, arg};
    const wsi_worker *w = wsi_current_worker;
    if (body == NULL || (flags & ~(unsigned)ALL_FLAGS) != 0) {
        return WS_EINVAL;
    }
    if (w != NULL && (pool == NULL || pool == w->pool)) {
        return run_inside(&o);
    }
    int status = wsi_entry_pool(pool, &pool);
    if (status != WS_OK) {
        /* Only the global pool can be lacking. */
        return wsi_run_serially(run_inside, &o);
    }
    if (flags & WS_SCOPE_IN_PLACE) {
        return run_in_place(&o, pool);
    }
    wsi_entry entry = wsi_pool_run(pool, run_inside, &o);
    return entry.status == WS_OK ? entry.code : entry.status;
}

int ws_scope(ws_scope_fn body, void *arg)
{
    return ws_scope_in(NULL, 0, body, arg);
}

int ws_scope_fifo(ws_scope_fn body, void *arg)
{
    return ws_scope_in(NULL, WS_SCOPE_FIFO, body, arg);
}

int ws_in_place_scope(ws_scope_fn body, void *arg)
{
    return ws_scope_in(NULL, WS_SCOPE_IN_PLACE, body, arg);
}

int ws_in_place_scope_fifo(ws_scope_fn body, void *arg)
{
    return ws_scope_in(NULL, WS_SCOPE_IN_PLACE | WS_SCOPE_FIFO, body, arg);
}

int ws_scope_wait(struct ws_scope *scope)
{
    return ws_scope_wait_until(scope, UINT64_MAX);
}

int ws_scope_wait_until(struct ws_scope *scope, uint64_t deadline_ns)
{
    if (scope == NULL || !wsi_scope_in_body(scope)) {
        return WS_EINVAL;
    }
    return wsi_scope_wait(scope, deadline_ns) ? WS_OK : WS_ETIMEDOUT;
}

uint64_t ws_clock_ns(void)
{
    return wsi_clock_ns();
}
