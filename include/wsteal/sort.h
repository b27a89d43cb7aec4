/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * sort.h: sort arrays in the current pool: in place, and stably.
 *
 * Two ways to say what the order is.  ws_sort() and ws_stable_sort() take a
 * comparison function, as qsort(3) does, and elements of any size.
 * WS_SORT_DEFINE() in sort_define.h makes functions for one type, into which
 * the comparison is compiled: for numbers they are several times faster.
 *
 * What holds for all of them:
 *
 *  - Any comparison ends, stays in bounds and leaves a permutation of the
 *    input, also one that is inconsistent, random, or met by a NaN; the array
 *    is sorted if the comparison is a strict weak order on what it holds.
 *  - O(n log n) comparisons for every input, and a stack of O(log n).  Arrays
 *    that are sorted, or sorted backwards without equal elements, take n
 *    comparisons.
 *  - The comparison is called by several threads at once, with pointers to
 *    elements or to copies of them; it must not change the array, and must
 *    return.
 *  - Up to a thousand elements, outside a worker up to four thousand, are
 *    sorted by the caller alone, without a fork.  More are sorted by the
 *    workers of the current pool (task.h): outside a worker, of the global
 *    pool; to use another one, call from a job of it (ws_pool_install()).
 *    Where no pool can be had, the caller sorts alone.
 *  - Tokens (cancel.h) do not stop a sort.
 */
#ifndef WSTEAL_SORT_H
#define WSTEAL_SORT_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** The order of two elements: negative when `a` comes before `b`, positive when
 * it comes after, 0 when they are equal.  `ctx` is what the sort was given. */
typedef int (*ws_compare_fn)(const void *a, const void *b, void *ctx);

/**
 * Sorts the `n` elements of `size` bytes at `base`, in place; equal elements
 * may change their order.  Serial equivalent: qsort_r(base, n, size, compare,
 * ctx).
 *
 * Thread: any; above a few thousand elements, outside a worker, the global
 * pool sorts.
 * Blocks: until the array is sorted.
 * May run other jobs: as ws_join().
 * May allocate: as ws_join(); no memory for elements.
 * Owns: nothing; `base` and `ctx` must live until it returns.
 * Returns: WS_OK; WS_EINVAL: compare NULL, size 0, base NULL with n > 0, or an
 * array beyond the address space; nothing changed.
 *
 * Algorithm: quicksort with branch-free partitions (Edelkamp and Weiss,
 * BlockQuicksort, 2016, for the idea; the cyclic Lomuto scheme of Bergdoll and
 * Peters), heapsort after too many levels (Musser, Introspective sorting,
 * 1997), equal elements apart as in pdqsort (Peters, 2015); both the halves and
 * the first partitions run in parallel.
 */
WS_API int ws_sort(void *base, size_t n, size_t size, ws_compare_fn compare,
                   void *ctx);

/**
 * ws_sort() that keeps the order of equal elements.
 *
 * Thread, Blocks, May run other jobs: as ws_sort().
 * May allocate: once, n elements, released before it returns.  Without that
 * memory it sorts in place with O(n log^2 n) moves, so it cannot fail.
 * Owns, Returns: as ws_sort().
 *
 * Algorithm: merge sort between the array and a copy; the merges work from both
 * ends at once, without branches, and the large ones are cut in two at the
 * median of the output and run in parallel (as in Cormen et al., Multithreaded
 * merge sort).  In place: merges by rotation (Dudzinski and Dydek, 1981).
 */
WS_API int ws_stable_sort(void *base, size_t n, size_t size,
                          ws_compare_fn compare, void *ctx);

/** Whether `a` comes before `b`: not 0 or 0. */
typedef int (*ws_less_fn)(const void *a, const void *b, void *ctx);

/** The innermost loops of a sort, for one type of elements and one order; what
 * WS_SORT_DEFINE() generates and hands to ws_sort_with(). */
typedef struct ws_sort_kernel {
    /** sizeof(ws_sort_kernel) of the program. */
    size_t struct_size;
    /** Bytes of an element. */
    size_t size;
    /** Elements that `few` takes at most, at least 8. */
    size_t few_max;
    ws_less_fn less;
    /** Sorts few elements, stably. */
    void (*few)(void *a, size_t n, void *ctx);
    /** The index of an element near the median; n is at least few_max. */
    size_t (*middle)(const void *a, size_t n, void *ctx);
    /** Moves the elements before `pivot`, which is outside a, to the front;
     * with `equal` also those that are equal to it.  Returns their number. */
    size_t (*split)(void *a, size_t n, const void *pivot, int equal, void *ctx);
    /** The length of the longest sorted beginning; with `down` of the longest
     * beginning in which each element comes before the one in front of it. */
    size_t (*run)(const void *a, size_t n, int down, void *ctx);
    /** Merges two sorted arrays to `out`, which overlaps neither. */
    void (*merge)(const void *a, size_t na, const void *b, size_t nb, void *out,
                  void *ctx);
} ws_sort_kernel;

/**
 * ws_sort() by a kernel; `ctx` goes to the functions of the kernel.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_sort().
 * Owns: nothing; `kernel`, `base` and `ctx` must live until it returns.
 * Returns: WS_OK; WS_EINVAL: kernel NULL or incomplete, base NULL with n > 0,
 * or an array beyond the address space; nothing changed.
 */
WS_API int ws_sort_with(const ws_sort_kernel *kernel, void *base, size_t n,
                        void *ctx);

/**
 * ws_stable_sort() by a kernel.
 *
 * Thread, Blocks, May run other jobs, May allocate: as ws_stable_sort().
 * Owns, Returns: as ws_sort_with().
 */
WS_API int ws_stable_sort_with(const ws_sort_kernel *kernel, void *base,
                               size_t n, void *ctx);

WS_END_DECLS

#endif
