/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * job.h: what stands in the queues.
 *
 * A job is the first member of a larger record: in the frame of its caller
 * (join, install), in a slab node (scope, spawn), or in something that is
 * queued once for each entry of a list (fifo.h).  Its kind says how it is run;
 * when that returns, or earlier when it sets the latch of its waiter, the
 * record may be gone.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_JOB_H
#define WSI_CORE_JOB_H

#include <wsteal/base.h>

typedef struct wsi_worker wsi_worker;
typedef struct wsi_job wsi_job;

typedef struct {
    void (*run)(wsi_job *job, wsi_worker *worker);
    /* Queues a job that was popped from a deque where all of the pool, and who
     * waits for it, can find it.  Returns NULL, or where memory is out a job
     * for the place in the deque that is free now.  NULL: such a job is never
     * left in a deque. */
    wsi_job *(*requeue)(wsi_job *job, ws_pool *pool);
} wsi_job_kind;

struct wsi_job {
    const wsi_job_kind *kind;
};

#endif
