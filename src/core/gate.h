/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gate.h: a latch for whoever the caller is: a worker of any pool, which keeps
 * working while it waits, or a foreign thread, which blocks.
 *
 * Set once by a worker of pool `where`; after that the gate may be gone.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_GATE_H
#define WSI_CORE_GATE_H

#include "core/latch.h"
#include "core/registry.h"

typedef struct {
    ws_pool *home; /* of the worker that waits; NULL: a foreign thread */
    bool abroad;   /* that worker waits for another pool */
    wsi_latch latch;
    wsi_lock_latch lock;
} wsi_gate;

/* For the calling thread, to be set by a worker of `where`; again after it was
 * set. */
void wsi_gate_init(wsi_gate *gate, const ws_pool *where);

void wsi_gate_set(wsi_gate *gate);

#endif
