/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * loop.h: parallel loops that need no grain.
 *
 * A loop gets a range of indices and a *body* for a part of it.  The caller
 * begins at the front, in blocks of a few microseconds, and gives half of what
 * is left away whenever another worker wants work (ws_hungry()); who takes that
 * half does the same.  So the body is called about as often as there are blocks
 * of that length, and few pieces move: where nobody wants work, none.
 *
 * The first indices of a loop of 32 and more tell how long an index takes: a
 * loop that is over in a microsecond or two runs on the caller, without a wake
 * of another thread.  A shorter loop cannot tell in time, so each of its
 * indices can be taken from the start; give it a `min_grain` where they are
 * cheap.
 *
 * A block of a loop of n < 1024 indices has at most n * n / 1024 + 1 of them,
 * so that a few long ones behind many short ones do not stay together.  Give a
 * `max_grain` to a longer loop that begins cheap and gets dear all at once: how
 * long its blocks are is known from the blocks before.
 *
 * Sources: lazy binary splitting, Tzannes et al. (2010), with the thief's
 * request (ws_hungry()) in place of a look at the own deque; block lengths by
 * the clock as in ParlayLib.
 */
#ifndef WSTEAL_LOOP_H
#define WSTEAL_LOOP_H

#include <wsteal/base.h>
#include <wsteal/cancel.h>

WS_BEGIN_DECLS

/** Works on the indices begin <= i < end of a loop: 0 or an error code. */
typedef int (*ws_range_fn)(size_t begin, size_t end, void *arg);

/** How a loop behaves; `flags` of ws_for_opts. */
enum ws_for_flags {
    /** One piece per worker, always the same one for the same range: for loops
     * that go over the same data again and again.  The loop waits until every
     * worker has come, also one that is in a long job. */
    WS_FOR_STATIC = 1,
    /** ws_for_slot() can be asked; a few nanoseconds per block. */
    WS_FOR_SLOTS = 2,
    /** The ranges of the pieces depend on the range and max_grain only, not on
     * who is there: results that depend on the order of combination, as sums
     * of floating point numbers do, are the same in every run.  For
     * ws_reduce(). */
    WS_FOR_FIXED = 4
};

/** Options of a loop; begin with WS_FOR_OPTS_INIT. */
typedef struct ws_for_opts {
    /** sizeof(ws_for_opts), set by WS_FOR_OPTS_INIT. */
    size_t struct_size;
    /** No block has fewer indices, unless the range has, or max_grain is less
     * than twice as much; 0 = 1.  A range of at most so many runs on the
     * caller, without a system call. */
    size_t min_grain;
    /** No block has more; 0 = no limit.  And what is left beside a block is in
     * pieces that others can take while it runs: with 1, each single index
     * while its neighbour runs.  Costs a fork (some nanoseconds) a block. */
    size_t max_grain;
    /** enum ws_for_flags. */
    unsigned flags;
    /** The loop is under this token, too; NULL = none. */
    ws_token *token;
} ws_for_opts;

#define WS_FOR_OPTS_INIT                                                       \
    {                                                                          \
        sizeof(ws_for_opts), 0, 0, 0, NULL                                     \
    }

/**
 * Calls body(b, e, arg) for parts of begin <= i < end that cover each index
 * once, perhaps in parallel.  Serial equivalent: body(begin, end, arg).
 *
 * After the first error, and when a token in force is canceled, no further
 * block begins.  The body may use all of the library; loops may be nested.
 *
 * Thread: any.  A thread that is no worker begins the loop itself and enters
 * the current pool when the loop turns out to be worth it.
 * Blocks: until all blocks are done.
 * May run other jobs: yes, in a worker (task.h).
 * May allocate: once, with a token while another one is in force.
 * Owns: nothing; opts NULL means the defaults.
 * Returns: 0; the first code of a body that is not 0; WS_ECANCELED: blocks were
 * left out; WS_ENOMEM: nothing ran, only with a token; WS_EINVAL: body NULL,
 * begin > end, min_grain > max_grain > 0, unknown flags, or a struct_size of
 * another version; nothing ran.
 */
WS_API int ws_for(size_t begin, size_t end, const ws_for_opts *opts,
                  ws_range_fn body, void *arg);

/** Works on the tile r0 <= row < r1, c0 <= column < c1. */
typedef int (*ws_tile_fn)(size_t r0, size_t r1, size_t c0, size_t c1,
                          void *arg);

/** The extent of a loop in two dimensions, and of its tiles. */
typedef struct ws_tiles {
    size_t rows;
    size_t columns;
    /** Rows and columns of a tile, the last ones may have fewer; 0 = all. */
    size_t tile_rows;
    size_t tile_columns;
} ws_tiles;

/**
 * Calls body for tiles that cover the rectangle, row of tiles by row of tiles.
 * Serial equivalent: two nested loops over the tiles.
 *
 * The grains of `opts` count tiles.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns: as ws_for().
 * Returns: as ws_for(); WS_EINVAL also for tiles NULL.
 */
WS_API int ws_for_2d(const ws_tiles *tiles, const ws_for_opts *opts,
                     ws_tile_fn body, void *arg);

/**
 * A number for scratch memory: no other body of the same loop that runs at the
 * same time gets it.  Below ws_worker_slots(), unless a body of the loop runs
 * on top of another one on the same thread (which takes WS_WAIT_ANY or a yield
 * inside the body): the k-th on top gets k * ws_worker_slots() more.
 *
 * Thread: inside the body of a loop with WS_FOR_SLOTS; of the innermost one.
 * Blocks: no.  May run other jobs: no.  May allocate: no.  Owns: nothing.
 * Returns: the number; -1 elsewhere.
 */
WS_API int ws_for_slot(void);

WS_END_DECLS

#endif
