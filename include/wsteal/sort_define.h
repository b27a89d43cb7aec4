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
 * int main(void)
 * {
 *     struct point points[3] = {{3, 0}, {1, 1}, {2, 2}};
 *     int code = sort_points(points, 3);
 *     return code != 0 || points[0].x != 1 || points[2].x != 3;
 * }
 * @endcode
 *
 * Not included by wsteal.h: include it where sorts are defined.  About six
 * kilobytes of code for each definition.
 */
#ifndef WSTEAL_SORT_DEFINE_H
#define WSTEAL_SORT_DEFINE_H

#include <wsteal/sort.h>
#include <wsteal/sort_kernel.h>

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
        type const *const x = (type const *)a;                                 \
        type const *const y = (type const *)b;                                 \
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

#endif
