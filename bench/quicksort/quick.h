/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * quick.h: the numbers to sort, of the kind that the point names.
 */
#ifndef BENCH_QUICKSORT_QUICK_H
#define BENCH_QUICKSORT_QUICK_H

#include <stdlib.h>
#include <string.h>

#include "../support/runner.h"

static uint64_t *quick_input;
static uint64_t *quick_items;
static size_t quick_n;

/* Item i; -1: no such kind. */
static inline int quick_item(const char *kind, uint64_t i, uint64_t *state,
                             uint64_t *item)
{
    if (strcmp(kind, "random") == 0 || kind[0] == '\0') {
        *item = bench_random(state);
    } else if (strcmp(kind, "sorted") == 0) {
        *item = i;
    } else if (strcmp(kind, "reversed") == 0) {
        *item = quick_n - i;
    } else if (strcmp(kind, "equal") == 0) {
        *item = 7;
    } else if (strcmp(kind, "few") == 0) {
        *item = bench_random(state) % 16;
    } else if (strcmp(kind, "organ") == 0) {
        *item = i < quick_n - i ? i : quick_n - i;
    } else {
        return -1;
    }
    return 0;
}

static inline int quick_setup(const bench_args *args)
{
    uint64_t state = 1;
    quick_n = args->size;
    quick_input = (uint64_t *)malloc(quick_n * sizeof(uint64_t));
    quick_items = (uint64_t *)malloc(quick_n * sizeof(uint64_t));
    if (quick_input == NULL || quick_items == NULL) {
        return -1;
    }
    for (size_t i = 0; i < quick_n; i++) {
        if (quick_item(args->point, i, &state, &quick_input[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static inline void quick_prepare(void)
{
    memcpy(quick_items, quick_input, quick_n * sizeof(uint64_t));
}

/* Of the items in their order; 0 where they are not sorted. */
static inline uint64_t quick_check(void)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < quick_n; i++) {
        if (i > 0 && quick_items[i - 1] > quick_items[i]) {
            return 0;
        }
        hash = hash * 0x9e3779b97f4a7c15u + quick_items[i];
    }
    return hash;
}

static inline uint64_t quick_units(void)
{
    return quick_n;
}

static inline void quick_teardown(void)
{
    free(quick_input);
    free(quick_items);
}

#endif
