/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * range.h: the packed word that names a deque's public items.
 *
 *   bits 63..24  end    index after the newest public item, modulo 2^40
 *   bits 23..12  count  number of public items, 0 to 4095
 *   bits 11..0   claim  0, or the id of the thief that is opening items, or
 *                       WSI_RANGE_OWNER while the owner moves what it took back
 *
 * Pure functions; no thread touches anything here.
 *
 * Layer: queue.  See src/README.md, "Deque".
 */
#ifndef WSI_QUEUE_RANGE_H
#define WSI_QUEUE_RANGE_H

#include <stdint.h>

#define WSI_RANGE_END_SHIFT 24
#define WSI_RANGE_COUNT_SHIFT 12
#define WSI_RANGE_COUNT_MAX ((uint64_t)0xfff)
#define WSI_RANGE_CLAIM_MASK ((uint64_t)0xfff)

/* The owner's own claim: no thief takes it over, it is gone in a moment. */
#define WSI_RANGE_OWNER WSI_RANGE_CLAIM_MASK

/* Claims that can be held at once on one deque: the width of its id set. */
#define WSI_RANGE_CLAIM_IDS 64
_Static_assert(WSI_RANGE_CLAIM_IDS < 0xfff, "claim ids fit their field");
_Static_assert(WSI_RANGE_COUNT_SHIFT + 12 == WSI_RANGE_END_SHIFT, "fields");

static inline uint64_t wsi_range_make(uint64_t end, uint64_t count,
                                      uint64_t claim)
{
    return end << WSI_RANGE_END_SHIFT | count << WSI_RANGE_COUNT_SHIFT | claim;
}

static inline uint64_t wsi_range_end(uint64_t range)
{
    return range >> WSI_RANGE_END_SHIFT;
}

static inline uint64_t wsi_range_count(uint64_t range)
{
    return range >> WSI_RANGE_COUNT_SHIFT & WSI_RANGE_COUNT_MAX;
}

static inline uint64_t wsi_range_claim(uint64_t range)
{
    return range & WSI_RANGE_CLAIM_MASK;
}

/* The oldest public index; where everything private begins when count is 0. */
static inline uint64_t wsi_range_top(uint64_t range)
{
    return wsi_range_end(range) - wsi_range_count(range);
}

/* a - b of two indices less than 2^39 apart, of which only the low 40 bits
 * count. */
static inline int64_t wsi_index_distance(uint64_t a, uint64_t b)
{
    return (int64_t)((a - b) << WSI_RANGE_END_SHIFT) >> WSI_RANGE_END_SHIFT;
}

#endif
