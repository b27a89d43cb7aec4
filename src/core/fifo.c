/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fifo.c: contract in fifo.h; any thread.
 *
 * Layer: core.
 */
#include "core/fifo.h"

#include <stddef.h>

void wsi_fifo_init(wsi_fifo *fifo, const wsi_job_kind *ticket)
{
    fifo->ticket.kind = ticket;
    wsi_u32_init(&fifo->lock.taken, 0);
    fifo->oldest = NULL;
    fifo->newest = NULL;
    wsi_u32_init(&fifo->any, 0);
}

void wsi_fifo_add(wsi_fifo *fifo, wsi_task *task)
{
    task->in.next = NULL;
    wsi_spin_acquire(&fifo->lock);
    if (fifo->oldest == NULL) {
        fifo->oldest = task;
        /* release: pairs with wsi_fifo_any() */
        wsi_u32_store_release(&fifo->any, 1);
    } else {
        fifo->newest->in.next = task;
    }
    fifo->newest = task;
    wsi_spin_release(&fifo->lock);
}

wsi_task *wsi_fifo_take(wsi_fifo *fifo)
{
    wsi_spin_acquire(&fifo->lock);
    wsi_task *task = fifo->oldest;
    if (task != NULL) {
        fifo->oldest = task->in.next;
        if (fifo->oldest == NULL) {
            /* release: as in wsi_fifo_add() */
            wsi_u32_store_release(&fifo->any, 0);
        }
    }
    wsi_spin_release(&fifo->lock);
    return task;
}

void wsi_fifo_run_oldest(wsi_job *ticket, wsi_worker *w)
{
    /* The ticket is the list's first member. */
    wsi_task *task = wsi_fifo_take((wsi_fifo *)(void *)ticket);
    task->job.kind->run(&task->job, w);
}
