/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search_delay.c: states that are to be tried again later.
 *
 * A pairing heap by due time, its nodes being the states, so that two heaps
 * meld in constant time without memory: a front that has nothing else to do
 * passes its heap on and ends.  Fredman, Sedgewick, Sleator, Tarjan, "The
 * pairing heap" (1986); two passes, without recursion, and without
 * decrease-key.
 *
 * A heap belongs to the worker that drives its front, or to nobody: then it is
 * in search->orphans, a list that is only ever taken as a whole.
 *
 * Layer: par.  See src/README.md, "Search".
 */
#include <stdlib.h>

#include <wsteal/scope.h>

#include "par/search.h"

/* The back-off doubles so often at most. */
#define MAX_DOUBLINGS 20

/* Of nodes without siblings; either may be NULL. */
static wsi_delayed *meld(wsi_delayed *a, wsi_delayed *b)
{
    if (a == NULL || b == NULL) {
        return a != NULL ? a : b;
    }
    if (b->due_ns < a->due_ns) {
        wsi_delayed *earlier = b;
        b = a;
        a = earlier;
    }
    b->next = a->child;
    a->child = b;
    return a;
}

/* What is left of a heap without its root. */
static wsi_delayed *without_root(wsi_delayed *root)
{
    wsi_delayed *pairs = NULL;
    for (wsi_delayed *n = root->child; n != NULL;) {
        wsi_delayed *a = n;
        wsi_delayed *b = a->next;
        n = b != NULL ? b->next : NULL;
        a->next = NULL;
        if (b != NULL) {
            b->next = NULL;
        }
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    wsi_delayed *heap = NULL;
    while (pairs != NULL) {
        wsi_delayed *a = pairs;
        pairs = a->next;
        a->next = NULL;
        heap = meld(heap, a);
    }
    return heap;
}

/* ---- orphans --------------------------------------------------------- */

void wsi_delay_orphan(wsi_search *search, wsi_delayed *heap)
{
    /* relaxed: the CAS tells when it was not so */
    void *head = wsi_ptr_load_relaxed(&search->orphans);
    do {
        heap->next = head;
        /* release: pairs with the exchange in wsi_delay_take() */
    } while (!wsi_ptr_cas_acq_rel(&search->orphans, &head, heap));
}

wsi_delayed *wsi_delay_take(wsi_search *search)
{
    wsi_delayed *heap = NULL;
    /* relaxed: a hint; what comes later is taken later */
    if (wsi_ptr_load_relaxed(&search->orphans) == NULL) {
        return NULL;
    }
    /* acquire: pairs with the CAS in wsi_delay_orphan() */
    wsi_delayed *list = wsi_ptr_exchange_acq_rel(&search->orphans, NULL);
    while (list != NULL) {
        wsi_delayed *root = list;
        list = root->next;
        root->next = NULL;
        heap = meld(heap, root);
    }
    return heap;
}

/* ---- of one front ---------------------------------------------------- */

bool wsi_delay_prepare(wsi_front *front)
{
    if (front->node == NULL) {
        front->node = wsi_par_malloc(sizeof(*front->node) +
                                     front->search->config.state_size);
    }
    return front->node != NULL;
}

static wsi_delayed *use_node(wsi_front *front, const void *state)
{
    wsi_delayed *node = front->node;
    front->node = NULL;
    *node = (wsi_delayed){.due_ns = UINT64_MAX};
    wsi_state_copy(node->state, state, front->search->config.state_size);
    return node;
}

/* After an attempt that was no success. */
static void put_off(wsi_front *front, wsi_delayed *node)
{
    const ws_search_config *config = &front->search->config;
    const unsigned doublings =
        node->attempts < MAX_DOUBLINGS ? node->attempts : MAX_DOUBLINGS;
    node->attempts++;
    node->child = NULL;
    node->next = NULL;
    node->due_ns =
        ws_clock_ns() + ((uint64_t)config->retry_us * 1000 << doublings);
    front->delayed = meld(front->delayed, node);
    /* relaxed: a sum, no data */
    wsi_u64_fetch_add_relaxed(&front->search->n_retries, 1);
}

/* A search that ends does not look at due times any more. */
static void keep(wsi_front *front, wsi_delayed *node)
{
    node->child = NULL;
    node->next = NULL;
    node->due_ns = UINT64_MAX;
    front->delayed = meld(front->delayed, node);
}

/* The last attempt has failed: whether the state is done with. */
static int give_up(const wsi_search *search, const wsi_delayed *node)
{
    const ws_search_config *config = &search->config;
    return config->give_up == NULL
               ? WS_ETIMEDOUT
               : config->give_up(node->state, node->attempts + 1, config->arg);
}

/* After WS_SEARCH_RETRY; takes the node.  0 or a code. */
static int retry_later(wsi_front *front, wsi_delayed *node)
{
    if (node->attempts + 1 < front->search->config.max_attempts) {
        put_off(front, node);
        return 0;
    }
    const int code = give_up(front->search, node);
    if (code == 0) {
        front->n_pruned++;
        free(node);
        return 0;
    }
    wsi_spliter_note(&front->search->run, code);
    keep(front, node);
    return code;
}

int wsi_delay_add(wsi_front *front, const void *state)
{
    return retry_later(front, use_node(front, state));
}

void wsi_delay_keep(wsi_front *front, const void *state)
{
    keep(front, use_node(front, state));
}

static int attempt(struct ws_search *handle, wsi_delayed *node)
{
    wsi_front *front = handle->front;
    wsi_search *search = front->search;
    handle->status = 0;
    int code = search->config.expand(node->state, handle, search->config.arg);
    if (handle->status != 0) {
        code = handle->status;
    }
    if (code == WS_SEARCH_RETRY) {
        return retry_later(front, node);
    }
    if (code != 0) {
        wsi_spliter_note(&search->run, code);
        keep(front, node);
        return code;
    }
    front->n_expanded++;
    free(node);
    return 0;
}

int wsi_delay_run(struct ws_search *handle)
{
    wsi_front *front = handle->front;
    front->delayed = meld(front->delayed, wsi_delay_take(front->search));
    const uint64_t now_ns = ws_clock_ns();
    while (front->delayed != NULL && front->delayed->due_ns <= now_ns) {
        int code = wsi_spliter_code(&front->search->run);
        if (code != 0) {
            return code;
        }
        wsi_delayed *node = front->delayed;
        front->delayed = without_root(node);
        code = attempt(handle, node);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}
