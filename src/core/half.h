/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * half.h: the second half of a join as a job in its caller's frame.
 *
 * The caller fills it in on the fast path, so the parts that are the same for
 * every join of a worker stand together and are copied in one store.  The kind
 * of a half is its context (context.h).
 *
 * Layer: core.  See src/README.md, "Join".
 */
#ifndef WSI_CORE_HALF_H
#define WSI_CORE_HALF_H

#include <wsteal/base.h>

#include "core/job.h"
#include "core/latch.h"

typedef struct {
    wsi_job job;
    wsi_latch latch;
} wsi_half_head;

typedef struct {
    wsi_half_head head;
    ws_fn fn;
    void *arg;
    int code; /* of fn; valid once the latch is set */
} wsi_half;

/* Runs a half that was taken from a queue; see job.h. */
void wsi_half_run(wsi_job *job, wsi_worker *worker);

#endif
