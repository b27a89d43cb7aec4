/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * array.h: arrays made from arrays: map, filter, pack and prefix sums.
 *
 * All of these are loops as loop.h describes; no grain is needed.
 */
#ifndef WSTEAL_ARRAY_H
#define WSTEAL_ARRAY_H

#include <wsteal/base.h>
#include <wsteal/loop.h>

WS_BEGIN_DECLS

/** Makes *out from *in: 0 or an error code. */
typedef int (*ws_map_fn)(const void *in, void *out, void *arg);

/**
 * Calls fn for element i of `in` and of `out`, for each i < n.  Serial
 * equivalent: a loop.  `in` and `out` may be the same array.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_for().
 * Owns: nothing; sizes are in bytes.
 * Returns: as ws_for(); WS_EINVAL also for a NULL array with n > 0.
 */
WS_API int ws_map(const void *in, size_t in_size, void *out, size_t out_size,
                  size_t n, const ws_for_opts *opts, ws_map_fn fn, void *arg);

/** Whether an element is kept: not 0 = yes. */
typedef int (*ws_keep_fn)(const void *element, void *arg);

/**
 * Copies the elements that keep() wants to the front of `out`, in their order.
 * Serial equivalent: a loop that appends.  `in` and `out` may be the same
 * array; else they must not overlap.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_for().
 * Owns: nothing; `out` has room for n elements, those behind the kept ones are
 * scratch; `size` is in bytes.
 * Returns: 0 and *kept; WS_ECANCELED; WS_EINVAL: keep or kept NULL, size 0, a
 * NULL array with n > 0, WS_FOR_STATIC, or as ws_for().  On an error *kept is
 * not set and `out` holds anything.
 */
WS_API int ws_filter(const void *in, void *out, size_t n, size_t size,
                     const ws_for_opts *opts, ws_keep_fn keep, void *arg,
                     size_t *kept);

/**
 * ws_filter() by a flag per element: those with flags[i] not 0 are kept.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_filter().
 */
WS_API int ws_pack(const void *in, void *out, size_t n, size_t size,
                   const ws_for_opts *opts, const unsigned char *flags,
                   size_t *kept);

/** How prefixes are made; see ws_scan(). */
typedef struct ws_scanner {
    /** Bytes of an accumulator: plain data, copied as bytes, aligned for any
     * type. */
    size_t size;
    /** Makes an accumulator that combines to no change. */
    void (*identity)(void *acc, void *arg);
    /** Adds the indices begin <= i < end, which follow those in acc. */
    int (*fold)(size_t begin, size_t end, void *acc, void *arg);
    /** acc becomes acc and then `right`. */
    int (*combine)(void *acc, const void *right, void *arg);
    /** Writes the results of begin <= i < end; `acc` stands for all indices
     * before `begin`, and then for all before `end`. */
    int (*scan)(size_t begin, size_t end, void *acc, void *arg);
} ws_scanner;

/**
 * Prefix sums, in general.  Serial equivalent: identity(total), then
 * scan(begin, end, total).
 *
 * Where other workers want work they fold what lies ahead while the caller
 * scans, and scan it when they know what comes before: each index is then
 * visited twice at most.  combine() must be associative, need not be
 * commutative.  The grains of `opts` are not used.
 *
 * Thread, Blocks, May run other jobs: as ws_for().
 * May allocate: once, where accumulators for all workers have more than 4 KiB;
 * where memory is out the scan is serial.
 * Owns: nothing.
 * Returns: 0, *total is the whole; else the first code of a callback that is
 * not 0; WS_ECANCELED; WS_EINVAL: a NULL pointer (`arg` and `opts` may be),
 * size 0, flags, or as ws_for(), and nothing was touched.
 */
WS_API int ws_scan(size_t begin, size_t end, const ws_for_opts *opts,
                   const ws_scanner *scanner, void *total, void *arg);

/** *acc becomes *acc and then *x. */
typedef void (*ws_op_fn)(void *acc, const void *x, void *arg);

/** An array and what its prefixes are; see ws_scan_array(). */
typedef struct ws_prefixes {
    const void *in;
    /** May be `in`. */
    void *out;
    size_t n;
    /** Bytes of an element, at most 256. */
    size_t size;
    /** An element that changes nothing. */
    const void *identity;
    /** Associative; need not be commutative. */
    ws_op_fn op;
    void *arg;
    /** 0: out[i] is in[0] to in[i] combined; else without in[i]. */
    int exclusive;
} ws_prefixes;

/**
 * ws_scan() of an array: out[i] becomes the combination of in[0] to in[i], or
 * to in[i - 1].
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_scan().
 * Owns: nothing.
 * Returns: as ws_scan(); `total` may be NULL.
 */
WS_API int ws_scan_array(const ws_prefixes *prefixes, const ws_for_opts *opts,
                         void *total);

WS_END_DECLS

#endif
