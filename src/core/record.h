/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * record.h: the record of a job that somebody spawned.
 *
 * Plain ones fill a small slab node; those that carry more (a copy of their
 * argument, a token, a drop callback) a large one, and begin the same way.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_RECORD_H
#define WSI_CORE_RECORD_H

#include <stdbool.h>

#include <wsteal/base.h>

#include "core/job.h"
#include "core/slab.h"
#include "core/token.h"

typedef struct wsi_task wsi_task;

struct wsi_task {
    wsi_job job;
    union {
        struct ws_scope *scope; /* of a scope's job that runs or is queued */
        wsi_task *next;         /* in a list (fifo.h) */
    } in;
    union {
        ws_fn plain;
        ws_scope_fn scoped;
    } fn;
    void *arg;
};

/* `arg` of the task points to the copy: in the node, or in `block`. */
typedef struct {
    wsi_task task;
    ws_token *token; /* a share, or NULL */
    ws_drop_fn drop; /* or NULL */
    void *block;     /* from wsi_mem_alloc(), or NULL */
    _Alignas(16) char copy[];
} wsi_large_task;

#define WSI_TASK_COPY_MAX (WSI_SLAB_LARGE - sizeof(wsi_large_task))

/* Tasks in a row, linked by `in.next`; who uses it keeps others away. */
typedef struct {
    wsi_task *oldest; /* NULL: it is empty */
    wsi_task *newest;
} wsi_task_list;

static inline void wsi_task_list_add(wsi_task_list *list, wsi_task *task)
{
    task->in.next = NULL;
    if (list->oldest == NULL) {
        list->oldest = task;
    } else {
        list->newest->in.next = task;
    }
    list->newest = task;
}

/* The oldest, or NULL. */
static inline wsi_task *wsi_task_list_take(wsi_task_list *list)
{
    wsi_task *task = list->oldest;
    if (task != NULL) {
        list->oldest = task->in.next;
    }
    return task;
}

/* Copies the argument; false: out of memory. */
bool wsi_task_copy(wsi_large_task *large, const void *arg, size_t size);

_Static_assert(sizeof(wsi_task) <= WSI_SLAB_SMALL, "a task is one node");
_Static_assert(WSI_TASK_COPY_MAX >= 96, "as wsteal/scope.h promises");

#endif
