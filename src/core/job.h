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

typedef struct wsi_worker wsi_worker;
typedef struct wsi_job wsi_job;

typedef struct {
    void (*run)(wsi_job *job, wsi_worker *worker);
} wsi_job_kind;

struct wsi_job {
    const wsi_job_kind *kind;
};

#endif
