/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search.h: what the files of the search share.
 *
 *  search.c        the call, and expanding: advance of the spliter
 *  search_stack.c  open states: a stack of chunks; split, drop
 *  search_delay.c  states that wait for their next attempt
 *  search_report.c progress, goals, and handing open states back
 *
 * The spliter is a *front*: a stack of open states and a heap of delayed ones.
 * A front without open states is at its end; its delayed states go to
 * `orphans`, which any worker of the search adopts at the begin of its next
 * block; when none is left, the thread that waits for the search does.
 *
 * A front that is dropped before its end leaves its states in `left`.  So every
 * state that was visited is expanded, or on a stack, or in a heap, or left.
 *
 * Layer: par.  See src/README.md, "Search".
 */
#ifndef WSI_PAR_SEARCH_H
#define WSI_PAR_SEARCH_H

#include <stddef.h>

#include <wsteal/search.h>

#include "par/spliter.h"

#define WSI_CHUNK_BYTES 4096

/* States [begin, end) of a stack; begin > 0 after a split. */
typedef struct wsi_chunk wsi_chunk;
struct wsi_chunk {
    wsi_chunk *below; /* older; of the oldest: NULL, or the next in `left` */
    wsi_chunk *above;
    uint32_t begin;
    uint32_t end;
    _Alignas(max_align_t) char states[]; /* as malloc gives it */
};

/* A delayed state: a node of a pairing heap, earliest first. */
typedef struct wsi_delayed wsi_delayed;
struct wsi_delayed {
    wsi_delayed *child;
    wsi_delayed *next; /* the next child of its parent; next root of orphans */
    uint64_t due_ns;
    unsigned attempts;
    _Alignas(max_align_t) char state[];
};

/* Of the roots, and of all states that are emitted. */
typedef struct wsi_search wsi_search;

typedef struct {
    wsi_search *search;
    wsi_chunk *oldest;
    wsi_chunk *newest;
    wsi_chunk *spare;
    size_t count;
    wsi_delayed *delayed;
    wsi_delayed *node;  /* so that delaying or keeping a state cannot fail */
    uint64_t n_visited; /* not yet added to the search's */
    uint64_t n_expanded;
    uint64_t n_pruned;
} wsi_front;

_Static_assert(sizeof(wsi_front) <= WS_SPLITER_SMALL, "no allocation");

struct wsi_search {
    wsi_spliter_run run;
    ws_search_config config;
    uint64_t begun_ns;
    uint64_t max_chunks; /* of all stacks */
    uint32_t capacity;   /* states in a chunk */
    bool begun;
    wsi_atomic_ptr orphans; /* heaps, linked by `next` */
    /* The best goal: config.goal is written under the lock. */
    wsi_atomic_u64 limit; /* its order; UINT64_MAX while there is none */
    wsi_atomic_u32 found;
    wsi_atomic_u32 goal_lock;
    wsi_atomic_u64 next_report_ns;
    /* What is above is mostly read, what follows is mostly written. */
    _Alignas(WSI_CACHE_LINE) wsi_atomic_u64 n_chunks; /* with spares */
    /* Sums of what fronts have flushed. */
    wsi_atomic_u64 n_visited;
    wsi_atomic_u64 n_expanded;
    wsi_atomic_u64 n_pruned;
    wsi_atomic_u64 n_retries;
    wsi_atomic_ptr left; /* chunks, linked by `below` */
    /* Who has set `reporting` owns `last_*`. */
    wsi_atomic_u32 reporting;
    uint64_t last_ns;
    uint64_t last_visited;
    /* The calling thread's, before and after the scope. */
    wsi_front roots;
    uint64_t n_left;
    int save_code; /* the first of save that is not 0 */
};

/* The handle that callbacks get. */
struct ws_search {
    wsi_search *search;
    wsi_front *front;
    int status; /* WS_ENOMEM: an emit failed */
};

/* ---- search_stack.c -------------------------------------------------- */

/* A newest chunk that has room; NULL: out of memory. */
wsi_chunk *wsi_front_grow(wsi_front *front);

/* Copies the newest state out; there must be one. */
void wsi_front_pop(wsi_front *front, void *state);

size_t wsi_front_size(const void *it);
int wsi_front_split(void *from, void *to);
void wsi_front_drop(void *it);

/* Adds the front's counts to the search's. */
void wsi_front_flush(wsi_front *front);

/* A state of one of the usual sizes in few instructions. */
static inline void wsi_state_copy(void *to, const void *from, size_t size)
{
    if (size == 4) {
        __builtin_memcpy(to, from, 4);
    } else if (size == 8) {
        __builtin_memcpy(to, from, 8);
    } else if (size == 16) {
        __builtin_memcpy(to, from, 16);
    } else {
        __builtin_memcpy(to, from, size);
    }
}

static inline void wsi_front_push(wsi_front *front, wsi_chunk *chunk,
                                  const void *state)
{
    const size_t size = front->search->config.state_size;
    wsi_state_copy(chunk->states + chunk->end * size, state, size);
    chunk->end++;
    front->count++;
}

/* ---- search_delay.c -------------------------------------------------- */

/* Makes sure that front->node is there; false: out of memory. */
bool wsi_delay_prepare(wsi_front *front);

/* After WS_SEARCH_RETRY: puts the state into the heap, 0; or gives it up, and
 * the code of that.  Or keeps it for `save`.  Both use front->node. */
int wsi_delay_add(wsi_front *front, const void *state);
void wsi_delay_keep(wsi_front *front, const void *state);

/* Whether advance must call wsi_delay_run(). */
static inline bool wsi_delay_any(const wsi_front *front)
{
    /* relaxed: a hint; taken with acquire */
    return front->delayed != NULL ||
           wsi_ptr_load_relaxed(&front->search->orphans) != NULL;
}

/* Adopts orphans and makes the attempts that are due.  0 or a code. */
int wsi_delay_run(struct ws_search *handle);

/* The opener's part: all orphans as one heap, or NULL; and the opposite. */
wsi_delayed *wsi_delay_take(wsi_search *search);
void wsi_delay_orphan(wsi_search *search, wsi_delayed *heap);

/* ---- search_report.c ------------------------------------------------- */

/* Reports progress if it is time to.  `it` is a front. */
void wsi_search_tick(void *it, uint64_t now_ns, void *arg);
void wsi_search_fill(const wsi_search *search, ws_search_stats *stats,
                     uint64_t now_ns);

/* Counts states as left, and hands them to save, unless that has failed. */
void wsi_search_save(wsi_search *search, const void *states, size_t n);

/* Saves and frees all that is left. */
void wsi_search_save_left(wsi_search *search);

#endif
