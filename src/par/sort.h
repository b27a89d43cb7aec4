/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sort.h: what the files of the sorts share.
 *
 * The sorts know elements as bytes.  What compares many of them is in a kernel
 * (wsteal/sort.h), so that a comparison can be inlined there; what forks, what
 * bounds the depth, and what happens once in a while is compiled once, here.
 *
 * Layer: par.  Uses the public API only.
 */
#ifndef WSI_PAR_SORT_H
#define WSI_PAR_SORT_H

#include <wsteal/sort.h>
#include <wsteal/sort_define.h>

/* One sort, read by all its jobs. */
struct wsi_sorter {
    const ws_sort_kernel *kernel;
    void *ctx;
    size_t size;      /* of an element */
    size_t n;         /* of the whole array */
    unsigned workers; /* of the pool; 1: do not fork */
};

/* Parts of more elements than this are forked.  Measured with 64-bit numbers
 * and two workers: 256 and 512 take 0.8 of the serial time for 2000 elements,
 * 1024 from 4000 on; for a million there is no difference up to 8192. */
#define WSI_SORT_FORK 512
/* Outside a worker, arrays of more elements than this are handed to the pool:
 * that takes 3 us while a worker searches, and some 50 us when all sleep, as
 * long as the sort of a few thousand numbers. */
#define WSI_SORT_ENTER 4096

static inline char *wsi_sort_at(const struct wsi_sorter *s, char *a, size_t i)
{
    return a + i * s->size;
}

static inline int wsi_sort_before(const struct wsi_sorter *s, const char *a,
                                  const char *b)
{
    return s->kernel->less(a, b, s->ctx) != 0;
}

/* Swaps two elements; they may be one. */
static inline void wsi_sort_exchange(const struct wsi_sorter *s, char *a,
                                     char *b)
{
    if (s->size == 8) {
        char spare[8];
        memcpy(spare, a, 8);
        memmove(a, b, 8);
        memcpy(b, spare, 8);
    } else if (a != b) {
        wsi_sort_swap(a, b, s->size);
    }
}

/* Checks the arguments and fills *s; 1: there is something to sort. */
int wsi_sort_begin(struct wsi_sorter *s, const ws_sort_kernel *kernel,
                   const void *base, size_t n, void *ctx);

/* Whether n elements are in order now: they were, or they were in reverse. */
int wsi_sort_is_run(const struct wsi_sorter *s, char *a, size_t n);

/* Calls fn(arg), which returns 0, in a worker if there are enough elements and
 * there is one, and sets s->workers. */
void wsi_sort_enter(struct wsi_sorter *s, ws_fn fn, void *arg);

/* ws_sort_kernel.split(), by all workers if the part is most of the array. */
size_t wsi_sort_split_shared(const struct wsi_sorter *s, char *a, size_t n,
                             const char *pivot, int equal);

/* A part of the array. */
struct wsi_sort_range {
    const struct wsi_sorter *s;
    char *a;
    size_t n;
};

/* Sorts a wsi_sort_range stably, without memory; returns 0. */
int wsi_sort_in_place(void *arg);

/* ws_stable_sort_with() for tests: with `spare` NULL as if memory were out. */
void wsi_stable_sort(struct wsi_sorter *s, char *a, char *spare);

#endif
