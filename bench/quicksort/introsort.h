/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * introsort.h: quicksort with heapsort after too many levels (Musser, 1997), in
 * steps that a parallel one can use.
 */
#ifndef BENCH_QUICKSORT_INTROSORT_H
#define BENCH_QUICKSORT_INTROSORT_H

#include <stddef.h>
#include <stdint.h>

enum {
    QUICK_FEW = 16,
    QUICK_MANY = 128
};

static inline void quick_swap(uint64_t *a, uint64_t *b)
{
    uint64_t t = *a;
    *a = *b;
    *b = t;
}

static inline void quick_insertion(uint64_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t item = a[i];
        size_t k = i;
        for (; k > 0 && item < a[k - 1]; k--) {
            a[k] = a[k - 1];
        }
        a[k] = item;
    }
}

static inline void quick_sift(uint64_t *a, size_t root, size_t n)
{
    uint64_t item = a[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && a[child] < a[child + 1]) {
            child++;
        }
        if (item >= a[child]) {
            break;
        }
        a[root] = a[child];
    }
    a[root] = item;
}

static inline void quick_heapsort(uint64_t *a, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        quick_sift(a, i, n);
    }
    for (size_t i = n; i-- > 1;) {
        quick_swap(&a[0], &a[i]);
        quick_sift(a, 0, i);
    }
}

static inline size_t quick_median(const uint64_t *a, size_t i, size_t j,
                                  size_t k)
{
    if (a[i] < a[j]) {
        return a[j] < a[k] ? j : a[i] < a[k] ? k : i;
    }
    return a[i] < a[k] ? i : a[j] < a[k] ? k : j;
}

/* Of three, of many items the median of three such. */
static inline size_t quick_pivot(const uint64_t *a, size_t n)
{
    size_t mid = n / 2;
    size_t step = n / 8;
    if (n < QUICK_MANY) {
        return quick_median(a, 0, mid, n - 1);
    }
    return quick_median(a, quick_median(a, 0, step, 2 * step),
                        quick_median(a, mid - step, mid, mid + step),
                        quick_median(a, n - 1 - 2 * step, n - 1 - step, n - 1));
}

/* Hoare's: no item of the first part is larger than one of the second, and
 * neither is empty; the length of the first.  n is at least 3. */
static inline size_t quick_split(uint64_t *a, size_t n)
{
    uint64_t pivot = a[quick_pivot(a, n)];
    uint64_t *low = a;
    uint64_t *high = a + n - 1;
    for (;; low++, high--) {
        while (*low < pivot) {
            low++;
        }
        while (pivot < *high) {
            high--;
        }
        if (low >= high) {
            return (size_t)(high - a) + 1;
        }
        quick_swap(low, high);
    }
}

/* Levels until it is a heapsort's turn. */
static inline unsigned quick_levels(size_t n)
{
    unsigned levels = 2;
    for (; n > 1; n /= 2) {
        levels += 2;
    }
    return levels;
}

static void quick_serial(uint64_t *a, size_t n, unsigned levels)
{
    while (n > QUICK_FEW) {
        if (levels-- == 0) {
            quick_heapsort(a, n);
            return;
        }
        size_t at = quick_split(a, n);
        quick_serial(a, at, levels);
        a += at;
        n -= at;
    }
    quick_insertion(a, n);
}

#endif
