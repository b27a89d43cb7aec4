/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * record.c: contract in record.h; the thread that spawns.
 *
 * Layer: core.
 */
#include "core/record.h"

#include <string.h>

#include "port/platform.h"

bool wsi_task_copy(wsi_large_task *large, const void *arg, size_t size)
{
    void *copy = large->copy;
    if (size > WSI_TASK_COPY_MAX) {
        large->block = wsi_mem_alloc(16, size);
        copy = large->block;
        if (copy == NULL) {
            return false;
        }
    }
    if (size > 0) {
        memcpy(copy, arg, size);
    }
    large->task.arg = copy;
    return true;
}
