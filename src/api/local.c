/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * local.c: worker-local storage.
 *
 * All slots stand in one list, in the order of visits: first those of the
 * pool's workers, made with the set, then those of other threads, which append
 * themselves at their first call.  The list only grows.  A thread that is no
 * worker finds its slot by its number, in one of a few push-only lists.
 *
 * A slot's content, and whether it is alive, is its thread's own; who visits
 * the slots comes when no other thread uses them (contract), so these need no
 * atomics.
 *
 * Layer: api.
 */
#include <wsteal/local.h>

#include <string.h>

#include "core/entry.h"
#include "core/worker.h"

#define SIZE_MAXIMUM ((size_t)1 << 30)

enum {
    BUCKETS = 16
};

typedef struct slot slot;

/* Each has cache lines of its own. */
struct slot {
    bool born;
    uint64_t thread;     /* constant; 0 = a worker's */
    slot *older;         /* constant; in the bucket */
    wsi_atomic_ptr next; /* in the order of visits, or NULL */
    _Alignas(max_align_t) unsigned char data[];
};

struct ws_local {
    /* Constant. */
    const ws_pool *pool;
    unsigned n_workers; /* spares included */
    size_t size;
    size_t stride;
    ws_slot_fn init;
    void *arg;
    /* Of the other threads. */
    wsi_atomic_ptr last; /* some slot; from it the list's end is not far */
    wsi_atomic_ptr buckets[BUCKETS];
    _Alignas(WSI_CACHE_LINE) unsigned char workers[];
};

/* ---- threads --------------------------------------------------------- */

/* A number of the calling thread that no other thread ever has, not 0. */
static uint64_t thread_number(void)
{
    static wsi_atomic_u64 n_threads;
    static WSI_THREAD_LOCAL uint64_t number;
    if (number == 0) {
        /* relaxed: only unique */
        number = wsi_u64_fetch_add_relaxed(&n_threads, 1) + 1;
    }
    return number;
}

/* ---- the list -------------------------------------------------------- */

static slot *worker_slot(ws_local *local, unsigned index)
{
    return (slot *)(void *)(local->workers + index * local->stride);
}

static slot *next_of(const slot *s)
{
    /* acquire: pairs with the CAS in append() */
    return wsi_ptr_load_acquire(&s->next);
}

static void append(ws_local *local, slot *s)
{
    /* acquire: pairs with the store below */
    slot *last = wsi_ptr_load_acquire(&local->last);
    void *next = NULL;
    /* acq_rel: pairs with next_of(), and with itself when it fails */
    while (!wsi_ptr_cas_acq_rel(&last->next, &next, s)) {
        last = next;
        next = NULL;
    }
    /* release: pairs with the load above; a hint, which may also go back */
    wsi_ptr_store_release(&local->last, s);
}

/* `s` or the first slot behind it that is alive, or NULL. */
static slot *live(slot *s)
{
    while (s != NULL && !s->born) {
        s = next_of(s);
    }
    return s;
}

/* ---- making and freeing ---------------------------------------------- */

/* NULL: out of memory. */
static ws_local *make(const ws_pool *pool, size_t size)
{
    size_t line = WSI_CACHE_LINE;
    size_t stride = (sizeof(slot) + size + line - 1) / line * line;
    if (pool->n_slots > (SIZE_MAX - sizeof(ws_local)) / stride) {
        return NULL;
    }
    ws_local *local =
        wsi_mem_alloc(line, sizeof(*local) + pool->n_slots * stride);
    if (local == NULL) {
        return NULL;
    }
    local->pool = pool;
    local->n_workers = pool->n_slots;
    local->size = size;
    local->stride = stride;
    slot *next = NULL;
    for (unsigned i = local->n_workers; i-- > 0;) {
        slot *s = worker_slot(local, i);
        wsi_ptr_init(&s->next, next);
        next = s;
    }
    wsi_ptr_init(&local->last, worker_slot(local, local->n_workers - 1));
    for (unsigned i = 0; i < BUCKETS; i++) {
        wsi_ptr_init(&local->buckets[i], NULL);
    }
    return local;
}

int ws_local_create(ws_local **out, ws_pool *pool, size_t size, ws_slot_fn init,
                    void *arg)
{
    if (out == NULL || size == 0 || size > SIZE_MAXIMUM) {
        return WS_EINVAL;
    }
    int status = wsi_pool_or_current(pool, &pool);
    if (status != WS_OK) {
        return status;
    }
    ws_local *local = make(pool, size);
    if (local == NULL) {
        return WS_ENOMEM;
    }
    local->init = init;
    local->arg = arg;
    *out = local;
    return WS_OK;
}

void ws_local_destroy(ws_local *local, ws_slot_fn fini)
{
    if (local == NULL) {
        return;
    }
    ws_local_each(local, fini, local->arg);
    slot *s = next_of(worker_slot(local, local->n_workers - 1));
    while (s != NULL) {
        slot *next = next_of(s);
        wsi_mem_free(s);
        s = next;
    }
    wsi_mem_free(local);
}

/* ---- the caller's slot ----------------------------------------------- */

/* A slot for thread `number`, or NULL: out of memory. */
static WSI_COLD slot *add_foreign(ws_local *local, uint64_t number)
{
    slot *s = wsi_mem_alloc(WSI_CACHE_LINE, local->stride);
    if (s == NULL) {
        return NULL;
    }
    s->thread = number;
    wsi_ptr_init(&s->next, NULL);
    append(local, s);
    wsi_atomic_ptr *bucket = &local->buckets[number % BUCKETS];
    /* relaxed: checked by the CAS */
    void *older = wsi_ptr_load_relaxed(bucket);
    do {
        s->older = older;
        /* acq_rel: pairs with foreign_slot(), and with itself: who sees this
         * slot sees the older ones */
    } while (!wsi_ptr_cas_acq_rel(bucket, &older, s));
    return s;
}

static slot *foreign_slot(ws_local *local)
{
    uint64_t number = thread_number();
    /* acquire: pairs with the CAS in add_foreign() */
    slot *s = wsi_ptr_load_acquire(&local->buckets[number % BUCKETS]);
    while (s != NULL && s->thread != number) {
        s = s->older;
    }
    return s != NULL ? s : add_foreign(local, number);
}

static WSI_COLD void begin(const ws_local *local, slot *s)
{
    memset(s->data, 0, local->size);
    /* First, so that a job that `init` waits for does not begin it again. */
    s->born = true;
    if (local->init != NULL) {
        local->init(s->data, local->arg);
    }
}

void *ws_local_get(ws_local *local)
{
    if (local == NULL) {
        return NULL;
    }
    const wsi_worker *w = wsi_current_worker;
    slot *s = w != NULL && w->pool == local->pool ? worker_slot(local, w->index)
                                                  : foreign_slot(local);
    if (s == NULL) {
        return NULL;
    }
    if (WSI_UNLIKELY(!s->born)) {
        begin(local, s);
    }
    return s->data;
}

/* ---- all slots ------------------------------------------------------- */

size_t ws_local_each(ws_local *local, ws_slot_fn visit, void *arg)
{
    size_t n = 0;
    if (local == NULL || visit == NULL) {
        return 0;
    }
    slot *s = live(worker_slot(local, 0));
    for (; s != NULL; s = live(next_of(s))) {
        visit(s->data, arg);
        n++;
    }
    return n;
}

size_t ws_local_combine(ws_local *local, void *into,
                        void (*combine)(void *into, void *slot))
{
    size_t n = 0;
    if (local == NULL || combine == NULL) {
        return 0;
    }
    slot *s = live(worker_slot(local, 0));
    for (; s != NULL; s = live(next_of(s))) {
        combine(into, s->data);
        s->born = false;
        n++;
    }
    return n;
}
