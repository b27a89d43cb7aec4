/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * spliter.h: splittable iterators, for work that grows while it runs.
 *
 * A *spliter* is a block of bytes of the user's that stands for work to be
 * done: a range, a stack of nodes, a frontier.  The user says how to advance it
 * and how to divide it; the driver decides when.  It divides at once after it
 * has moved to another worker (whoever stole once is likely to have hungry
 * neighbours), and later whenever ws_hungry(): so a chain that turns into a
 * bush after an hour is shared out then.  Nobody tunes a grain: blocks grow
 * until one takes a few microseconds.
 *
 * Nothing is allocated per unit or per block, and nothing recurses: a half that
 * is given away is a job of its own, however often that happens.
 *
 * Spliters are moved by copying their bytes: they may hold pointers to other
 * memory but none into themselves.
 */
#ifndef WSTEAL_SPLITER_H
#define WSTEAL_SPLITER_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** Spliters of up to so many bytes are given away without an allocation. */
#define WS_SPLITER_SMALL 80

/**
 * What the driver must know about a kind of spliter.  Calls for one spliter
 * never overlap; calls for different ones do.
 */
typedef struct ws_spliter_ops {
    /** sizeof the spliter, aligned for any type. */
    size_t bytes;
    /** Units that are left.  0: it is at its end, exactly; any other number may
     * be an estimate. */
    size_t (*size)(const void *it);
    /** Moves about half of what is left from `from` to `to`, which holds
     * nothing yet: 1.  0: it cannot be divided now, `to` is not used. */
    int (*split)(void *from, void *to);
    /** Does at most `units` units, and at least one, and takes them off.  May
     * add units.  Returns 0, or an error code that stops the whole run. */
    int (*advance)(void *it, size_t units, void *arg);
    /** Called once for each spliter when it is no longer needed: at its end,
     * or earlier after an error or a cancellation.  On any worker. */
    void (*drop)(void *it);
} ws_spliter_ops;

/** What a run has done. */
typedef struct ws_spliter_stats {
    /** Calls of advance. */
    uint64_t blocks;
    /** Calls of split, and those of them that returned 1. */
    uint64_t splits_tried;
    uint64_t splits;
} ws_spliter_stats;

/** Options of ws_spliter_run(); begin with WS_SPLITER_OPTIONS_INIT.  0 and NULL
 * stand for the default. */
typedef struct ws_spliter_options {
    /** sizeof(ws_spliter_options). */
    size_t struct_size;
    /** NULL = the current pool. */
    ws_pool *pool;
    /** For advance. */
    void *arg;
    /** The smallest block, and half of the smallest spliter that is divided;
     * default 1. */
    size_t min_units;
    /** The largest block; default 65536.  1: between any two units the worker
     * looks who is hungry, at a cost of some 30 ns. */
    size_t max_units;
    /** Gets what the run has done, also when it fails; NULL = not wanted. */
    ws_spliter_stats *stats;
} ws_spliter_options;

/** An initializer that stands for all defaults. */
#define WS_SPLITER_OPTIONS_INIT                                                \
    {                                                                          \
        sizeof(ws_spliter_options), NULL, NULL, 0, 0, NULL                     \
    }

/**
 * Runs a spliter, and all that are split off from it, to their ends.  Serial
 * equivalent:
 *
 *     while (code == 0 && ops->size(it) > 0) {
 *         code = ops->advance(it, max_units, arg);
 *     }
 *     ops->drop(it);
 *     return code;
 *
 * Blocks begin with min_units and double while one takes less than 2 us.  After
 * an error, or when a token in force is canceled (cancel.h), no further block
 * begins, spliters that are left are dropped, and ws_cancelled() is true inside
 * those blocks that still run.
 *
 * `options` NULL stands for all defaults.
 *
 * Thread: any; outside a worker of the pool everything runs in the pool.
 * Blocks: until all spliters are at their end or dropped.
 * May run other jobs: as ws_scope_in().
 * May allocate: as ws_scope_spawn_copy() per split, plus once per job for
 * spliters of more than WS_SPLITER_SMALL bytes.  Where memory is out the
 * calling worker does the half itself.
 * Owns: takes what *it holds, unless it returns WS_EINVAL; the bytes must live
 * until it returns.  `ops` and `options` are read meanwhile.
 * Returns: 0: all is done; the first code of advance that was not 0;
 * WS_ECANCELED; WS_EINVAL (ops, one of its members or `it` NULL, bytes 0,
 * min_units above max_units); what ws_scope_in() returns when nothing ran.
 */
WS_API int ws_spliter_run(const ws_spliter_ops *ops, void *it,
                          const ws_spliter_options *options);

WS_END_DECLS

#endif
