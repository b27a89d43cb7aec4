/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sort_compare.c: ws_sort() and ws_stable_sort(): kernels for a comparison
 * function that is known only at run time.
 *
 * Elements of the usual sizes get kernels in which the size is a constant and
 * moves are loads and stores; all others share one that swaps.
 *
 * Layer: par.  See include/wsteal/sort.h.
 */
#include "par/sort.h"

/* The context of all kernels here. */
struct order {
    ws_compare_fn compare;
    void *ctx;
    size_t size;
};

WSI_SORT_INLINE int less(const void *a, const void *b, void *ctx)
{
    const struct order *o = ctx;
    return o->compare(a, b, o->ctx) < 0;
}

/* Copies are as aligned as an element of that size can have to be. */
#define BYTES(n, alignment)                                                    \
    typedef struct {                                                           \
        _Alignas(alignment) unsigned char bytes[n];                            \
    } bytes_##n;                                                               \
    WSI_SORT_KERNEL(kernel_##n, bytes_##n, less)
BYTES(1, 1)
BYTES(2, 2)
BYTES(4, 4)
BYTES(8, 8)
BYTES(16, 16)
BYTES(24, 8)
BYTES(32, 32)
#undef BYTES

static size_t size_of(const void *ctx)
{
    return ((const struct order *)ctx)->size;
}

static void few(void *a, size_t n, void *ctx)
{
    wsi_sort_few_large(a, n, size_of(ctx), less, ctx);
}

static size_t middle(const void *a, size_t n, void *ctx)
{
    return wsi_sort_middle(a, n, size_of(ctx), less, ctx);
}

static size_t split(void *a, size_t n, const void *pivot, int equal, void *ctx)
{
    return wsi_sort_split_large(a, n, pivot, size_of(ctx), equal, less, ctx);
}

static size_t run(const void *a, size_t n, int down, void *ctx)
{
    return wsi_sort_run(a, n, size_of(ctx), down, less, ctx);
}

static void merge(const void *a, size_t na, const void *b, size_t nb, void *out,
                  void *ctx)
{
    wsi_sort_merge(a, na, b, nb, out, size_of(ctx), less, ctx);
}

/* Fills *any for a size that has no kernel of its own. */
static const ws_sort_kernel *kernel_for(ws_sort_kernel *any, size_t size)
{
    switch (size) {
    case 1:
        return &kernel_1;
    case 2:
        return &kernel_2;
    case 4:
        return &kernel_4;
    case 8:
        return &kernel_8;
    case 16:
        return &kernel_16;
    case 24:
        return &kernel_24;
    case 32:
        return &kernel_32;
    default:
        *any = (ws_sort_kernel){sizeof(*any), size,  WSI_SORT_FEW, less, few,
                                middle,       split, run,          merge};
        return any;
    }
}

int ws_sort(void *base, size_t n, size_t size, ws_compare_fn compare, void *ctx)
{
    ws_sort_kernel any;
    struct order order = {compare, ctx, size};
    return compare == NULL
               ? WS_EINVAL
               : ws_sort_with(kernel_for(&any, size), base, n, &order);
}

int ws_stable_sort(void *base, size_t n, size_t size, ws_compare_fn compare,
                   void *ctx)
{
    ws_sort_kernel any;
    struct order order = {compare, ctx, size};
    return compare == NULL
               ? WS_EINVAL
               : ws_stable_sort_with(kernel_for(&any, size), base, n, &order);
}
