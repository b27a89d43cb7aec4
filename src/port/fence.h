/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fence.h: the two sides of an asymmetric store-load fence.
 *
 * Two threads that each store one word and then load the other's word must not
 * both miss the other's store.  The side that runs often (the owner of a
 * deque) calls wsi_fence_light(); the rare side (a thief that forces work
 * into the open, a worker that goes to sleep) calls wsi_fence_heavy().
 *
 *  WSI_FENCES_ASYMMETRIC  light = compiler barrier,
 *                         heavy = membarrier(PRIVATE_EXPEDITED), which makes
 *                         every running thread of the process execute a full
 *                         fence before it returns;
 *  WSI_FENCES_SEQCST      both = seq_cst fence.
 *
 * The mode is chosen once per process, before the first deque exists, and
 * never changes (wsi_fences_mode()).  A heavy fence can be refused later on (a
 * seccomp filter installed after start-up): then it returns false, and its
 * caller must behave as if it had not been there: a thief withdraws, a sleeper
 * naps with a time-out.
 *
 * Layer: port.
 */
#ifndef WSI_PORT_FENCE_H
#define WSI_PORT_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "port/atomic.h"

typedef enum {
    WSI_FENCES_SEQCST = 0,
    WSI_FENCES_ASYMMETRIC = 1
} wsi_fences;

/* The process-wide mode: WSTEAL_FENCES=seqcst forces WSI_FENCES_SEQCST, else
 * the machine decides.  Any thread; the first call may enter the kernel. */
wsi_fences wsi_fences_mode(void);

/* Heavy side.  False only in asymmetric mode, when the kernel refuses. */
bool wsi_fence_heavy(wsi_fences mode);

/* Out of line and cold, so that the owner's fast path holds no fence
 * instruction at all: one compare and one branch that is never taken. */
WSI_COLD void wsi_fence_light_seqcst(void);

static inline void wsi_fence_light(wsi_fences mode)
{
    if (WSI_UNLIKELY(mode == WSI_FENCES_SEQCST)) {
        wsi_fence_light_seqcst();
    }
    WSI_COMPILER_BARRIER();
}

#endif
