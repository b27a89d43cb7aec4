/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * search.h: graph search as one call.
 *
 * The user has states of a fixed size, a callback that *expands* a state, which
 * means that it emits the states that follow, and a test-and-set *visit* that
 * says whether a state is new.  The library keeps the *open* states: those that
 * are visited and not yet expanded.
 *
 * Each worker searches depth first on a stack of its own, newest state first,
 * and gives the oldest half away when another worker is hungry.  The memory is
 * that of the open states: with at most b new states from one expansion, and d
 * expansions on the longest path that is walked, about workers * d * b.  In a
 * tree d is its depth, where a breadth-first search has a whole level open.  In
 * a graph that path can wind through most of the states (of the 3.7 million of
 * the 2x2x2 cube 2.5 are open at worst): there, levels need less, see
 * examples/cube2x2.c, and max_open sets a limit.
 *
 * The search ends when no state is open or being expanded, exactly; or earlier:
 * because of an error, a cancellation (cancel.h), ws_search_stop() or
 * ws_search_stop_and_save().  Whenever it ends early, the states that are still
 * open are handed to `save`, if there is one: given as roots with roots_visited
 * to a later search, in this process or another that has the same visited set,
 * they complete the search, and no state was expanded twice.  (But one whose
 * expansion returned an error or failed for want of memory is open again.)
 *
 * A state is copied by its bytes.  Up to 64 bytes; larger ones are kept by the
 * user and searched by number or pointer.
 */
#ifndef WSTEAL_SEARCH_H
#define WSTEAL_SEARCH_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** The largest state_size. */
#define WS_SEARCH_STATE_MAX 64

/** Codes of searches, beside those of ws_status. */
enum ws_search_code {
    /** From expand: try this state again later. */
    WS_SEARCH_RETRY = 0x52545259,
    /** From ws_search(): ended by ws_search_stop_and_save(). */
    WS_SEARCH_SAVED = 0x53415645
};

/** A running search, as a callback sees it: valid during that callback, on its
 * thread.  There is no typedef: the name alone is the function ws_search(). */
struct ws_search;

/** What a search has done so far. */
typedef struct ws_search_stats {
    /** States that were opened: roots, and emitted states that were new. */
    uint64_t visited;
    /** Those that were expanded, and those that never will be: their order is
     * above that of a goal, or they were given up. */
    uint64_t expanded;
    uint64_t pruned;
    /** Those that are open: in progress reports as of the workers' last block
     * ends; in a result those that were left. */
    uint64_t open;
    /** Expansions that asked to be tried again. */
    uint64_t retries;
    /** How often the search was asked to give half of a stack away, and how
     * often there was something to give. */
    uint64_t splits_tried;
    uint64_t splits;
    /** Since the search began. */
    uint64_t elapsed_ns;
    /** visited per second: since the last report; in a result, since the
     * begin. */
    double per_second;
} ws_search_stats;

/** What to search.  Begin with WS_SEARCH_CONFIG_INIT; 0 and NULL stand for the
 * default.  All callbacks get `arg`; unless said otherwise they are called by
 * several workers at once. */
typedef struct ws_search_config {
    /** sizeof(ws_search_config). */
    size_t struct_size;
    /** NULL = the current pool. */
    ws_pool *pool;
    void *arg;

    /** Bytes of a state, 1 to WS_SEARCH_STATE_MAX. */
    size_t state_size;
    /** An array of n_roots states; read while the search begins. */
    const void *roots;
    size_t n_roots;
    /** 1: the roots are open states of an earlier search: they are not asked
     * for with visit. */
    int roots_visited;

    /** Emits what follows from the state with ws_search_emit().  Returns 0;
     * WS_SEARCH_RETRY (what it has emitted stays); another code ends the
     * search and is what ws_search() returns.  `state` is a copy, aligned for
     * any type. */
    int (*expand)(const void *state, struct ws_search *search, void *arg);
    /** Returns 1 for the first call with a state, else 0; so it must be atomic.
     * Called once per emitted state, right before that is opened, and for each
     * root; ws_bitmap_add() (bitmap.h) is made for it.  NULL: expand emits new
     * states only. */
    int (*visit)(const void *state, void *arg);

    /** For ws_search_found().  NULL: there is no order. */
    uint64_t (*order)(const void *state, void *arg);
    /** Gets the goal that is first by order: state_size bytes. */
    void *goal;

    /** Called on some worker, one call at a time, every progress_ms
     * milliseconds at the earliest; it may end the search.  Long expansions
     * delay it.  Default 1000. */
    void (*progress)(const ws_search_stats *stats, struct ws_search *search,
                     void *arg);
    unsigned progress_ms;

    /** Gets the states that are still open, n at a time, when the search has
     * ended early; on the calling thread, after all other callbacks.  A code
     * other than 0 ends this, too: it will not get the rest, and ws_search()
     * returns the code. */
    int (*save)(const void *states, size_t n, void *arg);

    /** How often a state is expanded at most while it returns WS_SEARCH_RETRY;
     * default 8. */
    unsigned max_attempts;
    /** Microseconds between the first and the second attempt, doubled each time
     * from then on; default 1000. */
    unsigned retry_us;
    /** Called after the last attempt.  0: the search goes on without the state;
     * another code ends it.  NULL: the search ends with WS_ETIMEDOUT. */
    int (*give_up)(const void *state, unsigned attempts, void *arg);

    /** Open states in memory at most, counted in blocks of up to 4 KiB that may
     * be partly filled; default: no limit.  Beyond it the search ends with
     * WS_ENOMEM. */
    size_t max_open;
    /** States a worker expands between two looks at hunger, cancellation and
     * the clock, at most; by default 256, and less when they take more than
     * some microseconds. */
    size_t max_block;
} ws_search_config;

/** An initializer that stands for all defaults. */
#define WS_SEARCH_CONFIG_INIT                                                  \
    {                                                                          \
        sizeof(ws_search_config), NULL, NULL, 0, NULL, 0, 0, NULL, NULL, NULL, \
            NULL, NULL, 0, NULL, 0, 0, NULL, 0, 0                              \
    }

/**
 * Searches.  Serial equivalent, without retries, order, and early ends:
 *
 *     for (i = 0; i < n_roots; i++) {
 *         if (roots_visited || visit(roots[i], arg)) push(roots[i]);
 *     }
 *     while (pop(&state)) {
 *         expand(state, search, arg);   // ws_search_emit(search, next) is:
 *     }                                 // if (visit(next, arg)) push(next);
 *
 * All states that can be reached are expanded once each, in no certain order.
 *
 * Thread: any; outside a worker of the pool all runs in the pool, and the
 * caller sleeps.
 * Blocks: until the search has ended.  No worker is blocked while a state waits
 * for its next attempt; when nothing else is open the caller sleeps until then.
 * May run other jobs: as ws_scope_in().
 * May allocate: a block per 4 KiB of open states and per split, one per retry;
 * nothing per state.  Where memory is out it ends with WS_ENOMEM.
 * Owns: nothing; all that `config` points to must live until it returns.
 * Returns: 0: all reachable states were expanded, or pruned, or given up;
 * the code of ws_search_stop(), or the first code of expand or give_up that is
 * not 0; the code of save; WS_SEARCH_SAVED; WS_ECANCELED; WS_ENOMEM;
 * WS_ETIMEDOUT: the last attempt has failed; WS_EINVAL (config, expand, roots
 * with n_roots > 0, or goal with an order NULL; state_size out of range);
 * WS_EFORKED and what ws_pool_global() returns: nothing ran.  *stats is written
 * unless it is WS_EINVAL; `stats` NULL = not wanted.
 */
WS_API int ws_search(const ws_search_config *config, ws_search_stats *stats);

/**
 * Opens the state, if visit says that it is new.
 *
 * Thread: that of expand, during the call.  Blocks: no.
 * May run other jobs: no.  May allocate: once per 4 KiB of open states.
 * Owns: nothing; the bytes are copied.
 * Returns: 1: opened; 0: seen before; WS_ENOMEM: visit was not called.  The
 * search will end, and the state that is being expanded counts as open; so
 * expand can ignore this.
 */
WS_API int ws_search_emit(struct ws_search *search, const void *state);

/**
 * Ends the search: "found".  Expansions that run are completed, and see
 * ws_cancelled(); no further ones begin, apart from those that other workers
 * begin at this very moment.
 *
 * Thread: that of expand or progress, during the call.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: nothing.  ws_search() will return `code`, unless an earlier code
 * was first; 0 is taken for WS_ECANCELED.
 */
WS_API void ws_search_stop(struct ws_search *search, int code);

/**
 * ws_search_stop(search, WS_SEARCH_SAVED): ends the search so that it can be
 * resumed from what `save` gets.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns: as ws_search_stop().
 * Returns: nothing.
 */
WS_API void ws_search_stop_and_save(struct ws_search *search);

/**
 * Says that the state is a goal, in a search for the first goal by order.  The
 * search goes on, but states whose order is above that of the goal are not
 * expanded any more.  In the end config->goal holds the goal with the smallest
 * order, and of several with that order the one whose bytes come first
 * (memcmp): the same as in a serial search, whatever the number of workers,
 *
 *  - if order() depends on the bytes of the state alone;
 *  - and no state that follows has a smaller order than the one it follows.
 *
 * So a depth, or a cost, must be part of the state; and visit must then return
 * 1 also when a state comes back with a smaller one than before.
 *
 * Thread: that of expand, during the call.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing; the bytes are copied.
 * Returns: 1: it is the first so far; 0: it is not; WS_EINVAL: no order.
 */
WS_API int ws_search_found(struct ws_search *search, const void *state);

/**
 * Whether ws_search_found() has been told of a goal, and the order of the
 * first.
 *
 * Thread: that of expand or progress, during the call.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing; *order is written when there is one; NULL = not wanted.
 * Returns: 1 or 0.
 */
WS_API int ws_search_best(const struct ws_search *search, uint64_t *order);

WS_END_DECLS

#endif
