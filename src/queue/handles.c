/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * handles.c: the public Worker, Stealer and Injector of wsteal/deque.h.
 *
 * Checks arguments, counts references; the work is done by deque.c, steal.c
 * and injector.c.  One block of memory holds the deque and all its handles; it
 * lives until the owner and every stealer have been released.
 *
 * Layer: queue.
 */
#include <wsteal/deque.h>

#include <string.h>

#include "port/platform.h"
#include "queue/deque.h"
#include "queue/injector.h"

#define CAPACITY_DEFAULT 64

struct ws_stealer {
    ws_worker *worker;
};

struct ws_worker {
    wsi_deque deque;
    wsi_atomic_u32 handles;
    ws_stealer stealer;
    void (*drop)(void *item, void *drop_arg);
    void *drop_arg;
};

struct ws_injector {
    wsi_injector queue;
};

ws_steal ws_steal_combine(ws_steal first, ws_steal second)
{
    if (first == WS_STEAL_SUCCESS || second == WS_STEAL_SUCCESS) {
        return WS_STEAL_SUCCESS;
    }
    return first == WS_STEAL_RETRY ? first : second;
}

int ws_worker_create(ws_worker **out, ws_flavor flavor,
                     const ws_worker_opts *opts)
{
    ws_worker_opts given = WS_WORKER_OPTS_INIT;
    if (opts != NULL) {
        size_t size = opts->struct_size;
        memcpy(&given, opts, size < sizeof(given) ? size : sizeof(given));
    }
    if (out == NULL || (flavor != WS_LIFO && flavor != WS_FIFO) ||
        (opts != NULL && opts->struct_size < sizeof(size_t)) ||
        given.capacity > WSI_DEQUE_CAPACITY_MAX) {
        return WS_EINVAL;
    }
    ws_worker *worker = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*worker));
    if (worker == NULL) {
        return WS_ENOMEM;
    }
    size_t capacity = given.capacity != 0 ? given.capacity : CAPACITY_DEFAULT;
    if (!wsi_deque_init(&worker->deque, flavor, capacity, 0)) {
        wsi_mem_free(worker);
        return WS_ENOMEM;
    }
    wsi_u32_init(&worker->handles, 1);
    worker->stealer.worker = worker;
    worker->drop = given.drop;
    worker->drop_arg = given.drop_arg;
    *out = worker;
    return WS_OK;
}

static void release(ws_worker *worker)
{
    /* acq_rel: the last one comes after all that the others did */
    if (wsi_u32_fetch_sub_acq_rel(&worker->handles, 1) != 1) {
        return;
    }
    void *item;
    while (worker->drop != NULL &&
           (item = wsi_deque_pop_fifo(&worker->deque)) != NULL) {
        worker->drop(item, worker->drop_arg);
    }
    wsi_deque_destroy(&worker->deque);
    wsi_mem_free(worker);
}

void ws_worker_destroy(ws_worker *worker)
{
    if (worker != NULL) {
        release(worker);
    }
}

int ws_worker_push(ws_worker *worker, void *item)
{
    if (worker == NULL || item == NULL) {
        return WS_EINVAL;
    }
    return wsi_deque_push(&worker->deque, item) == WSI_PUSH_FULL ? WS_ENOMEM
                                                                 : WS_OK;
}

void *ws_worker_pop(ws_worker *worker)
{
    return worker != NULL ? wsi_deque_pop(&worker->deque) : NULL;
}

size_t ws_worker_len(const ws_worker *worker)
{
    return worker != NULL ? wsi_deque_len(&worker->deque) : 0;
}

int ws_worker_is_empty(const ws_worker *worker)
{
    return ws_worker_len(worker) == 0;
}

int ws_worker_stealer(ws_worker *worker, ws_stealer **out)
{
    if (worker == NULL) {
        return WS_EINVAL;
    }
    return ws_stealer_clone(&worker->stealer, out);
}

int ws_stealer_clone(ws_stealer *stealer, ws_stealer **out)
{
    if (stealer == NULL || out == NULL) {
        return WS_EINVAL;
    }
    /* relaxed: the caller's own handle keeps the deque alive */
    wsi_u32_fetch_add_relaxed(&stealer->worker->handles, 1);
    *out = stealer;
    return WS_OK;
}

void ws_stealer_release(ws_stealer *stealer)
{
    if (stealer != NULL) {
        release(stealer->worker);
    }
}

size_t ws_stealer_len(const ws_stealer *stealer)
{
    return stealer != NULL ? wsi_deque_len(&stealer->worker->deque) : 0;
}

int ws_stealer_is_empty(const ws_stealer *stealer)
{
    return ws_stealer_len(stealer) == 0;
}

ws_steal ws_stealer_steal(ws_stealer *stealer, void **out)
{
    if (stealer == NULL || out == NULL) {
        return WS_STEAL_EMPTY;
    }
    return wsi_deque_steal(&stealer->worker->deque, WSI_STEAL_TAKEOVER, out);
}

static ws_steal steal_batch(ws_stealer *stealer, ws_worker *dest, size_t limit,
                            void **first)
{
    bool answered;
    if (stealer == NULL || dest == NULL) {
        return WS_STEAL_EMPTY;
    }
    return wsi_deque_steal_batch(&stealer->worker->deque, &dest->deque, limit,
                                 WSI_STEAL_TAKEOVER, first, &answered);
}

ws_steal ws_stealer_steal_batch(ws_stealer *stealer, ws_worker *dest)
{
    return steal_batch(stealer, dest, WS_STEAL_BATCH_MAX, NULL);
}

ws_steal ws_stealer_steal_batch_with_limit(ws_stealer *stealer, ws_worker *dest,
                                           size_t limit)
{
    return steal_batch(stealer, dest, limit, NULL);
}

ws_steal ws_stealer_steal_batch_and_pop(ws_stealer *stealer, ws_worker *dest,
                                        void **out)
{
    return ws_stealer_steal_batch_with_limit_and_pop(stealer, dest,
                                                     WS_STEAL_BATCH_MAX, out);
}

ws_steal ws_stealer_steal_batch_with_limit_and_pop(ws_stealer *stealer,
                                                   ws_worker *dest,
                                                   size_t limit, void **out)
{
    return out != NULL ? steal_batch(stealer, dest, limit, out)
                       : WS_STEAL_EMPTY;
}

int ws_injector_create(ws_injector **out)
{
    if (out == NULL) {
        return WS_EINVAL;
    }
    ws_injector *injector = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*injector));
    if (injector == NULL) {
        return WS_ENOMEM;
    }
    if (!wsi_injector_init(&injector->queue, 0)) {
        wsi_mem_free(injector);
        return WS_ENOMEM;
    }
    *out = injector;
    return WS_OK;
}

void ws_injector_destroy(ws_injector *injector)
{
    if (injector != NULL) {
        wsi_injector_destroy(&injector->queue);
        wsi_mem_free(injector);
    }
}

int ws_injector_push(ws_injector *injector, void *item)
{
    if (injector == NULL || item == NULL) {
        return WS_EINVAL;
    }
    return wsi_injector_push(&injector->queue, item) ? WS_OK : WS_ENOMEM;
}

ws_steal ws_injector_steal(ws_injector *injector, void **out)
{
    if (injector == NULL || out == NULL) {
        return WS_STEAL_EMPTY;
    }
    return wsi_injector_steal(&injector->queue, out);
}

static ws_steal inject_batch(ws_injector *injector, ws_worker *dest,
                             size_t limit, void **first)
{
    bool answered;
    if (injector == NULL || dest == NULL) {
        return WS_STEAL_EMPTY;
    }
    return wsi_injector_steal_batch(&injector->queue, &dest->deque, limit,
                                    first, &answered);
}

ws_steal ws_injector_steal_batch(ws_injector *injector, ws_worker *dest)
{
    return inject_batch(injector, dest, WS_STEAL_BATCH_MAX, NULL);
}

ws_steal ws_injector_steal_batch_with_limit(ws_injector *injector,
                                            ws_worker *dest, size_t limit)
{
    return inject_batch(injector, dest, limit, NULL);
}

ws_steal ws_injector_steal_batch_and_pop(ws_injector *injector, ws_worker *dest,
                                         void **out)
{
    return ws_injector_steal_batch_with_limit_and_pop(injector, dest,
                                                      WS_STEAL_BATCH_MAX, out);
}

ws_steal ws_injector_steal_batch_with_limit_and_pop(ws_injector *injector,
                                                    ws_worker *dest,
                                                    size_t limit, void **out)
{
    return out != NULL ? inject_batch(injector, dest, limit, out)
                       : WS_STEAL_EMPTY;
}

size_t ws_injector_len(const ws_injector *injector)
{
    return injector != NULL ? wsi_injector_len(&injector->queue) : 0;
}

int ws_injector_is_empty(const ws_injector *injector)
{
    return ws_injector_len(injector) == 0;
}
