/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pace.h: how long the blocks of a loop are.
 *
 * A block should take some microseconds: long enough that a look at the clock
 * and at the thieves costs below 1 %, short enough that a thief gets its answer
 * about when it takes to force (5 us, core/find.c).
 *
 * Two phases.  While a loop is young (*probing*) nobody is asked: a few indices
 * are timed, and if they say that there is time for it, the next block is a
 * large one.  A loop that is over at once stays here, in two blocks.  From then
 * on each block is made as long as the last one says that TARGET takes.
 *
 * The cheap front of a loop says nothing about its end.  The fewer indices
 * there are, the likelier it is that one of them is long; so no block of a
 * short loop is a large part of it (WSI_PACE_WHOLE).
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
/* The most indices that are timed first. */
#define WSI_PACE_FIRST ((size_t)16)
/* A block is followed by one this much longer, while there is time for it. */
#define WSI_PACE_LEAP ((size_t)64)
#define WSI_PACE_GROWTH ((size_t)8)
/* A block of n indices of a loop of this many may be all of them, of a loop of
 * half as many a half, and so on. */
#define WSI_PACE_WHOLE ((size_t)1024)

typedef struct {
    size_t block;       /* length of the next one */
    size_t most;        /* its limit; SIZE_MAX / LEAP or less */
    uint64_t last;      /* end of the last block */
    uint64_t probe_end; /* 0: not probing */
} wsi_pace;

/* For a range of n indices that nobody knows anything about; `probing` 0: it
 * is shared from the start. */
static inline void wsi_pace_begin(wsi_pace *pace, size_t n, uint64_t probing)
{
    pace->most = n < WSI_PACE_WHOLE             ? n * n / WSI_PACE_WHOLE + 1
                 : n < SIZE_MAX / WSI_PACE_LEAP ? n
                                                : SIZE_MAX / WSI_PACE_LEAP;
    pace->last = wsi_ticks();
    if (probing == 0) {
        pace->block = 1;
        pace->probe_end = 0;
    } else {
        size_t first = (n - 1) / WSI_PACE_PROBED_FROM + 1;
        pace->block = first < WSI_PACE_FIRST ? first : WSI_PACE_FIRST;
        pace->probe_end = pace->last + probing;
    }
}

/* A block has been run, and others follow. */
static inline void wsi_pace_step(wsi_pace *pace)
{
    uint64_t now = wsi_ticks();
    uint64_t took = now - pace->last;
    size_t block = pace->block;
    pace->last = now;
    if (now < pace->probe_end) {
        bool room = took * WSI_PACE_LEAP < pace->probe_end - now;
        block *= room ? WSI_PACE_LEAP : WSI_PACE_GROWTH;
    } else {
        pace->probe_end = 0;
        if (took < WSI_PACE_TARGET / 2) {
            block *= 2;
        } else if (took > 2 * WSI_PACE_TARGET) {
            /* Clocks that jump do no harm: a block of at least 1. */
            double scale = (double)WSI_PACE_TARGET / (double)took;
            block = (size_t)((double)block * scale);
            block = block > 0 ? block : 1;
        }
    }
    pace->block = block < pace->most ? block : pace->most;
}

#endif
