/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * inbox.c: contract in inbox.h.
 *
 * Foreign threads add, workers of the pool run the ticket, the opener takes and
 * closes.
 *
 * Adding: A1 list, A2 `queued` (both under the lock), A3 queue the ticket if it
 * was not, A4 call the opener if the list was empty.
 * Running the ticket: R1 take a job, or clear `queued` (under the lock), R2
 * queue the ticket again if there are more, R3 run the job.
 *
 * Why the record lives long enough: at A1 to A4 the scope is open, since its
 * caller is part of it and the job is held; but a job that is queued can run
 * and end, so at A4 nothing is touched but what was read before A3: not even
 * the opener, whose pool can be another one.  At R2 the
 * job that R1 took is not done, so the scope is open.  With nothing taken at
 * R1 nobody else frees the record if it was closed before, and the runner does
 * not touch it again if not.
 *
 * Layer: core.  See src/README.md, "Scope".
 */
#include "core/inbox.h"

#include <stdbool.h>
#include <stddef.h>

#include "core/scoped.h"
#include "core/worker.h"

typedef struct {
    wsi_task ticket; /* first */
    ws_pool *pool;
    struct ws_scope *scope;
    bool abroad; /* the opener is a worker of another pool */
    wsi_spin lock;
    /* Under the lock. */
    wsi_task_list list;
    uint64_t owed; /* tickets of a FIFO scope's list */
    bool queued;
    bool closed;
} inbox;

_Static_assert(sizeof(inbox) <= WSI_SLAB_LARGE, "an inbox is one node");

/* Puts the ticket where workers look; false: out of memory. */
static bool queue_ticket(inbox *in)
{
    if (in->abroad) {
        wsi_pool_visit(in->pool, &in->ticket);
        return true;
    }
    return wsi_pool_inject(in->pool, &in->ticket.job);
}

static void free_inbox(inbox *in)
{
    ws_pool *pool = in->pool;
    wsi_slab_free(&pool->large, wsi_current_cache(pool, true), in);
}

/* ---- the list: the lock is held -------------------------------------- */

static bool is_empty(const inbox *in)
{
    return in->list.oldest == NULL && in->owed == 0;
}

static wsi_job *take(inbox *in)
{
    wsi_task *task = wsi_task_list_take(&in->list);
    if (task != NULL) {
        task->in.scope = in->scope;
        return &task->job;
    }
    if (in->owed > 0) {
        in->owed--;
        return &in->scope->fifo.ticket;
    }
    return NULL;
}

/* ---- the ticket ------------------------------------------------------ */

static void run_ticket(wsi_job *job, wsi_worker *w)
{
    inbox *in = (inbox *)(void *)job;
    bool more;
    do {
        /* R1 */
        wsi_spin_acquire(&in->lock);
        wsi_job *taken = take(in);
        more = !is_empty(in);
        in->queued = more;
        bool closed = in->closed;
        wsi_spin_release(&in->lock);
        if (taken == NULL) {
            if (closed) {
                free_inbox(in);
            }
            return;
        }
        /* R2; if it fails, this thread goes on as the ticket */
        more = more && !queue_ticket(in);
        /* R3 */
        taken->kind->run(taken, w);
    } while (more);
}

static wsi_job *requeue_ticket(wsi_job *job, ws_pool *pool);
static const wsi_job_kind ticket_kind = {run_ticket, requeue_ticket};

/* It stands in a deque only where memory was out. */
static wsi_job *requeue_ticket(wsi_job *job, ws_pool *pool)
{
    (void)pool;
    return queue_ticket((inbox *)(void *)job) ? NULL : job;
}

/* ---- adding ---------------------------------------------------------- */

/* The scope's inbox, which the first to come makes; NULL: out of memory. */
static inbox *inbox_of(struct ws_scope *scope)
{
    /* acquire: pairs with the CAS below */
    void *in = wsi_ptr_load_acquire(&scope->inbox);
    if (in != NULL) {
        return in;
    }
    inbox *own = wsi_slab_alloc(&scope->pool->large, NULL);
    if (own == NULL) {
        return NULL;
    }
    own->ticket.job.kind = &ticket_kind;
    own->pool = scope->pool;
    own->scope = scope;
    own->abroad = scope->opener != NULL && scope->opener->pool != scope->pool;
    wsi_u32_init(&own->lock.taken, 0);
    own->list = (wsi_task_list){NULL, NULL};
    own->owed = 0;
    own->queued = false;
    own->closed = false;
    /* acq_rel: release pairs with the loads: the record is whole */
    if (wsi_ptr_cas_acq_rel(&scope->inbox, &in, own)) {
        return own;
    }
    free_inbox(own);
    return in;
}

wsi_job *wsi_inbox_add(struct ws_scope *scope, wsi_task *task)
{
    ws_pool *pool = scope->pool;
    const wsi_worker *opener = scope->opener;
    bool helps = opener != NULL && opener->pool == pool;
    unsigned index = helps ? opener->index : 0;
    bool fifo = (scope->flags & WS_SCOPE_FIFO) != 0;
    inbox *in = inbox_of(scope);
    if (in == NULL) {
        return fifo ? &scope->fifo.ticket : &task->job;
    }
    /* A1 */
    wsi_spin_acquire(&in->lock);
    bool first = is_empty(in);
    if (fifo) {
        in->owed++;
    } else {
        wsi_task_list_add(&in->list, task);
    }
    /* A2 */
    bool queued = in->queued;
    in->queued = true;
    wsi_spin_release(&in->lock);
    /* A3 */
    if (!queued && !queue_ticket(in)) {
        return &in->ticket.job;
    }
    /* A4 */
    if (first && helps) {
        wsi_pool_call(pool, index);
    }
    return NULL;
}

/* ---- the opener ------------------------------------------------------ */

wsi_job *wsi_inbox_take(struct ws_scope *scope)
{
    /* acquire: as in inbox_of() */
    inbox *in = wsi_ptr_load_acquire(&scope->inbox);
    if (in == NULL) {
        return NULL;
    }
    wsi_spin_acquire(&in->lock);
    wsi_job *job = take(in);
    wsi_spin_release(&in->lock);
    return job;
}

void wsi_inbox_close(struct ws_scope *scope)
{
    /* acquire: as in inbox_of() */
    inbox *in = wsi_ptr_load_acquire(&scope->inbox);
    if (in == NULL) {
        return;
    }
    wsi_spin_acquire(&in->lock);
    in->closed = true;
    bool queued = in->queued;
    wsi_spin_release(&in->lock);
    if (!queued) {
        free_inbox(in);
    }
}
