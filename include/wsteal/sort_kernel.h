/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * sort_kernel.h: the loops that WS_SORT_DEFINE() compiles for its type.
 *
 * Included by sort_define.h; nothing here is for use.  Each function is inlined
 * into one that knows the size of an element and the comparison, so that moves
 * are loads and stores and less() is a few instructions.  They avoid branches
 * that depend on the data: a wrong guess costs more than ten of their steps.
 *
 * Invariants, whatever less() answers: each function ends, stays in bounds, and
 * what it writes is a permutation of what it has read.
 */
#ifndef WSTEAL_SORT_KERNEL_H
#define WSTEAL_SORT_KERNEL_H

#include <string.h>

#include <wsteal/sort.h>

#if defined(__GNUC__) || defined(__clang__)
#define WSI_SORT_UNUSED __attribute__((unused))
#define WSI_SORT_INLINE static inline __attribute__((always_inline, unused))
#else
#define WSI_SORT_UNUSED
#define WSI_SORT_INLINE static inline
#endif

/* Elements up to this size are moved freely; larger ones are swapped, and only
 * when they must. */
#define WSI_SORT_MOVE_MAX 64
/* So many elements are left to wsi_sort_few(), at most 64.  Measured: 64 is 3 %
 * faster than 32, and 12 % than 16. */
#define WSI_SORT_FEW 64
/* Merges of at least twice as many elements are cut into two that run side by
 * side.  Measured: 64 to 200 make no difference. */
#define WSI_SORT_CUT_MIN 64

/* c ? a : b, without a branch.  The barrier hides from the compiler that c is 0
 * or 1: clang 14 made branches of this, and merges three times slower. */
WSI_SORT_INLINE size_t wsi_sort_select(size_t c, size_t a, size_t b)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__("" : "+r"(c));
#endif
    return b ^ ((a ^ b) & (0 - c));
}

/* c ? a : b for places of elements.  Compilers make the plain expression a
 * conditional move of small elements, and a branch with large ones. */
WSI_SORT_INLINE const char *wsi_sort_pick(size_t c, const char *a,
                                          const char *b, size_t size)
{
    return size <= 8 ? (c ? a : b)
                     : (const char *)wsi_sort_select(c, (size_t)(uintptr_t)a,
                                                     (size_t)(uintptr_t)b);
}

/* less() of the elements i and j of an array, as 0 or 1. */
WSI_SORT_INLINE size_t wsi_sort_less(const char *a, size_t i, size_t j,
                                     size_t size, ws_less_fn less, void *ctx)
{
    return less(a + i * size, a + j * size, ctx) != 0;
}

/* Of two places that do not overlap. */
WSI_SORT_INLINE void wsi_sort_swap(void *a, void *b, size_t bytes)
{
    char *x = (char *)a;
    char *y = (char *)b;
    char spare[WSI_SORT_MOVE_MAX];
    for (; bytes > sizeof(spare); bytes -= sizeof(spare)) {
        memcpy(spare, x, sizeof(spare));
        memcpy(x, y, sizeof(spare));
        memcpy(y, spare, sizeof(spare));
        x += sizeof(spare);
        y += sizeof(spare);
    }
    memcpy(spare, x, bytes);
    memcpy(x, y, bytes);
    memcpy(y, spare, bytes);
}

/* ---- few elements ---------------------------------------------------- */

/* Sorts 1 to 4 elements from `in` to `out`, stably.  Whatever less() says, each
 * index is used once. */
WSI_SORT_INLINE void wsi_sort_four(const char *in, size_t n, char *out,
                                   size_t size, ws_less_fn less, void *ctx)
{
    size_t at[4] = {0, 1, 2, 3};
    if (n == 4) {
        /* Two sorted pairs (a, b), (c, d); then the ends, then the rest. */
        const size_t x = wsi_sort_less(in, 1, 0, size, less, ctx);
        const size_t y = wsi_sort_less(in, 3, 2, size, less, ctx);
        const size_t a = x;
        const size_t b = 1 - x;
        const size_t c = 2 + y;
        const size_t d = 3 - y;
        const size_t u = wsi_sort_less(in, c, a, size, less, ctx);
        const size_t v = wsi_sort_less(in, d, b, size, less, ctx);
        const size_t p = wsi_sort_select(u, a, wsi_sort_select(v, c, b));
        const size_t q = wsi_sort_select(v, d, wsi_sort_select(u, b, c));
        const size_t w = wsi_sort_less(in, q, p, size, less, ctx);
        at[0] = wsi_sort_select(u, c, a);
        at[1] = wsi_sort_select(w, q, p);
        at[2] = wsi_sort_select(w, p, q);
        at[3] = wsi_sort_select(v, b, d);
        memcpy(out + 3 * size, in + at[3] * size, size);
    } else if (n == 3) {
        const size_t x = wsi_sort_less(in, 1, 0, size, less, ctx);
        const size_t u = wsi_sort_less(in, 2, 1 - x, size, less, ctx);
        const size_t v = wsi_sort_less(in, 2, x, size, less, ctx) & u;
        at[0] = wsi_sort_select(v, 2, x);
        at[2] = wsi_sort_select(u, 1 - x, 2);
        at[1] = 3 - at[0] - at[2];
    } else if (n == 2) {
        at[0] = wsi_sort_less(in, 1, 0, size, less, ctx);
        at[1] = 1 - at[0];
    }
    if (n > 2) {
        memcpy(out + 2 * size, in + at[2] * size, size);
    }
    if (n > 1) {
        memcpy(out + size, in + at[1] * size, size);
    }
    memcpy(out, in + at[0] * size, size);
}

/* Merges the sorted halves in[0 .. n / 2) and in[n / 2 .. n) to `out`: half of
 * it from the front, half from the back, two chains that do not wait for each
 * other.  An inconsistent less() can make them take one element twice; then
 * they do not meet, and the input is taken as it is. */
WSI_SORT_INLINE void wsi_sort_halves(const char *in, size_t n, char *out,
                                     size_t size, ws_less_fn less, void *ctx)
{
    const size_t half = n / 2;
    size_t a = 0;
    size_t b = half;
    size_t a_last = half - 1;
    size_t b_last = n - 1;
    for (size_t i = 0; i < half; i++) {
        const size_t c = wsi_sort_less(in, b, a, size, less, ctx);
        const size_t d = wsi_sort_less(in, b_last, a_last, size, less, ctx);
        memcpy(out + i * size, in + wsi_sort_select(c, b, a) * size, size);
        memcpy(out + (n - 1 - i) * size,
               in + wsi_sort_select(d, a_last, b_last) * size, size);
        a += 1 - c;
        b += c;
        a_last -= d;
        b_last -= 1 - d;
    }
    if (n % 2 != 0) {
        const size_t c = a == a_last + 1;
        memcpy(out + half * size, in + wsi_sort_select(c, b, a) * size, size);
        a += 1 - c;
        b += c;
    }
    if (a != a_last + 1 || b != b_last + 1) {
        memcpy(out, in, n * size);
    }
}

/* Sorts up to WSI_SORT_FEW elements, stably: up to sixteen leaves of at most
 * four elements, then their merges, level by level.  `spare` has room for
 * twice as many. */
WSI_SORT_INLINE void wsi_sort_few(void *base, size_t n, void *spare,
                                  size_t size, ws_less_fn less, void *ctx)
{
    const size_t leaves = n <= 4    ? 1
                          : n <= 8  ? 2
                          : n <= 16 ? 4
                          : n <= 32 ? 8
                                    : 16;
    size_t cut[17];
    char *const a = (char *)base;
    char *in = (char *)spare;
    char *out = in + WSI_SORT_FEW * size;
    if (n < 2) {
        return;
    }
    cut[0] = 0;
    cut[leaves] = n;
    for (size_t step = leaves; step > 1; step /= 2) {
        for (size_t i = 0; i < leaves; i += step) {
            cut[i + step / 2] = cut[i] + (cut[i + step] - cut[i]) / 2;
        }
    }
    for (size_t i = 0; i < leaves; i++) {
        wsi_sort_four(a + cut[i] * size, cut[i + 1] - cut[i],
                      in + cut[i] * size, size, less, ctx);
    }
    if (leaves == 1) {
        memcpy(a, in, n * size);
    }
    for (size_t step = 2; step <= leaves; step *= 2) {
        char *const to = step == leaves ? a : out;
        for (size_t i = 0; i < leaves; i += step) {
            wsi_sort_halves(in + cut[i] * size, cut[i + step] - cut[i],
                            to + cut[i] * size, size, less, ctx);
        }
        out = in;
        in = to;
    }
}

/* wsi_sort_few() for elements that are expensive to move: sorts their indices,
 * then swaps each element to its place. */
WSI_SORT_INLINE void wsi_sort_few_large(void *base, size_t n, size_t size,
                                        ws_less_fn less, void *ctx)
{
    char *const a = (char *)base;
    unsigned char at[WSI_SORT_FEW];
    for (size_t i = 0; i < n; i++) {
        size_t low = 0;
        for (size_t high = i; low < high;) {
            const size_t middle = (low + high) / 2;
            if (wsi_sort_less(a, i, at[middle], size, less, ctx)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        memmove(at + low + 1, at + low, i - low);
        at[low] = (unsigned char)i;
    }
    for (size_t i = 0; i < n; i++) {
        /* What stood at `from` has gone where i < from was. */
        size_t from = at[i];
        while (from < i) {
            from = at[from];
        }
        if (from != i) {
            wsi_sort_swap(a + i * size, a + from * size, size);
        }
    }
}

/* ---- quicksort ------------------------------------------------------- */

/* Moves what comes before *pivot (with `equal`: does not come after it) to the
 * front and returns its number.  A hole travels behind the scan, so that an
 * element moves twice, always, and nothing depends on a branch. */
WSI_SORT_INLINE size_t wsi_sort_split(void *base, size_t n, const void *pivot,
                                      void *hole, size_t size, int equal,
                                      ws_less_fn less, void *ctx)
{
    char *const a = (char *)base;
    size_t low = 0;
    if (n == 0) {
        return 0;
    }
    memcpy(hole, a, size);
    for (size_t i = 1; i < n; i++) {
        char *const e = a + i * size;
        const size_t c =
            equal ? less(pivot, e, ctx) == 0 : less(e, pivot, ctx) != 0;
        memcpy(e - size, a + low * size, size);
        memcpy(a + low * size, e, size);
        low += c;
    }
    memcpy(a + (n - 1) * size, a + low * size, size);
    memcpy(a + low * size, hole, size);
    return low +
           (equal ? less(pivot, hole, ctx) == 0 : less(hole, pivot, ctx) != 0);
}

/* wsi_sort_split() for elements that are expensive to move: from both ends,
 * swapping what stands on the wrong side (Hoare). */
WSI_SORT_INLINE size_t wsi_sort_split_large(void *base, size_t n,
                                            const void *pivot, size_t size,
                                            int equal, ws_less_fn less,
                                            void *ctx)
{
    char *const a = (char *)base;
    size_t low = 0;
    size_t high = n;
    for (;;) {
        while (low < high && (equal ? !less(pivot, a + low * size, ctx)
                                    : less(a + low * size, pivot, ctx))) {
            low++;
        }
        while (low < high &&
               (equal ? less(pivot, a + (high - 1) * size, ctx)
                      : !less(a + (high - 1) * size, pivot, ctx))) {
            high--;
        }
        /* One that is on neither side: less() has changed its mind. */
        if (high - low < 2) {
            return low;
        }
        high--;
        wsi_sort_swap(a + low * size, a + high * size, size);
        low++;
    }
}

/* The index of the median of three elements. */
WSI_SORT_INLINE size_t wsi_sort_median(const char *a, size_t i, size_t j,
                                       size_t k, size_t size, ws_less_fn less,
                                       void *ctx)
{
    const size_t ij = wsi_sort_less(a, i, j, size, less, ctx);
    const size_t ik = wsi_sort_less(a, i, k, size, less, ctx);
    const size_t jk = wsi_sort_less(a, j, k, size, less, ctx);
    return wsi_sort_select(ij ^ ik, i, wsi_sort_select(ij ^ jk, k, j));
}

/* The median of three, or of three medians of three (Tukey's ninther). */
WSI_SORT_INLINE size_t wsi_sort_middle(const void *base, size_t n, size_t size,
                                       ws_less_fn less, void *ctx)
{
    const char *const a = (const char *)base;
    const size_t e = n / 8;
    size_t m[3] = {e, 4 * e, 7 * e};
    for (size_t i = 0; i < 3 && n >= 2 * WSI_SORT_FEW; i++) {
        const size_t at = m[i];
        m[i] = wsi_sort_median(a, at - e / 2, at, at + e / 2, size, less, ctx);
    }
    return wsi_sort_median(a, m[0], m[1], m[2], size, less, ctx);
}

/* ---- runs and merges ------------------------------------------------- */

WSI_SORT_INLINE size_t wsi_sort_run(const void *base, size_t n, size_t size,
                                    int down, ws_less_fn less, void *ctx)
{
    const char *const a = (const char *)base;
    size_t i = 1;
    while (i < n &&
           wsi_sort_less(a, i, i - 1, size, less, ctx) == (size_t)(down != 0)) {
        i++;
    }
    return i < n ? i : n;
}

/* A merge from both ends: what is left of a and b, and of the output. */
struct wsi_sort_ends {
    const char *a;
    const char *a_end;
    const char *b;
    const char *b_end;
    char *out;
    char *out_end;
};

/* Steps that both ends can do without running out, whatever less() says. */
WSI_SORT_INLINE size_t wsi_sort_steps(const struct wsi_sort_ends *m,
                                      size_t size)
{
    const size_t a = (size_t)(m->a_end - m->a);
    const size_t b = (size_t)(m->b_end - m->b);
    return (a < b ? a : b) / size / 2;
}

/* Step k at the front: returns `taken`, the elements of b taken so far. */
WSI_SORT_INLINE size_t wsi_sort_front(const struct wsi_sort_ends *m, size_t k,
                                      size_t taken, size_t size,
                                      ws_less_fn less, void *ctx)
{
    const char *const a = m->a + (k - taken) * size;
    const char *const b = m->b + taken * size;
    const size_t c = less(b, a, ctx) != 0;
    memcpy(m->out + k * size, wsi_sort_pick(c, b, a, size), size);
    return taken + c;
}

/* The same at the back, for the elements of a. */
WSI_SORT_INLINE size_t wsi_sort_back(const struct wsi_sort_ends *m, size_t k,
                                     size_t taken, size_t size, ws_less_fn less,
                                     void *ctx)
{
    const char *const a = m->a_end - (taken + 1) * size;
    const char *const b = m->b_end - (k - taken + 1) * size;
    const size_t c = less(b, a, ctx) != 0;
    memcpy(m->out_end - (k + 1) * size, wsi_sort_pick(c, a, b, size), size);
    return taken + c;
}

WSI_SORT_INLINE void wsi_sort_advance(struct wsi_sort_ends *m, size_t steps,
                                      size_t front, size_t back, size_t size)
{
    m->a += (steps - front) * size;
    m->b += front * size;
    m->out += steps * size;
    m->a_end -= back * size;
    m->b_end -= (steps - back) * size;
    m->out_end -= steps * size;
}

/* Ends a merge: two chains while possible, then one. */
WSI_SORT_INLINE void wsi_sort_finish(struct wsi_sort_ends m, size_t size,
                                     ws_less_fn less, void *ctx)
{
    for (size_t steps; (steps = wsi_sort_steps(&m, size)) >= 4;) {
        size_t front = 0;
        size_t back = 0;
        for (size_t k = 0; k < steps; k++) {
            front = wsi_sort_front(&m, k, front, size, less, ctx);
            back = wsi_sort_back(&m, k, back, size, less, ctx);
        }
        wsi_sort_advance(&m, steps, front, back, size);
    }
    while (m.a != m.a_end && m.b != m.b_end) {
        const size_t c = wsi_sort_front(&m, 0, 0, size, less, ctx);
        m.a += (1 - c) * size;
        m.b += c * size;
        m.out += size;
    }
    memcpy(m.out, m.a, (size_t)(m.a_end - m.a));
    m.out += m.a_end - m.a;
    memcpy(m.out, m.b, (size_t)(m.b_end - m.b));
}

/* How many of the first `half` elements of the output come from a, of equal
 * ones those of a first; within bounds whatever less() says. */
WSI_SORT_INLINE size_t wsi_sort_cut(const char *a, size_t na, const char *b,
                                    size_t nb, size_t half, size_t size,
                                    ws_less_fn less, void *ctx)
{
    size_t low = half > nb ? half - nb : 0;
    size_t n = (half < na ? half : na) - low;
    while (n > 0) {
        const size_t i = low + n / 2;
        const size_t c =
            less(b + (half - i - 1) * size, a + i * size, ctx) == 0;
        low = wsi_sort_select(c, i + 1, low);
        n = (n - c) / 2;
    }
    return low;
}

/* Merges a and b to `out`, stably.  What limits a merge is the time from one
 * comparison to the next that needs its result, so four of them are under way:
 * at both ends of both halves of the output. */
WSI_SORT_INLINE void wsi_sort_merge(const void *first, size_t na,
                                    const void *second, size_t nb, void *to,
                                    size_t size, ws_less_fn less, void *ctx)
{
    const char *const a = (const char *)first;
    const char *const b = (const char *)second;
    char *const out = (char *)to;
    const size_t half = (na + nb) / 2;
    struct wsi_sort_ends m = {a,   a + na * size,         b, b + nb * size,
                              out, out + (na + nb) * size};
    struct wsi_sort_ends n = m;
    if (half < WSI_SORT_CUT_MIN) {
        wsi_sort_finish(m, size, less, ctx);
        return;
    }
    const size_t i = wsi_sort_cut(a, na, b, nb, half, size, less, ctx);
    m.a_end = n.a = a + i * size;
    m.b_end = n.b = b + (half - i) * size;
    m.out_end = n.out = out + half * size;
    for (;;) {
        const size_t m_steps = wsi_sort_steps(&m, size);
        const size_t n_steps = wsi_sort_steps(&n, size);
        const size_t steps = m_steps < n_steps ? m_steps : n_steps;
        size_t m_front = 0;
        size_t m_back = 0;
        size_t n_front = 0;
        size_t n_back = 0;
        if (steps < 8) {
            break;
        }
        for (size_t k = 0; k < steps; k++) {
            m_front = wsi_sort_front(&m, k, m_front, size, less, ctx);
            m_back = wsi_sort_back(&m, k, m_back, size, less, ctx);
            n_front = wsi_sort_front(&n, k, n_front, size, less, ctx);
            n_back = wsi_sort_back(&n, k, n_back, size, less, ctx);
        }
        wsi_sort_advance(&m, steps, m_front, m_back, size);
        wsi_sort_advance(&n, steps, n_front, n_back, size);
    }
    wsi_sort_finish(m, size, less, ctx);
    wsi_sort_finish(n, size, less, ctx);
}

#endif
