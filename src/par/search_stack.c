/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search_stack.c: the stack of open states of a front.
 *
 * Chunks of 4 KiB in a doubly linked list, so that giving the oldest half away
 * is a cut, and pushing never moves what is there.  One empty chunk is kept, so
 * that a stack that goes up and down at a border does not allocate.
 *
 * Only the worker that drives a front touches it.
 *
 * Layer: par.  See src/README.md, "Search".
 */
#include <stdlib.h>
#include <string.h>

#include "par/search.h"

/* Chunks that a split looks at, at most; it gives no more away at once. */
#define SPLIT_CHUNKS 256

_Static_assert(sizeof(wsi_chunk) % _Alignof(max_align_t) == 0,
               "states are aligned");

/* ---- chunks ---------------------------------------------------------- */

static void free_chunk(wsi_search *search, wsi_chunk *chunk)
{
    if (chunk != NULL) {
        free(chunk);
        /* relaxed: a count, no data */
        wsi_u64_fetch_add_relaxed(&search->n_chunks, UINT64_MAX);
    }
}

static wsi_chunk *new_chunk(wsi_search *search)
{
    wsi_chunk *chunk = NULL;
    /* relaxed: a count, no data */
    if (wsi_u64_fetch_add_relaxed(&search->n_chunks, 1) < search->max_chunks) {
        chunk = wsi_par_malloc(sizeof(*chunk) +
                               search->capacity * search->config.state_size);
    }
    if (chunk == NULL) {
        /* relaxed: as above */
        wsi_u64_fetch_add_relaxed(&search->n_chunks, UINT64_MAX);
    }
    return chunk;
}

static void put_on_top(wsi_front *front, wsi_chunk *chunk)
{
    chunk->begin = 0;
    chunk->end = 0;
    chunk->above = NULL;
    chunk->below = front->newest;
    if (front->newest != NULL) {
        front->newest->above = chunk;
    } else {
        front->oldest = chunk;
    }
    front->newest = chunk;
}

wsi_chunk *wsi_front_grow(wsi_front *front)
{
    wsi_chunk *chunk = front->newest;
    if (chunk != NULL && chunk->begin == chunk->end) {
        chunk->begin = 0;
        chunk->end = 0;
        return chunk;
    }
    chunk = front->spare;
    front->spare = NULL;
    if (chunk == NULL) {
        chunk = new_chunk(front->search);
    }
    if (chunk != NULL) {
        put_on_top(front, chunk);
    }
    return chunk;
}

static void remove_newest(wsi_front *front)
{
    wsi_chunk *chunk = front->newest;
    front->newest = chunk->below;
    front->newest->above = NULL;
    free_chunk(front->search, front->spare);
    front->spare = chunk;
}

void wsi_front_pop(wsi_front *front, void *state)
{
    const size_t size = front->search->config.state_size;
    while (front->newest->begin == front->newest->end) {
        remove_newest(front);
    }
    wsi_chunk *chunk = front->newest;
    chunk->end--;
    front->count--;
    wsi_state_copy(state, chunk->states + chunk->end * size, size);
}

/* ---- the spliter ----------------------------------------------------- */

size_t wsi_front_size(const void *it)
{
    const wsi_front *front = it;
    /* 0: was due when the opener sent it. */
    const bool due = front->delayed != NULL && front->delayed->due_ns == 0;
    return front->count + due;
}

/* The chunk's older half, or all but one state. */
static bool split_chunk(wsi_front *from, wsi_front *to)
{
    wsi_chunk *chunk = from->oldest;
    const size_t size = from->search->config.state_size;
    const uint32_t n = (chunk->end - chunk->begin) / 2;
    if (n == 0) {
        return false;
    }
    wsi_chunk *half = new_chunk(from->search);
    if (half == NULL) {
        return false;
    }
    put_on_top(to, half);
    memcpy(half->states, chunk->states + chunk->begin * size, n * size);
    half->end = n;
    chunk->begin += n;
    to->count = n;
    from->count -= n;
    return true;
}

/* The older half of the list of chunks. */
static void cut(wsi_front *from, wsi_front *to, wsi_chunk *last, size_t count)
{
    to->oldest = from->oldest;
    to->newest = last;
    to->count = count;
    from->oldest = last->above;
    from->oldest->below = NULL;
    from->count -= count;
    last->above = NULL;
}

int wsi_front_split(void *from_it, void *to_it)
{
    wsi_front *from = from_it;
    wsi_front *to = to_it;
    *to = (wsi_front){.search = from->search};
    if (from->count < 2) {
        return 0;
    }
    wsi_chunk *last = NULL;
    size_t count = 0;
    int looked_at = 0;
    for (wsi_chunk *c = from->oldest; c->above != NULL; c = c->above) {
        const size_t more = c->end - c->begin;
        if (count > 0 && count + more > from->count / 2) {
            break;
        }
        last = c;
        count += more;
        if (++looked_at == SPLIT_CHUNKS) {
            break;
        }
    }
    /* What does not divide between chunks divides within the oldest. */
    if (count > 0 && count - count / 4 <= from->count / 2) {
        cut(from, to, last, count);
        return 1;
    }
    return split_chunk(from, to);
}

void wsi_front_flush(wsi_front *front)
{
    wsi_search *search = front->search;
    /* relaxed, all: sums, no data */
    wsi_u64_fetch_add_relaxed(&search->n_visited, front->n_visited);
    wsi_u64_fetch_add_relaxed(&search->n_expanded, front->n_expanded);
    if (front->n_pruned > 0) {
        /* relaxed: as above */
        wsi_u64_fetch_add_relaxed(&search->n_pruned, front->n_pruned);
    }
    front->n_visited = 0;
    front->n_expanded = 0;
    front->n_pruned = 0;
}

/* `newest` and all below. */
static void leave(wsi_search *search, wsi_chunk *newest, wsi_chunk *oldest)
{
    /* relaxed: the CAS tells when it was not so */
    void *head = wsi_ptr_load_relaxed(&search->left);
    do {
        oldest->below = head;
        /* release: pairs with the load after the scope has ended */
    } while (!wsi_ptr_cas_acq_rel(&search->left, &head, newest));
}

void wsi_front_drop(void *it)
{
    wsi_front *front = it;
    wsi_search *search = front->search;
    wsi_front_flush(front);
    if (front->delayed != NULL) {
        wsi_delay_orphan(search, front->delayed);
    }
    if (front->count > 0) {
        leave(search, front->newest, front->oldest);
    } else {
        while (front->newest != NULL) {
            wsi_chunk *chunk = front->newest;
            front->newest = chunk->below;
            free_chunk(search, chunk);
        }
    }
    free_chunk(search, front->spare);
    free(front->node);
}
