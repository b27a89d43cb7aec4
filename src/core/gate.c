/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gate.c: contract in gate.h.
 *
 * Layer: core.
 */
#include "core/gate.h"

#include "core/worker.h"

void wsi_gate_init(wsi_gate *gate, const ws_pool *where)
{
    const wsi_worker *w = wsi_current_worker;
    gate->home = w != NULL ? w->pool : NULL;
    gate->abroad = w != NULL && w->pool != where;
    wsi_latch_init(&gate->latch, wsi_latch_new(w != NULL ? w->index : 0));
    wsi_lock_latch_init(&gate->lock);
}

void wsi_gate_set(wsi_gate *gate)
{
    ws_pool *home = gate->home;
    bool abroad = gate->abroad;
    if (home == NULL) {
        wsi_lock_latch_set(&gate->lock);
        return;
    }
    /* After the set the waiter may return and, if it is not of our own pool,
     * that pool may be stopped; until then it is open. */
    if (abroad) {
        wsi_pool_retain(home);
    }
    wsi_sleep_set_latch(&home->sleep, &gate->latch);
    if (abroad) {
        wsi_pool_release(home);
    }
}
