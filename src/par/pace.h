/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pace.h: how long the blocks of a loop are.
 *
 * A block should take some microseconds: long enough that a look at the clock
 * and at the thieves costs below 1 %, short enough that a thief gets its answer
 * about when it takes to force (5 us, core/find.c).
 *
 * Two phases.  While a loop is young (*probing*) its blocks grow fast and
 * nobody is asked, so that a loop that is over at once stays here.  From then
 * on each block is made as long as the last one says that TARGET takes.
 *
 * Layer: par.
 */
#ifndef WSI_PAR_PACE_H
#define WSI_PAR_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wsteal/scope.h>

/* Of the processor's own clock, which costs half of a call of the system's;
 * its rate need not be known well. */
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#define WSI_TICKS_PER_US 2048
static inline uint64_t wsi_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#else
#define WSI_TICKS_PER_US 1000
static inline uint64_t wsi_ticks(void)
{
    return ws_clock_ns();
}
#endif

#define WSI_PACE_TARGET ((uint64_t)5 * WSI_TICKS_PER_US)
#define WSI_PACE_PROBING ((uint64_t)2 * WSI_TICKS_PER_US)
/* A shorter range is not probed: its first index would be too large a part.  It
 * is cut down to single indices. */
#define WSI_PACE_PROBED_FROM ((size_t)32)
#define WSI_PACE_PROBE_GROWTH ((size_t)8)

typedef struct {
    size_t block;       /* length of the next one */
    uint64_t last;      /* end of the last block */
    uint64_t probe_end; /* 0: not probing */
} wsi_pace;

/* For a range of n indices that nobody knows anything about; `probing` 0: it
 * is shared from the start. */
static inline void wsi_pace_begin(wsi_pace *pace, size_t n, uint64_t probing)
{
    pace->last = wsi_ticks();
    if (probing == 0) {
        pace->block = 1;
        pace->probe_end = 0;
    } else {
        pace->block = (n - 1) / WSI_PACE_PROBED_FROM + 1;
        pace->probe_end = pace->last + probing;
    }
}

/* A block has been run, and others follow. */
static inline void wsi_pace_step(wsi_pace *pace)
{
    uint64_t now = wsi_ticks();
    uint64_t took = now - pace->last;
    pace->last = now;
    if (pace->probe_end != 0 && now < pace->probe_end) {
        pace->block *= WSI_PACE_PROBE_GROWTH;
    } else if (took < WSI_PACE_TARGET / 2) {
        pace->block *= 2;
    } else if (took > 2 * WSI_PACE_TARGET) {
        /* Clocks that jump do no harm: a block of at least 1. */
        double scale = (double)WSI_PACE_TARGET / (double)took;
        size_t block = (size_t)((double)pace->block * scale);
        pace->block = block > 0 ? block : 1;
    }
    if (pace->probe_end != 0 && now >= pace->probe_end) {
        pace->probe_end = 0;
    }
    if (pace->block > SIZE_MAX / WSI_PACE_PROBE_GROWTH) {
        pace->block = SIZE_MAX / WSI_PACE_PROBE_GROWTH;
    }
}

#endif
