/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sort_in_place.c: the stable sort without memory: merge sort whose merges
 * rotate.
 *
 * To merge a and b, the middle of the longer one is looked up in the other; the
 * two blocks between trade places; then that element is where it belongs, and
 * the two sides of it are merges of their own, of at most three quarters each.
 * O(n log n) comparisons a level at most, O(n log^2 n) moves in all.
 *
 * Layer: par.  See include/wsteal/sort.h.
 */
#include "par/sort.h"

#include <wsteal/task.h>

/* Neighbors: a has na elements, b follows. */
struct pair {
    const struct wsi_sorter *s;
    char *a;
    size_t na;
    size_t nb;
};

/* The first of n elements that x comes before, or, with `equal`, that does not
 * come before x. */
static size_t find(const struct wsi_sorter *s, char *a, size_t n, const char *x,
                   int equal)
{
    size_t low = 0;
    while (low < n) {
        const size_t i = low + (n - low) / 2;
        const char *const e = wsi_sort_at(s, a, i);
        const int after =
            equal ? !wsi_sort_before(s, e, x) : wsi_sort_before(s, x, e);
        if (after) {
            n = i;
        } else {
            low = i + 1;
        }
    }
    return low;
}

/* Lets the first `left` bytes and the next `right` bytes trade places: swaps
 * the shorter block to its end of the whole, until nothing is left. */
static void rotate(char *a, size_t left, size_t right)
{
    while (left > 0 && right > 0) {
        if (left <= right) {
            wsi_sort_swap(a, a + left, left);
            a += left;
            right -= left;
        } else {
            wsi_sort_swap(a + left - right, a + left, right);
            left -= right;
        }
    }
}

static int merge(void *arg)
{
    struct pair p = *(const struct pair *)arg;
    const struct wsi_sorter *s = p.s;
    while (p.na > 0 && p.nb > 0) {
        char *const b = wsi_sort_at(s, p.a, p.na);
        struct pair low = {s, p.a, p.na / 2, p.nb / 2};
        if (p.na >= p.nb) {
            low.nb = find(s, b, p.nb, wsi_sort_at(s, p.a, low.na), 1);
        } else {
            low.na = find(s, p.a, p.na, wsi_sort_at(s, b, low.nb), 0);
        }
        /* One element comes between the two sides: the first of a's high part,
         * or of b's, which then passes a's high part, too. */
        const size_t from_b = p.na < p.nb;
        rotate(wsi_sort_at(s, p.a, low.na), (p.na - low.na) * s->size,
               (low.nb + from_b) * s->size);
        struct pair high = {s, wsi_sort_at(s, p.a, low.na + low.nb + 1),
                            p.na - low.na - !from_b, p.nb - low.nb - from_b};
        if (s->workers > 1 && low.na + low.nb > WSI_SORT_FORK &&
            high.na + high.nb > WSI_SORT_FORK) {
            return ws_join(merge, &low, merge, &high);
        }
        merge(&low);
        p = high;
    }
    return 0;
}

int wsi_sort_in_place(void *arg)
{
    const struct wsi_sort_range *r = arg;
    const struct wsi_sorter *s = r->s;
    if (r->n <= s->kernel->few_max) {
        if (r->n > 1) {
            s->kernel->few(r->a, r->n, s->ctx);
        }
        return 0;
    }
    const size_t half = r->n / 2;
    struct wsi_sort_range low = {s, r->a, half};
    struct wsi_sort_range high = {s, wsi_sort_at(s, r->a, half), r->n - half};
    if (s->workers > 1 && r->n > WSI_SORT_FORK) {
        ws_join(wsi_sort_in_place, &low, wsi_sort_in_place, &high);
    } else {
        wsi_sort_in_place(&low);
        wsi_sort_in_place(&high);
    }
    struct pair halves = {s, r->a, half, r->n - half};
    if (wsi_sort_before(s, high.a, high.a - s->size)) {
        merge(&halves);
    }
    return 0;
}
