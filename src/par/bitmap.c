/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bitmap.c: an atomic set of small numbers; any thread calls in at any time.
 *
 * Bits are only ever set.  A set bit is found by a load, since a search asks
 * for most states again and again; only the first caller pays for a
 * read-modify-write, which takes the cache line away from the others.
 *
 * Layer: par.
 */
#include <wsteal/bitmap.h>

#include <stdlib.h>

#include "port/atomic.h"

struct ws_bitmap {
    size_t size;
    wsi_atomic_u64 words[];
};

static size_t words_of(size_t size)
{
    return size / 64 + (size % 64 != 0);
}

int ws_bitmap_create(ws_bitmap **out, size_t size)
{
    const size_t n = words_of(size);
    if (out == NULL) {
        return WS_EINVAL;
    }
    if (n > (SIZE_MAX - sizeof(ws_bitmap)) / sizeof(wsi_atomic_u64)) {
        return WS_ENOMEM;
    }
    /* Zeros from the system cost nothing until they are touched. */
    ws_bitmap *bitmap = calloc(1, sizeof(*bitmap) + n * sizeof(wsi_atomic_u64));
    if (bitmap == NULL) {
        return WS_ENOMEM;
    }
    bitmap->size = size;
    *out = bitmap;
    return WS_OK;
}

void ws_bitmap_destroy(ws_bitmap *bitmap)
{
    free(bitmap);
}

int ws_bitmap_has(const ws_bitmap *bitmap, size_t number)
{
    if (number >= bitmap->size) {
        return 0;
    }
    /* acquire: pairs with the fetch_or of ws_bitmap_add() */
    const uint64_t word = wsi_u64_load_acquire(&bitmap->words[number / 64]);
    return (int)(word >> number % 64 & 1);
}

int ws_bitmap_add(ws_bitmap *bitmap, size_t number)
{
    const uint64_t bit = (uint64_t)1 << number % 64;
    if (number >= bitmap->size || ws_bitmap_has(bitmap, number)) {
        return 0;
    }
    /* acq_rel: release pairs with the load above and the acquire of this, in
     * those who find the bit set */
    return (wsi_u64_fetch_or_acq_rel(&bitmap->words[number / 64], bit) & bit) ==
           0;
}

size_t ws_bitmap_count(const ws_bitmap *bitmap)
{
    size_t count = 0;
    for (size_t i = 0; i < words_of(bitmap->size); i++) {
        /* relaxed: hands no data over */
        uint64_t word = wsi_u64_load_relaxed(&bitmap->words[i]);
        for (; word != 0; word &= word - 1) {
            count++;
        }
    }
    return count;
}
