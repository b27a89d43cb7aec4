/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_inbox.c: the shipping core/inbox.c on the mini-loom.
 *
 * The scope is a heap block that its opener frees as soon as the last job is
 * done, which may be while the thread that added it is still on its way out.
 * Each job runs once, the ticket is queued once at most, every record is freed,
 * and an opener that sleeps is called.
 *
 *   --arg 0  an adder of two; a worker; the opener takes
 *   --arg 1  two adders of one, who both find no inbox
 *   --arg 2  as 0 in a FIFO scope
 *   --arg 3  as 0, and the ticket cannot be queued at first
 *   --arg 4  the opener is a worker of another pool: it takes nothing
 *   --arg 5  no worker comes before the scope ends
 */
#include <pthread.h>

#include "core/inbox.h"
#include "core/scoped.h"
#include "core/worker.h"
#include "loom.h"

enum {
    TASKS = 2
};

static struct ws_scope *scope;
static ws_pool pool;
static ws_pool other;
static wsi_worker *opener; /* ends with the scope */
static bool elsewhere;     /* the opener's pool is another one */
static wsi_task tasks[TASKS];
static unsigned ran[TASKS];      /* each by its runner */
static wsi_atomic_u32 left;      /* jobs that are not done */
static wsi_atomic_u32 bell;      /* counts what somebody should look at */
static wsi_atomic_ptr queued;    /* the ticket in the pool's queue */
static wsi_atomic_u32 refusals;  /* so often memory is out */
static wsi_atomic_u32 n_records; /* allocated and not freed */

/* ---- the library's neighbours -------------------------------------------- */

WSI_THREAD_LOCAL wsi_worker *wsi_current_worker;

static void ring(void)
{
    /* acq_rel: pairs with the loads of who waits */
    wsi_u32_fetch_add_acq_rel(&bell, 1);
    wsi_futex_wake(&bell, 2);
}

static void queue_ticket(wsi_job *ticket)
{
    /* acq_rel: pairs with run_ticket_of_queue() */
    LOOM_CHECK(wsi_ptr_exchange_acq_rel(&queued, ticket) == NULL);
    if (elsewhere) {
        ring();
    }
}

bool wsi_pool_inject(ws_pool *to, wsi_job *ticket)
{
    LOOM_CHECK(to == &pool);
    /* relaxed: only the one that adds first comes here */
    uint32_t n = wsi_u32_load_relaxed(&refusals);
    if (n > 0) {
        wsi_u32_store_relaxed(&refusals, n - 1);
        return false;
    }
    queue_ticket(ticket);
    return true;
}

void wsi_pool_visit(ws_pool *to, wsi_task *visitor)
{
    LOOM_CHECK(to == &pool);
    queue_ticket(&visitor->job);
}

void wsi_pool_call(ws_pool *to, unsigned index)
{
    LOOM_CHECK(to == &pool && index == 0);
    ring();
}

void *wsi_slab_alloc(wsi_slab_depot *depot, wsi_slab_cache *cache)
{
    LOOM_CHECK(depot == &pool.large && cache == NULL);
    /* relaxed: read when all others have been joined */
    wsi_u32_fetch_add_relaxed(&n_records, 1);
    return wsi_mem_alloc(16, WSI_SLAB_LARGE);
}

void wsi_slab_free(wsi_slab_depot *depot, wsi_slab_cache *cache, void *node)
{
    LOOM_CHECK(depot == &pool.large && cache == NULL);
    wsi_u32_fetch_sub_acq_rel(&n_records, 1);
    wsi_mem_free(node);
}

/* ---- jobs ---------------------------------------------------------------- */

static void run_task(wsi_job *job, wsi_worker *w)
{
    wsi_task *task = (wsi_task *)(void *)job;
    (void)w;
    LOOM_CHECK(task->in.scope == scope);
    ran[task - tasks]++;
    /* acq_rel: pairs with the opener's load */
    if (wsi_u32_fetch_sub_acq_rel(&left, 1) == 1) {
        ring();
    }
}

static const wsi_job_kind task_kind = {run_task, NULL};

static void run_oldest(wsi_job *ticket, wsi_worker *w)
{
    LOOM_CHECK(ticket == &scope->fifo.ticket);
    wsi_task *task = wsi_fifo_take(&scope->fifo);
    task->in.scope = scope;
    run_task(&task->job, w);
}

static const wsi_job_kind fifo_kind = {run_oldest, NULL};

static void add(wsi_task *task)
{
    task->job.kind = &task_kind;
    if (scope->flags & WS_SCOPE_FIFO) {
        wsi_fifo_add(&scope->fifo, task);
    }
    wsi_job *mine = wsi_inbox_add(scope, task);
    if (mine != NULL) {
        mine->kind->run(mine, NULL);
    }
}

/* ---- threads ------------------------------------------------------------- */

static void *add_both(void *arg)
{
    struct ws_scope *s = scope;
    add(&tasks[0]);
    /* The second keeps it open until here. */
    LOOM_CHECK(s == scope);
    add(&tasks[1]);
    return arg;
}

static void *add_one(void *arg)
{
    add(arg);
    return NULL;
}

static bool run_ticket_of_queue(void)
{
    /* acq_rel: pairs with queue_ticket() */
    wsi_job *ticket = wsi_ptr_exchange_acq_rel(&queued, NULL);
    if (ticket != NULL) {
        ticket->kind->run(ticket, NULL);
    }
    return ticket != NULL;
}

static void *come_twice(void *arg)
{
    run_ticket_of_queue();
    run_ticket_of_queue();
    return arg;
}

static void *come_until_done(void *arg)
{
    for (;;) {
        /* acquire, both: pair with ring() and run_task() */
        uint32_t seen = wsi_u32_load_acquire(&bell);
        if (wsi_u32_load_acquire(&left) == 0) {
            return arg;
        }
        if (!run_ticket_of_queue()) {
            wsi_futex_wait(&bell, seen, UINT64_MAX);
        }
    }
}

static void wait_and_close(bool takes)
{
    for (;;) {
        /* acquire, both: pair with ring() and run_task() */
        uint32_t seen = wsi_u32_load_acquire(&bell);
        wsi_job *job = takes ? wsi_inbox_take(scope) : NULL;
        if (job != NULL) {
            job->kind->run(job, NULL);
        } else if (wsi_u32_load_acquire(&left) == 0) {
            break;
        } else {
            wsi_futex_wait(&bell, seen, UINT64_MAX);
        }
    }
    wsi_inbox_close(scope);
    wsi_mem_free(scope);
    wsi_mem_free(opener);
}

static pthread_t begin(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fn, arg);
    return thread;
}

static void open_scope(long arg)
{
    scope = wsi_mem_alloc(16, sizeof(*scope));
    opener = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*opener));
    elsewhere = arg == 4;
    opener->pool = elsewhere ? &other : &pool;
    opener->index = 0;
    scope->pool = &pool;
    scope->opener = opener;
    scope->flags = arg == 2 ? WS_SCOPE_FIFO : 0;
    wsi_ptr_init(&scope->inbox, NULL);
    wsi_fifo_init(&scope->fifo, &fifo_kind);
    wsi_u32_init(&left, TASKS);
    wsi_u32_init(&refusals, arg == 3);
}

void model_main(void)
{
    long arg = loom_arg(0, 0);
    pthread_t adders[2];
    pthread_t worker;
    open_scope(arg);
    adders[0] = arg == 1 ? begin(add_one, &tasks[0]) : begin(add_both, NULL);
    if (arg == 1) {
        adders[1] = begin(add_one, &tasks[1]);
    } else if (arg != 5) {
        worker = begin(arg == 4 ? come_until_done : come_twice, NULL);
    }
    wait_and_close(arg != 4);
    pthread_join(adders[0], NULL);
    if (arg == 1) {
        pthread_join(adders[1], NULL);
    } else if (arg != 5) {
        pthread_join(worker, NULL);
    }
    /* What is left of the ticket. */
    run_ticket_of_queue();
    LOOM_CHECK(ran[0] == 1 && ran[1] == 1);
    /* relaxed: all others have been joined */
    LOOM_CHECK(wsi_u32_load_relaxed(&n_records) == 0);
    LOOM_CHECK(wsi_ptr_load_relaxed(&queued) == NULL);
}
