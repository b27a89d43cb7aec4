/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * spliter.h: the driver of spliters for what is built on it, so far search.c.
 *
 * A *run* is the state that all spliters of one call share.  Its scope is
 * fail-fast: a job that returns an error stops the others, and a spliter whose
 * job never starts is dropped by the scope.  `code` is set before the scope
 * learns of it, so the first error is the one that is returned, whoever had it.
 *
 * Layer: par.  See src/README.md, "Spliters".
 */
#ifndef WSI_PAR_SPLITER_H
#define WSI_PAR_SPLITER_H

#include <wsteal/scope.h>
#include <wsteal/spliter.h>

#include "port/atomic.h"

typedef struct {
    const ws_spliter_ops *ops;
    void *arg;
    size_t min_units;
    size_t max_units;
    /* Called after each block with the time, or NULL. */
    void (*after_block)(void *it, uint64_t now_ns, void *arg);
    wsi_atomic_u32 code; /* the first code that is not 0 */
    /* What follows is written by all workers, what is above read by all. */
    _Alignas(WSI_CACHE_LINE) wsi_atomic_u64 blocks;
    wsi_atomic_u64 tried;
    wsi_atomic_u64 splits;
} wsi_spliter_run;

/* False: the options make no sense. */
bool wsi_spliter_init(wsi_spliter_run *run, const ws_spliter_ops *ops,
                      const ws_spliter_options *options);

/* Records the code of a run that fails or ends early; the first one wins. */
void wsi_spliter_note(wsi_spliter_run *run, int code);

static inline int wsi_spliter_code(const wsi_spliter_run *run)
{
    /* acquire: pairs with wsi_spliter_note() */
    return (int)wsi_u32_load_acquire(&run->code);
}

/* Adds a job that drives the spliter; takes it.  Needs at most
 * WS_SPLITER_SMALL bytes. */
void wsi_spliter_spawn(wsi_spliter_run *run, struct ws_scope *scope,
                       const void *it);

/* All memory of this layer comes from here; replaced by tests. */
extern void *(*wsi_par_malloc)(size_t size);

#endif
