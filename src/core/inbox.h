/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * inbox.h: the jobs of a scope that stand in no deque: they come from threads
 * outside its pool, or from a job that ran on top of a wait (worker.h).
 *
 * Both the workers of the pool and the scope's opener, while it waits, must
 * find such a job, and the opener must not touch jobs of others on its way.  So
 * the jobs stand in a list of the scope's own, the inbox, and the inbox as a
 * whole stands in the queue of the pool for as long as it holds a job: its
 * *ticket* is one job record.  A worker that runs the ticket takes one job,
 * queues the ticket again if there are more, and runs what it took.
 *
 * Where the opener is a worker of another pool, the ticket is a visitor (W4 in
 * wait.c), for the opener waits like one that has installed itself.
 *
 * Invariants
 *  B1  One ticket at most is queued or being passed on: exactly while `queued`.
 *  B2  A job in the list means `queued`: somebody will come for it.
 *  B3  Whoever leaves the record last frees it: the closer, unless the ticket
 *      is queued still, else the worker that runs it.
 *
 * Life: made by the first foreign spawn, closed by the opener when no job is
 * left.  A job leaves the list when somebody takes it, and the pool's queue
 * holds one ticket per scope, also of a closed one until a worker comes to it.
 *
 * Layer: core.  See src/README.md, "Scope".
 */
#ifndef WSI_CORE_INBOX_H
#define WSI_CORE_INBOX_H

#include "core/record.h"

/* From a thread that is no worker of the scope's pool, which the caller keeps
 * from being freed; or from one that takes the job out of its deque.  In a FIFO
 * scope the task is in the scope's list already and what is added is a ticket
 * of that list.  Returns NULL, or, when memory is out, a job that the caller
 * must run or queue itself. */
wsi_job *wsi_inbox_add(struct ws_scope *scope, wsi_task *task);

/* The oldest job in it, or NULL.  The opener asks, which waits. */
wsi_job *wsi_inbox_take(struct ws_scope *scope);

/* No job of the scope is left; the opener calls it. */
void wsi_inbox_close(struct ws_scope *scope);

#endif
