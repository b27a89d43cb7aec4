/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * entry.h: running a function inside a pool from wherever the caller is.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_ENTRY_H
#define WSI_CORE_ENTRY_H

#include <stdbool.h>

#include "core/registry.h"

typedef struct {
    int status; /* WS_OK: it ran; else why it did not */
    int code;   /* what the function returned */
} wsi_entry;

/* Runs fn(arg) in `pool` and waits for it, as ws_pool_install() says. */
wsi_entry wsi_pool_run(ws_pool *pool, ws_fn fn, void *arg);

/* The same in the current pool; outside a worker that is the global one. */
wsi_entry wsi_run_in_current(ws_fn fn, void *arg);

/* For when that failed: a plain call, during which this thread does not try for
 * a pool again. */
int wsi_run_serially(ws_fn fn, void *arg);

/* The pool a call with `pool` NULL means. */
int wsi_pool_or_current(ws_pool *pool, ws_pool **out);

/* The same, but fails during wsi_run_serially(). */
int wsi_entry_pool(ws_pool *pool, ws_pool **out);

#endif
