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

static void run_half(wsi_job *job, wsi_worker *w)
{
    wsi_half *half = (wsi_half *)(void *)job;
    if (w->pool->subtree) {
        wsi_latch_mark_thief(&half->head.latch, w->index);
    }
    half->code = half->fn(half->arg);
    /* After the set the frame is gone; the pool is not, this worker is its. */
    wsi_sleep_set_latch(&w->pool->sleep, &half->head.latch);
}

void wsi_half_head_init(wsi_half_head *head, unsigned owner)
{
    head->job.run = run_half;
    wsi_latch_init(&head->latch, wsi_latch_new(owner));
}
