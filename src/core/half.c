/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * half.c: running the second half of a join that was taken from a queue.
 *
 * Runs on a thief, or on the owner below a wait of its own.
 *
 * Layer: core.
 */
#include "core/half.h"

#include "core/registry.h"
#include "core/worker.h"

void wsi_half_run(wsi_job *job, wsi_worker *w)
{
    wsi_half *half = (wsi_half *)(void *)job;
    wsi_latch_mark_thief(&half->head.latch, w->index);
    const wsi_context *outer =
        wsi_context_switch((const wsi_context *)(const void *)job->kind);
    half->code = half->fn(half->arg);
    wsi_context_switch(outer);
    /* After the set the frame is gone; the pool is not, this worker is its. */
    wsi_sleep_set_latch(&w->pool->sleep, &half->head.latch);
}
