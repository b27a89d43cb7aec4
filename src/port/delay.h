/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * delay.h: random delays before atomic operations, in test builds only.
 *
 * Most are short, so that two threads change places; some give the processor
 * away, as if the scheduler had.  A stress case then reaches in seconds what
 * takes hours else.
 *
 * Layer: port.
 */
#ifndef WSI_PORT_DELAY_H
#define WSI_PORT_DELAY_H

#include <sched.h>
#include <stdint.h>

#include "port/compiler.h"

static inline void wsi_maybe_delay(void)
{
    /* Each file and thread has a stream of its own. */
    static WSI_THREAD_LOCAL uint32_t state;
    uint32_t x = state != 0 ? state : (uint32_t)(uintptr_t)&state | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    state = x;
    if (x % 256 == 0) {
        sched_yield();
    } else if (x % 16 == 0) {
        for (volatile uint32_t n = x >> 8 & 127; n > 0; n--) {
        }
    }
}

#endif
