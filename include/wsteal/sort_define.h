/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * sort_define.h: sorts for one type, with the comparison compiled in.
 *
 * @code
 * #include <wsteal/sort_define.h>
 *
 * struct point {
 *     double x, y;
 * };
 *
 * #define POINT_LESS(a, b) ((a)->x < (b)->x)
 * WS_SORT_DEFINE(sort_points, struct point, POINT_LESS)
 *
 * void by_x(struct point *points, size_t n)
 * {
 *     sort_points(points, n);
 * }
 * @endcode
 *
 * Not included by wsteal.h: include it where sorts are defined.  The rest of
 * this file is the code that WS_SORT_DEFINE() compiles for its type: names that
 * start with wsi_ are not for use.
 */
#ifndef WSTEAL_SORT_DEFINE_H
#define WSTEAL_SORT_DEFINE_H

#include <string.h>

#include <wsteal/sort.h>

/**
 * WS_SORT_DEFINE(name, type, less) defines two functions:
 *
 *     static int name(type *a, size_t n);
 *     static int name_stable(type *a, size_t n);
 *
 * They are ws_sort() and ws_stable_sort() for elements of `type`, and all that
 * sort.h says of those holds.  less(a, b) is a macro or a function, best a
 * static inline one, that takes two pointers to const `type` and tells whether
 * *a comes before *b, not 0 or 0.
 *
 * It stands outside of functions, without a semicolon behind it.  C++ programs
 * can use it for types that may be copied by memcpy().
 *
 * Both functions return WS_OK; WS_EINVAL: a NULL with n > 0; nothing changed.
 */
#define WS_SORT_DEFINE(name, type, less)                                       \
    WSI_SORT_INLINE int name##_less_(const void *a, const void *b, void *ctx)  \
    {                                                                          \
        const type *const x = (const type *)a;                                 \
        const type *const y = (const type *)b;                                 \
        (void)ctx;                                                             \
        return (less(x, y)) ? 1 : 0;                                           \
    }                                                                          \
    WSI_SORT_KERNEL(name##_kernel_, type, name##_less_)                        \
    WSI_SORT_UNUSED static int name(type *a, size_t n)                         \
    {                                                                          \
        return ws_sort_with(&name##_kernel_, a, n, NULL);                      \
    }                                                                          \
    WSI_SORT_UNUSED static int name##_stable(type *a, size_t n)                \
    {                                                                          \
        return ws_stable_sort_with(&name##_kernel_, a, n, NULL);               \
    }

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
/* So many elements are left to wsi_sort_few(). */
#define WSI_SORT_FEW 32

/* The kernel `name`: every function below with the element's size as a constant
 * and the comparison inlined.  Copies of elements live in variables of their
 * own type, so that their alignment is right. */
#define WSI_SORT_KERNEL(name, type, less)                                      \
    static void name##few(void *a, size_t n, void *ctx)                        \
    {                                                                          \
        if (sizeof(type) > WSI_SORT_MOVE_MAX) {                                \
            wsi_sort_few_large(a, n, sizeof(type), less, ctx);                 \
        } else {                                                               \
            type spare[sizeof(type) > WSI_SORT_MOVE_MAX ? 1                    \
                                                        : 2 * WSI_SORT_FEW];   \
            wsi_sort_few(a, n, spare, sizeof(type), less, ctx);                \
        }                                                                      \
    }                                                                          \
    static size_t name##middle(const void *a, size_t n, void *ctx)             \
    {                                                                          \
        return wsi_sort_middle(a, n, sizeof(type), less, ctx);                 \
    }                                                                          \
    static size_t name##split(void *a, size_t n, const void *pivot, int equal, \
                              void *ctx)                                       \
    {                                                                          \
        if (sizeof(type) > WSI_SORT_MOVE_MAX) {                                \
            return wsi_sort_split_large(a, n, pivot, sizeof(type), equal,      \
                                        less, ctx);                            \
        }                                                                      \
        type p;                                                                \
        type hole;                                                             \
        memcpy(&p, pivot, sizeof(type));                                       \
        return equal ? wsi_sort_split(a, n, &p, &hole, sizeof(type), 1, less,  \
                                      ctx)                                     \
                     : wsi_sort_split(a, n, &p, &hole, sizeof(type), 0, less,  \
                                      ctx);                                    \
    }                                                                          \
    static size_t name##run(const void *a, size_t n, int down, void *ctx)      \
    {                                                                          \
        return wsi_sort_run(a, n, sizeof(type), down, less, ctx);              \
    }                                                                          \
    static void name##merge(const void *a, size_t na, const void *b,           \
                            size_t nb, void *out, void *ctx)                   \
    {                                                                          \
        wsi_sort_merge(a, na, b, nb, out, sizeof(type), less, ctx);            \
    }                                                                          \
    static const ws_sort_kernel name = {sizeof(ws_sort_kernel),                \
                                        sizeof(type),                          \
                                        WSI_SORT_FEW,                          \
                                        less,                                  \
                                        name##few,                             \
                                        name##middle,                          \
                                        name##split,                           \
                                        name##run,                             \
                                        name##merge};

/* c ? a : b, without a branch. */
WSI_SORT_INLINE size_t wsi_sort_select(size_t c, size_t a, size_t b)
{
    return b ^ ((a ^ b) & (0 - c));
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

/* Sorts up to WSI_SORT_FEW elements, stably: up to eight leaves of at most four
 * elements, then their merges, level by level.  `spare` has room for twice the
 * elements. */
WSI_SORT_INLINE void wsi_sort_few(void *base, size_t n, void *spare,
                                  size_t size, ws_less_fn less, void *ctx)
{
    const size_t leaves = n <= 4 ? 1 : n <= 8 ? 2 : n <= 16 ? 4 : 8;
    size_t cut[9];
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
    for (size_t i = 0; i < 3 && n >= 4 * WSI_SORT_FEW; i++) {
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

/* Merges a and b to `out`, stably, from both ends while neither can run out: in
 * a round each end takes at most half of the shorter input, so that the two do
 * not meet, whatever less() says. */
WSI_SORT_INLINE void wsi_sort_merge(const void *first, size_t na,
                                    const void *second, size_t nb, void *to,
                                    size_t size, ws_less_fn less, void *ctx)
{
    const char *a = (const char *)first;
    const char *b = (const char *)second;
    const char *a_end = a + na * size;
    const char *b_end = b + nb * size;
    char *out = (char *)to;
    char *out_end = out + (na + nb) * size;
    for (;;) {
        const size_t a_left = (size_t)(a_end - a);
        const size_t b_left = (size_t)(b_end - b);
        size_t round = (a_left < b_left ? a_left : b_left) / size / 2;
        if (round < 4) {
            break;
        }
        for (; round > 0; round--) {
            const size_t c = less(b, a, ctx) != 0;
            memcpy(out, a + ((size_t)(b - a) & (0 - c)), size);
            a += size & (c - 1);
            b += size & (0 - c);
            out += size;
            const char *const x = a_end - size;
            const char *const y = b_end - size;
            const size_t d = less(y, x, ctx) != 0;
            out_end -= size;
            memcpy(out_end, y + ((size_t)(x - y) & (0 - d)), size);
            a_end -= size & (0 - d);
            b_end -= size & (d - 1);
        }
    }
    while (a != a_end && b != b_end) {
        const int c = less(b, a, ctx) != 0;
        memcpy(out, c ? b : a, size);
        a += c ? 0 : size;
        b += c ? size : 0;
        out += size;
    }
    memcpy(out, a, (size_t)(a_end - a));
    out += a_end - a;
    memcpy(out, b, (size_t)(b_end - b));
}

#endif
