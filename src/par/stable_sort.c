/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * stable_sort.c: the stable sort: merge sort between the array and a copy.
 *
 * Halves are forked, and merges of many elements are cut where the output is
 * half full: the two parts are merges of their own.  Each level moves each
 * element once, from one array to the other; which one a level writes to
 * follows from where the result of the last one has to be.
 *
 * Invariant: the elements of a part are all in one of the two arrays, whatever
 * the comparison says; cuts stay within the inputs.
 *
 * Layer: par.  See include/wsteal/sort.h.
 */
#include "par/sort.h"

#include <stdlib.h>

#include <wsteal/task.h>

/* Merges of more elements than this are cut in two. */
#define MERGE_FORK 8192
/* Parts of more elements than this are looked at whether they are in order. */
#define RUN_MIN 1024

struct merge {
    const struct wsi_sorter *s;
    char *a;
    size_t na;
    char *b;
    size_t nb;
    char *out;
};

struct part {
    const struct wsi_sorter *s;
    char *a;
    char *spare;
    size_t n;
    int to_spare; /* where the result shall be */
};

/* How many of the first `half` elements of the output come from a.  Of equal
 * elements those of a come first. */
static size_t cut(const struct merge *m, size_t half)
{
    const struct wsi_sorter *s = m->s;
    size_t low = half > m->nb ? half - m->nb : 0;
    for (size_t high = half < m->na ? half : m->na; low < high;) {
        const size_t i = low + (high - low) / 2;
        if (wsi_sort_before(s, wsi_sort_at(s, m->b, half - i - 1),
                            wsi_sort_at(s, m->a, i))) {
            high = i;
        } else {
            low = i + 1;
        }
    }
    return low;
}

static int merge(void *arg)
{
    const struct merge *m = arg;
    const struct wsi_sorter *s = m->s;
    const size_t n = m->na + m->nb;
    if (n <= MERGE_FORK || s->workers < 2) {
        s->kernel->merge(m->a, m->na, m->b, m->nb, m->out, s->ctx);
        return 0;
    }
    const size_t i = cut(m, n / 2);
    const size_t j = n / 2 - i;
    struct merge low = {s, m->a, i, m->b, j, m->out};
    struct merge high = {s,         wsi_sort_at(s, m->a, i),
                         m->na - i, wsi_sort_at(s, m->b, j),
                         m->nb - j, wsi_sort_at(s, m->out, n / 2)};
    return ws_join(merge, &low, merge, &high);
}

/* Merges two neighbors, which may need no merge at all. */
static void merge_halves(struct merge *m)
{
    const struct wsi_sorter *s = m->s;
    const char *const a_last = wsi_sort_at(s, m->a, m->na - 1);
    const char *const b_last = wsi_sort_at(s, m->b, m->nb - 1);
    if (!wsi_sort_before(s, m->b, a_last)) {
        memcpy(m->out, m->a, (m->na + m->nb) * s->size);
    } else if (wsi_sort_before(s, b_last, m->a)) {
        memcpy(m->out, m->b, m->nb * s->size);
        memcpy(wsi_sort_at(s, m->out, m->nb), m->a, m->na * s->size);
    } else {
        merge(m);
    }
}

static int merge_sort(void *arg)
{
    const struct part *p = arg;
    const struct wsi_sorter *s = p->s;
    if (p->n <= s->kernel->few_max) {
        if (p->n > 1) {
            s->kernel->few(p->a, p->n, s->ctx);
        }
        if (p->to_spare) {
            memcpy(p->spare, p->a, p->n * s->size);
        }
        return 0;
    }
    /* Parts in order need no levels below.  The looks cost O(n) in all: after a
     * long one in vain, the lower half is in order. */
    if (p->n > RUN_MIN && wsi_sort_is_run(s, p->a, p->n)) {
        if (p->to_spare) {
            memcpy(p->spare, p->a, p->n * s->size);
        }
        return 0;
    }
    const size_t half = p->n / 2;
    struct part low = {s, p->a, p->spare, half, !p->to_spare};
    struct part high = {s, wsi_sort_at(s, p->a, half),
                        wsi_sort_at(s, p->spare, half), p->n - half,
                        !p->to_spare};
    if (s->workers > 1 && p->n > WSI_SORT_FORK) {
        ws_join(merge_sort, &low, merge_sort, &high);
    } else {
        merge_sort(&low);
        merge_sort(&high);
    }
    char *const in = p->to_spare ? p->a : p->spare;
    struct merge m = {s,           in,
                      half,        wsi_sort_at(s, in, half),
                      p->n - half, p->to_spare ? p->spare : p->a};
    merge_halves(&m);
    return 0;
}

void wsi_stable_sort(struct wsi_sorter *s, char *a, char *spare)
{
    if (spare != NULL) {
        struct part all = {s, a, spare, s->n, 0};
        wsi_sort_enter(s, merge_sort, &all);
    } else {
        struct wsi_sort_range all = {s, a, s->n};
        wsi_sort_enter(s, wsi_sort_in_place, &all);
    }
}

int ws_stable_sort_with(const ws_sort_kernel *kernel, void *base, size_t n,
                        void *ctx)
{
    struct wsi_sorter s;
    const int code = wsi_sort_begin(&s, kernel, base, n, ctx);
    if (code != 1 || wsi_sort_is_run(&s, (char *)base, n)) {
        return code < 0 ? code : WS_OK;
    }
    if (n <= kernel->few_max) {
        kernel->few(base, n, ctx);
        return WS_OK;
    }
    /* An element is aligned to a power of two that divides its size; more than
     * a page would be odd. */
    size_t align = s.size & (0 - s.size);
    align = align > 4096 ? 4096 : align;
    char *const memory =
        n > (PTRDIFF_MAX - align) / s.size ? NULL : malloc(n * s.size + align);
    char *spare = memory;
    if (memory != NULL && (uintptr_t)memory % align != 0) {
        spare += align - (uintptr_t)memory % align;
    }
    wsi_stable_sort(&s, (char *)base, spare);
    free(memory);
    return WS_OK;
}
