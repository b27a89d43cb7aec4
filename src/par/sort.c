/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sort.c: the unstable sort: quicksort whose halves are forked, heapsort where
 * it goes too deep.
 *
 * Invariants: a level of quicksort takes at least the pivot out of its array,
 * and an array has passed at most 2 log2(n) levels; so any comparison ends, in
 * O(n log n), on a stack of O(log n).  Elements only ever trade places.
 *
 * Layer: par.  See include/wsteal/sort.h.
 */
#include "par/sort.h"

#include <wsteal/task.h>

/* ---- ways in --------------------------------------------------------- */

int wsi_sort_begin(struct wsi_sorter *s, const ws_sort_kernel *kernel,
                   const void *base, size_t n, void *ctx)
{
    if (kernel == NULL || kernel->struct_size < sizeof(*kernel) ||
        kernel->size == 0 || kernel->few_max < 8 || (base == NULL && n > 0) ||
        n > PTRDIFF_MAX / kernel->size) {
        return WS_EINVAL;
    }
    s->kernel = kernel;
    s->ctx = ctx;
    s->size = kernel->size;
    s->n = n;
    s->workers = 1;
    return n > 1;
}

int wsi_sort_is_run(const struct wsi_sorter *s, char *a, size_t n)
{
    const ws_sort_kernel *k = s->kernel;
    if (k->run(a, n, 0, s->ctx) == n) {
        return 1;
    }
    if (k->run(a, n, 1, s->ctx) != n) {
        return 0;
    }
    for (size_t i = 0, j = n - 1; i < j; i++, j--) {
        wsi_sort_exchange(s, wsi_sort_at(s, a, i), wsi_sort_at(s, a, j));
    }
    return 1;
}

void wsi_sort_enter(struct wsi_sorter *s, ws_fn fn, void *arg)
{
    const int inside = ws_current_index() >= 0;
    if (s->n > (inside ? 2 * WSI_SORT_FORK : WSI_SORT_ENTER)) {
        s->workers = ws_current_num_workers();
        if (!inside && s->workers > 1 &&
            ws_pool_install(NULL, fn, arg) == WS_OK) {
            return;
        }
    }
    fn(arg);
}

/* ---- heapsort -------------------------------------------------------- */

static void sift(const struct wsi_sorter *s, char *a, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && wsi_sort_before(s, wsi_sort_at(s, a, child),
                                             wsi_sort_at(s, a, child + 1))) {
            child++;
        }
        if (!wsi_sort_before(s, wsi_sort_at(s, a, i),
                             wsi_sort_at(s, a, child))) {
            return;
        }
        wsi_sort_exchange(s, wsi_sort_at(s, a, i), wsi_sort_at(s, a, child));
    }
}

static void heap_sort(const struct wsi_sorter *s, char *a, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift(s, a, n, i);
    }
    while (n-- > 1) {
        wsi_sort_exchange(s, a, wsi_sort_at(s, a, n));
        sift(s, a, n, 0);
    }
}

/* ---- quicksort ------------------------------------------------------- */

/* A part of the array. */
struct part {
    const struct wsi_sorter *s;
    char *a;
    size_t n;
    /* The element in front of the part, a pivot of before: none in the part
     * comes before it.  NULL at the beginning of the array. */
    const char *front;
    unsigned levels; /* that may still follow */
    int uneven;      /* the last split was bad */
};

/* An element near the median: kernel.middle() of samples, by recursion, so that
 * larger parts are split more evenly. */
static size_t middle(const struct wsi_sorter *s, char *a, size_t n)
{
    const size_t eighth = n / 8;
    if (eighth < 8 * s->kernel->few_max) {
        return s->kernel->middle(a, n, s->ctx);
    }
    size_t m[3];
    for (size_t i = 0; i < 3; i++) {
        const size_t from = i == 0 ? 0 : i == 1 ? 4 * eighth : 7 * eighth;
        m[i] = from + middle(s, wsi_sort_at(s, a, from), eighth);
    }
    const char *const x = wsi_sort_at(s, a, m[0]);
    const char *const y = wsi_sort_at(s, a, m[1]);
    const char *const z = wsi_sort_at(s, a, m[2]);
    const int xy = wsi_sort_before(s, x, y);
    if (xy != wsi_sort_before(s, x, z)) {
        return m[0];
    }
    return xy != wsi_sort_before(s, y, z) ? m[2] : m[1];
}

/* Breaks the pattern that gave a bad pivot: moves elements from anywhere to
 * where the next samples are taken. */
static void shuffle(const struct wsi_sorter *s, char *a, size_t n)
{
    const size_t eighth = n / 8;
    uint64_t random = n;
    for (size_t i = 1; i < 8; i++) {
        for (size_t k = 0; k < 3; k++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            const size_t to = i * eighth + k - 1;
            const size_t from = (size_t)(random >> 33) % n;
            wsi_sort_exchange(s, wsi_sort_at(s, a, to),
                              wsi_sort_at(s, a, from));
        }
    }
}

/* Splits the part at a pivot, which ends between the two: on return p is the
 * right side, the result is the left one. */
static struct part split(struct part *p)
{
    const struct wsi_sorter *s = p->s;
    struct part left = *p;
    if (p->uneven) {
        shuffle(s, p->a, p->n);
    }
    wsi_sort_exchange(s, p->a, wsi_sort_at(s, p->a, middle(s, p->a, p->n)));
    char *const rest = wsi_sort_at(s, p->a, 1);
    /* A pivot equal to the one in front: what is equal needs no more work. */
    const int equal = p->front != NULL && !wsi_sort_before(s, p->front, p->a);
    const size_t n = wsi_sort_split_shared(s, rest, p->n - 1, p->a, equal);
    char *const at = wsi_sort_at(s, p->a, n);
    wsi_sort_exchange(s, p->a, at);
    left.n = equal ? 0 : n;
    left.levels = p->levels - 1;
    left.uneven = n < p->n / 8 || p->n - n - 1 < p->n / 8;
    p->a = at + s->size;
    p->n -= n + 1;
    p->front = at;
    p->levels = left.levels;
    p->uneven = left.uneven && !equal;
    return left;
}

static int quicksort(void *arg)
{
    struct part p = *(const struct part *)arg;
    const struct wsi_sorter *s = p.s;
    while (p.n > s->kernel->few_max) {
        if (p.levels == 0) {
            heap_sort(s, p.a, p.n);
            return 0;
        }
        struct part left = split(&p);
        if (s->workers > 1 && left.n > WSI_SORT_FORK && p.n > WSI_SORT_FORK) {
            return ws_join(quicksort, &left, quicksort, &p);
        }
        quicksort(&left);
    }
    if (p.n > 1) {
        s->kernel->few(p.a, p.n, s->ctx);
    }
    return 0;
}

int ws_sort_with(const ws_sort_kernel *kernel, void *base, size_t n, void *ctx)
{
    struct wsi_sorter s;
    const int code = wsi_sort_begin(&s, kernel, base, n, ctx);
    if (code != 1 || wsi_sort_is_run(&s, (char *)base, n)) {
        return code < 0 ? code : WS_OK;
    }
    struct part all = {&s, (char *)base, n, NULL, 0, 0};
    for (; n > 1; n /= 2) {
        all.levels += 2;
    }
    wsi_sort_enter(&s, quicksort, &all);
    return WS_OK;
}
