/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * merge.h: records to sort by their keys, each with the place it comes from, so
 * that the result tells whether the sort was stable; and the parts of a merge
 * sort between two arrays.
 */
#ifndef BENCH_MERGESORT_MERGE_H
#define BENCH_MERGESORT_MERGE_H

#include <stdlib.h>
#include <string.h>

#include "../support/runner.h"

typedef struct {
    uint32_t key;
    uint32_t place;
} merge_item;

enum {
    MERGE_FEW = 16,      /* sorted by insertion */
    MERGE_CUT_OFF = 4096 /* sorted or merged by one task */
};

static merge_item *merge_input;
static merge_item *merge_items;
static size_t merge_n;

static inline int merge_setup(const bench_args *args)
{
    uint64_t state = 1;
    merge_n = args->size;
    merge_input = (merge_item *)malloc(merge_n * sizeof(merge_item));
    merge_items = (merge_item *)malloc(merge_n * sizeof(merge_item));
    if (merge_input == NULL || merge_items == NULL) {
        return -1;
    }
    for (size_t i = 0; i < merge_n; i++) {
        merge_input[i].key =
            (uint32_t)(bench_random(&state) % (merge_n / 4 + 1));
        merge_input[i].place = (uint32_t)i;
    }
    return 0;
}

static inline void merge_prepare(void)
{
    memcpy(merge_items, merge_input, merge_n * sizeof(merge_item));
}

/* Of the records in their order; 0 where they are not sorted stably. */
static inline uint64_t merge_check(void)
{
    uint64_t last = 0;
    uint64_t hash = 1;
    for (size_t i = 0; i < merge_n; i++) {
        uint64_t item =
            (uint64_t)merge_items[i].key << 32 | merge_items[i].place;
        if (i > 0 && item <= last) {
            return 0;
        }
        hash = hash * 0x9e3779b97f4a7c15u + item;
        last = item;
    }
    return hash;
}

static inline uint64_t merge_units(void)
{
    return merge_n;
}

static inline void merge_teardown(void)
{
    free(merge_input);
    free(merge_items);
}

/* ---- a merge sort ---------------------------------------------------- */

/* Without a branch on the keys, which nobody could predict. */
static inline void merge_serial(const merge_item *a, size_t na,
                                const merge_item *b, size_t nb, merge_item *out)
{
    const merge_item *a_end = a + na;
    const merge_item *b_end = b + nb;
    while (a < a_end && b < b_end) {
        size_t second = b->key < a->key;
        const merge_item *from = second != 0 ? b : a;
        *out++ = *from;
        b += second;
        a += 1 - second;
    }
    memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
    memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

static inline void merge_insertion(merge_item *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        merge_item item = a[i];
        size_t k = i;
        for (; k > 0 && item.key < a[k - 1].key; k--) {
            a[k] = a[k - 1];
        }
        a[k] = item;
    }
}

/* Sorts a, with as much at spare; the result is there where `to_spare` is not
 * 0. */
static inline void merge_sort(merge_item *a, merge_item *spare, size_t n,
                              int to_spare)
{
    size_t half = n / 2;
    if (n <= MERGE_FEW) {
        merge_insertion(a, n);
        if (to_spare != 0) {
            memcpy(spare, a, n * sizeof(*a));
        }
        return;
    }
    merge_sort(a, spare, half, !to_spare);
    merge_sort(a + half, spare + half, n - half, !to_spare);
    if (to_spare != 0) {
        merge_serial(a, half, a + half, n - half, spare);
    } else {
        merge_serial(spare, half, spare + half, n - half, a);
    }
}

/* How many keys are less than `key`; with `equal`, or equal to it. */
static inline size_t merge_find(const merge_item *a, size_t n, uint32_t key,
                                int equal)
{
    size_t begin = 0;
    while (begin < n) {
        size_t mid = begin + (n - begin) / 2;
        if (a[mid].key < key || (equal != 0 && a[mid].key == key)) {
            begin = mid + 1;
        } else {
            n = mid;
        }
    }
    return begin;
}

/* Where two sorted arrays, not both empty, can be cut so that the merge of what
 * is in front comes before the merge of what is behind. */
static inline void merge_cut(const merge_item *a, size_t na,
                             const merge_item *b, size_t nb, size_t *at_a,
                             size_t *at_b)
{
    if (na >= nb) {
        *at_a = na / 2;
        *at_b = merge_find(b, nb, a[*at_a].key, 0);
    } else {
        *at_b = nb / 2;
        *at_a = merge_find(a, na, b[*at_b].key, 1);
    }
}

#endif
