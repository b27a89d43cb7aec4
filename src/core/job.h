/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * job.h: what stands in the queues.
 *
 * A job is the first member of a larger record: in the frame of its caller
 * (join, install) or in a slab node (scope, spawn).  Its run function is called
 * once, on one worker; when it returns, or earlier when it sets the latch of
 * its waiter, the record is gone.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_JOB_H
#define WSI_CORE_JOB_H

typedef struct wsi_worker wsi_worker;
typedef struct wsi_job wsi_job;

struct wsi_job {
    void (*run)(wsi_job *job, wsi_worker *worker);
};

#endif
