/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * bitmap.h: a set of small numbers that many threads add to: the visited set of
 * a search whose states can be numbered.
 */
#ifndef WSTEAL_BITMAP_H
#define WSTEAL_BITMAP_H

#include <wsteal/base.h>

WS_BEGIN_DECLS

/** A set of numbers from 0 to size - 1. */
typedef struct ws_bitmap ws_bitmap;

/**
 * Makes an empty set of numbers below `size`; an eighth of that in bytes.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: yes.
 * Owns: the caller gives *out back with ws_bitmap_destroy().
 * Returns: WS_OK; WS_EINVAL (out NULL); WS_ENOMEM.  *out is written on success
 * only.
 */
WS_API int ws_bitmap_create(ws_bitmap **out, size_t size);

/**
 * Frees the set.
 *
 * Thread: any, when no other uses it.  Blocks: no.  May run other jobs: no.
 * May allocate: no.
 * Owns: takes the set; NULL is ignored.
 * Returns: nothing.
 */
WS_API void ws_bitmap_destroy(ws_bitmap *bitmap);

/**
 * Adds a number, atomically: of all calls with a number one is the first.  What
 * that caller has stored before is seen by all later ones.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1: it was not in the set; 0: it was, or is not below the size.
 */
WS_API int ws_bitmap_add(ws_bitmap *bitmap, size_t number);

/**
 * Whether a number is in the set.  If so, what was stored before it was added
 * is seen.
 *
 * Thread: any.  Blocks: no.  May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: 1 or 0.
 */
WS_API int ws_bitmap_has(const ws_bitmap *bitmap, size_t number);

/**
 * How many numbers are in the set.
 *
 * Thread: any; exact when no other adds meanwhile.  Blocks: no.
 * May run other jobs: no.  May allocate: no.
 * Owns: nothing.
 * Returns: the number.
 */
WS_API size_t ws_bitmap_count(const ws_bitmap *bitmap);

WS_END_DECLS

#endif
