/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * slab.h: memory for job records without malloc per job.
 *
 * Each worker has a cache of nodes, used by it alone.  A node is freed into
 * the cache of the worker that ran the job; caches trade batches of 128 nodes
 * through the pool's depot, under a lock that is taken once in 128 jobs at
 * most.  Foreign threads take single nodes from the depot's own cache.
 *
 * Memory grows to the largest number of jobs queued at once, plus two batches
 * per worker, and is returned when the pool is destroyed.
 *
 * Layer: core.
 */
#ifndef WSI_CORE_SLAB_H
#define WSI_CORE_SLAB_H

#include <stdbool.h>
#include <stddef.h>

#include "port/lock.h"

/* The two sizes of nodes: a depot and its caches have one of them.  Small ones
 * are as small as a plain job: a large backlog is bound by memory traffic. */
#define WSI_SLAB_SMALL 32
#define WSI_SLAB_LARGE 160
#define WSI_SLAB_BATCH ((size_t)128)
/* Nodes of one allocation: with the injector's, less than one allocation in a
 * thousand jobs also while a backlog grows. */
#define WSI_SLAB_CHUNK (WSI_SLAB_BATCH * 16)

typedef union wsi_slab_node {
    struct {
        union wsi_slab_node *next;       /* in a list of free nodes */
        union wsi_slab_node *next_batch; /* in the depot, first node only */
    } link;
    char bytes[WSI_SLAB_SMALL];
} wsi_slab_node;

typedef struct {
    wsi_slab_node *current; /* n nodes */
    unsigned n;
    wsi_slab_node *full; /* one whole batch, or NULL */
} wsi_slab_cache;

typedef struct wsi_slab_chunk wsi_slab_chunk;

typedef struct {
    wsi_lock lock;
    wsi_slab_node *batches;
    wsi_slab_chunk *chunks;
    wsi_slab_cache foreign; /* under the lock */
    size_t node_size;       /* constant */
} wsi_slab_depot;

/* The depot, and each cache, is zeroed memory. */
void wsi_slab_depot_init(wsi_slab_depot *depot, size_t node_size);
void wsi_slab_depot_destroy(wsi_slab_depot *depot);

/* A node of the depot's size, or NULL when memory is out.  In both,
 * `cache` NULL means a foreign thread. */
void *wsi_slab_alloc(wsi_slab_depot *depot, wsi_slab_cache *cache);
void wsi_slab_free(wsi_slab_depot *depot, wsi_slab_cache *cache, void *node);

#endif
