/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * memory.c: aligned, zeroed memory.
 *
 * Any thread.  Everything the library allocates comes from here, so that one
 * swapped entry of wsi_port_ops makes the n-th allocation of a test fail.
 * Memory freed through wsi_mem_free() was allocated by wsi_mem_alloc().
 *
 * Layer: port.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "port/platform.h"

void *wsi_mem_alloc_real(size_t align, size_t size)
{
    const size_t bytes = size > 0 ? size : 1;
    void *p = NULL;
    if (posix_memalign(&p, align, bytes) != 0) {
        return NULL;
    }
    memset(p, 0, bytes);
    return p;
}

void wsi_mem_free_real(void *p)
{
    free(p);
}

void *wsi_mem_alloc(size_t align, size_t size)
{
    return wsi_port_ops.mem_alloc(align, size);
}

void wsi_mem_free(void *p)
{
    if (p != NULL) {
        wsi_port_ops.mem_free(p);
    }
}
