/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wsteal-compare.c: with a comparison function, as qsort(3) has one.
 */
#include "pooled.h"

static int compare(const void *a, const void *b, void *ctx)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    (void)ctx;
    return (x > y) - (x < y);
}

static int pooled_sort(void *arg)
{
    (void)arg;
    return ws_sort(quick_items, quick_n, sizeof(*quick_items), compare, NULL);
}

int main(int argc, char **argv)
{
    return pooled_main(argc, argv);
}
