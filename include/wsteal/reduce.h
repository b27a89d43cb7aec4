/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * reduce.h: one result from many indices, and searches in a range.
 *
 * All of these are loops as loop.h describes: no grain is needed, options are
 * the same, and the callbacks work on ranges, so that their inner loops are the
 * compiler's.
 */
#ifndef WSTEAL_REDUCE_H
#define WSTEAL_REDUCE_H

#include <wsteal/base.h>
#include <wsteal/loop.h>

WS_BEGIN_DECLS

/** How results are made; see ws_reduce(). */
typedef struct ws_reducer {
    /** Bytes of an accumulator, which is aligned for any type. */
    size_t size;
    /** Makes an accumulator that combines to no change. */
    void (*identity)(void *acc, void *arg);
    /** Adds the indices begin <= i < end, which follow those in acc. */
    int (*fold)(size_t begin, size_t end, void *acc, void *arg);
    /** acc becomes acc and then `right`, which is not used any more. */
    int (*combine)(void *acc, void *right, void *arg);
} ws_reducer;

/**
 * Reduces the range into *result.  Serial equivalent: identity(result), then
 * fold(begin, end, result).
 *
 * The combination keeps the order of the indices, so it must be associative but
 * need not be commutative.  With WS_FOR_FIXED the range is divided by its
 * length and max_grain alone (0 = a 1024th of the range), so that a result that
 * depends on where it is divided, as a floating point sum does, is the same
 * with any number of workers, in every run.
 *
 * Thread: any.  Blocks: until all is done.
 * May run other jobs: yes, in a worker (task.h).
 * May allocate: for accumulators of more than 256 bytes, once per piece that is
 * given away (where memory is out it is not), or per division of WS_FOR_FIXED;
 * and as ws_for().
 * Owns: nothing; *result belongs to the caller, also after an error.
 * Returns: 0; the first code of a callback that is not 0; WS_ECANCELED: indices
 * were left out; WS_ENOMEM: likewise, only with WS_FOR_FIXED; WS_EINVAL: a NULL
 * pointer (`arg` and `opts` may be), size 0, WS_FOR_STATIC, or as ws_for().
 * After WS_EINVAL *result is not touched; after other codes than 0 it is an
 * accumulator of some of the indices.
 */
WS_API int ws_reduce(size_t begin, size_t end, const ws_for_opts *opts,
                     const ws_reducer *reducer, void *result, void *arg);

/**
 * Looks for what the caller wants in begin <= i < end: sets *at to the first
 * index that is it; *at is `end` before.
 */
typedef int (*ws_find_fn)(size_t begin, size_t end, size_t *at, void *arg);

/**
 * Finds the first index in the range for which `find` finds one.  Serial
 * equivalent: *at = end, then find(begin, end, at, arg).
 *
 * What lies behind an index that has been found is not begun any more.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_for().
 * Owns: nothing.
 * Returns: 0: *at is the index, or `end` if there is none; else as ws_for(),
 * and WS_EINVAL for at NULL; then *at is not set.
 */
WS_API int ws_find_first(size_t begin, size_t end, const ws_for_opts *opts,
                         ws_find_fn find, void *arg, size_t *at);

/**
 * ws_find_first() that takes any of the indices: nothing is begun after one
 * has been found.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_find_first().
 */
WS_API int ws_find_any(size_t begin, size_t end, const ws_for_opts *opts,
                       ws_find_fn find, void *arg, size_t *at);

/** Tells about one index: not 0 = yes. */
typedef int (*ws_test_fn)(size_t index, void *arg);

/**
 * Counts the indices for which test(i, arg) is not 0.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_for().
 * Owns: nothing.
 * Returns: 0 and *count; else as ws_for(), and WS_EINVAL for count NULL; then
 * *count is not set.
 */
WS_API int ws_count(size_t begin, size_t end, const ws_for_opts *opts,
                    ws_test_fn test, void *arg, size_t *count);

/**
 * The sum of n numbers, divided as WS_FOR_FIXED says, so it is the same in
 * every run; integers wrap around.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_for().
 * Owns: nothing.
 * Returns: 0 and *sum; WS_ECANCELED; WS_EINVAL (sum NULL; a NULL with n > 0);
 * on an error *sum is not set.
 */
WS_API int ws_sum_double(const double *a, size_t n, double *sum);

/**
 * ws_sum_double() for 64-bit integers.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_sum_double().
 */
WS_API int ws_sum_int64(const int64_t *a, size_t n, int64_t *sum);

/**
 * The index of the smallest of n numbers, the first of equal ones.  NaN is
 * larger than all others.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_for().
 * Owns: nothing.
 * Returns: 0 and *at, which is 0 for n 0; WS_ECANCELED; WS_EINVAL (at NULL; a
 * NULL with n > 0); on an error *at is not set.
 */
WS_API int ws_min_double(const double *a, size_t n, size_t *at);

/**
 * The index of the largest, the first of equal ones.  NaN is smaller than all
 * others.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_min_double().
 */
WS_API int ws_max_double(const double *a, size_t n, size_t *at);

/**
 * ws_min_double() for 64-bit integers.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_min_double().
 */
WS_API int ws_min_int64(const int64_t *a, size_t n, size_t *at);

/**
 * ws_max_double() for 64-bit integers.
 *
 * Thread, Blocks, May run other jobs, May allocate, Owns, Returns: as
 * ws_min_double().
 */
WS_API int ws_max_int64(const int64_t *a, size_t n, size_t *at);

WS_END_DECLS

#endif
