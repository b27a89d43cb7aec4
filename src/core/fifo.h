/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fifo.h: jobs that start in the order in which they were spawned.
 *
 * A deque gives its owner the newest job first.  So what is queued for a job
 * of a list is not the job but a *ticket*: the list's own job record, which is
 * the same for all of them.  Whoever runs a ticket, owner or thief, takes the
 * oldest job of the list and runs that.  A job is added before its ticket is
 * queued, so there are never more tickets than jobs, and a ticket that is run
 * finds one.
 *
 * Any thread.  The lock is held for a few instructions.  The list must outlive
 * its tickets: it does, since each of them stands for a job that holds its
 * scope, or its pool, open.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_FIFO_H
#define WSI_CORE_FIFO_H

#include <stdbool.h>

#include "core/record.h"
#include "port/lock.h"

typedef struct {
    wsi_job ticket;
    wsi_spin lock;
    wsi_task_list list;
    /* 1: not empty; for who only looks. */
    wsi_atomic_u32 any;
} wsi_fifo;

/* `ticket` is the kind of its tickets; NULL: there are none. */
void wsi_fifo_init(wsi_fifo *fifo, const wsi_job_kind *ticket);

void wsi_fifo_add(wsi_fifo *fifo, wsi_task *task);

/* The oldest, or NULL. */
wsi_task *wsi_fifo_take(wsi_fifo *fifo);

/* What a ticket does that runs the oldest job and adds nothing to it. */
void wsi_fifo_run_oldest(wsi_job *ticket, wsi_worker *w);

/* Whether there is something, without the lock. */
static inline bool wsi_fifo_any(const wsi_fifo *fifo)
{
    /* acquire: pairs with wsi_fifo_add() */
    return wsi_u32_load_acquire(&fifo->any) != 0;
}

#endif
