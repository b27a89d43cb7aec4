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
    fifo->list = (wsi_task_list){NULL, NULL};
    wsi_u32_init(&fifo->any, 0);
}

void wsi_fifo_add(wsi_fifo *fifo, wsi_task *task)
{
    wsi_spin_acquire(&fifo->lock);
    if (fifo->list.oldest == NULL) {
        /* release: pairs with wsi_fifo_any() */
        wsi_u32_store_release(&fifo->any, 1);
    }
    wsi_task_list_add(&fifo->list, task);
    wsi_spin_release(&fifo->lock);
}

wsi_task *wsi_fifo_take(wsi_fifo *fifo)
{
    wsi_spin_acquire(&fifo->lock);
    wsi_task *task = wsi_task_list_take(&fifo->list);
    if (task != NULL && fifo->list.oldest == NULL) {
        /* release: as in wsi_fifo_add() */
        wsi_u32_store_release(&fifo->any, 0);
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
