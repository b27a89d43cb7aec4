/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * slab.c: job records from per-worker caches; contract in slab.h.
 *
 * Layer: core.
 */
#include "core/slab.h"

#include "port/compiler.h"
#include "port/platform.h"

struct wsi_slab_chunk {
    wsi_slab_chunk *next;
    /* The nodes begin one node further on, so that they stay aligned. */
};

void wsi_slab_depot_init(wsi_slab_depot *depot, size_t node_size)
{
    depot->node_size = node_size;
}

void wsi_slab_depot_destroy(wsi_slab_depot *depot)
{
    while (depot->chunks != NULL) {
        wsi_slab_chunk *chunk = depot->chunks;
        depot->chunks = chunk->next;
        wsi_mem_free(chunk);
    }
}

static wsi_slab_node *after(const wsi_slab_depot *depot, wsi_slab_node *node)
{
    return (wsi_slab_node *)(void *)((char *)node + depot->node_size);
}

/* Cuts a new chunk into batches.  The depot is locked. */
static void add_chunk(wsi_slab_depot *depot)
{
    size_t size = (WSI_SLAB_CHUNK + 1) * depot->node_size;
    wsi_slab_chunk *chunk = wsi_mem_alloc(WSI_CACHE_LINE, size);
    if (chunk == NULL) {
        return;
    }
    chunk->next = depot->chunks;
    depot->chunks = chunk;
    wsi_slab_node *node = after(depot, (wsi_slab_node *)(void *)chunk);
    for (size_t i = 0; i < WSI_SLAB_CHUNK; i += WSI_SLAB_BATCH) {
        wsi_slab_node *batch = node;
        for (size_t n = 1; n < WSI_SLAB_BATCH; n++, node = node->link.next) {
            node->link.next = after(depot, node);
        }
        node->link.next = NULL;
        node = after(depot, node);
        /* Whole before it can be found, also by a child of fork(). */
        batch->link.next_batch = depot->batches;
        depot->batches = batch;
    }
}

/* A whole batch, or NULL.  The depot is locked. */
static wsi_slab_node *get_batch(wsi_slab_depot *depot)
{
    if (depot->batches == NULL) {
        add_chunk(depot);
    }
    wsi_slab_node *batch = depot->batches;
    if (batch != NULL) {
        depot->batches = batch->link.next_batch;
    }
    return batch;
}

static void lock_unless(bool locked, wsi_slab_depot *depot)
{
    if (!locked) {
        wsi_lock_acquire(&depot->lock);
    }
}

static void unlock_unless(bool locked, wsi_slab_depot *depot)
{
    if (!locked) {
        wsi_lock_release(&depot->lock);
    }
}

static WSI_COLD bool refill(wsi_slab_depot *depot, wsi_slab_cache *cache)
{
    bool locked = cache == &depot->foreign;
    if (cache->full != NULL) {
        cache->current = cache->full;
        cache->full = NULL;
    } else {
        lock_unless(locked, depot);
        cache->current = get_batch(depot);
        unlock_unless(locked, depot);
    }
    cache->n = cache->current != NULL ? WSI_SLAB_BATCH : 0;
    return cache->current != NULL;
}

/* The current list is a whole batch: keeps it in reserve, and gives the former
 * reserve back. */
static WSI_COLD void put_aside(wsi_slab_depot *depot, wsi_slab_cache *cache)
{
    wsi_slab_node *surplus = cache->full;
    bool locked = cache == &depot->foreign;
    cache->full = cache->current;
    cache->current = NULL;
    cache->n = 0;
    if (surplus != NULL) {
        lock_unless(locked, depot);
        surplus->link.next_batch = depot->batches;
        depot->batches = surplus;
        unlock_unless(locked, depot);
    }
}

static void *take(wsi_slab_depot *depot, wsi_slab_cache *cache)
{
    /* Not n: a fork() can come between the two. */
    if (WSI_UNLIKELY(cache->current == NULL) && !refill(depot, cache)) {
        return NULL;
    }
    wsi_slab_node *node = cache->current;
    cache->current = node->link.next;
    cache->n--;
    return node;
}

void *wsi_slab_alloc(wsi_slab_depot *depot, wsi_slab_cache *cache)
{
    if (cache != NULL) {
        return take(depot, cache);
    }
    wsi_lock_acquire(&depot->lock);
    void *node = take(depot, &depot->foreign);
    wsi_lock_release(&depot->lock);
    return node;
}

static void give(wsi_slab_depot *depot, wsi_slab_cache *cache,
                 wsi_slab_node *node)
{
    if (WSI_UNLIKELY(cache->n == WSI_SLAB_BATCH)) {
        put_aside(depot, cache);
    }
    node->link.next = cache->current;
    cache->current = node;
    cache->n++;
}

void wsi_slab_free(wsi_slab_depot *depot, wsi_slab_cache *cache, void *node)
{
    if (cache != NULL) {
        give(depot, cache, node);
        return;
    }
    wsi_lock_acquire(&depot->lock);
    give(depot, &depot->foreign, node);
    wsi_lock_release(&depot->lock);
}
