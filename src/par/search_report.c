/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search_report.c: what a search tells: progress, goals, and what is left.
 *
 * Progress is reported by whichever worker first ends a block after the time
 * has come; `reporting` keeps it to one at a time and hands `last_*` on.
 *
 * Layer: par.  See src/README.md, "Search".
 */
#include <stdlib.h>
#include <string.h>

#include <wsteal/scope.h>

#include "par/search.h"

/* ---- progress -------------------------------------------------------- */

void wsi_search_fill(const wsi_search *search, ws_search_stats *stats,
                     uint64_t now_ns)
{
    *stats = (ws_search_stats){0};
    /* relaxed, all: sums, no data.  What leaves is read before what comes, so
     * that `open` is not negative by that alone. */
    stats->expanded = wsi_u64_load_relaxed(&search->n_expanded);
    stats->pruned = wsi_u64_load_relaxed(&search->n_pruned);
    stats->visited = wsi_u64_load_relaxed(&search->n_visited);
    /* relaxed, all: as above */
    stats->retries = wsi_u64_load_relaxed(&search->n_retries);
    stats->splits_tried = wsi_u64_load_relaxed(&search->run.tried);
    stats->splits = wsi_u64_load_relaxed(&search->run.splits);
    const uint64_t closed = stats->expanded + stats->pruned;
    stats->open = stats->visited > closed ? stats->visited - closed : 0;
    stats->elapsed_ns = now_ns - search->begun_ns;
}

static void set_rate(ws_search_stats *stats, uint64_t visited, uint64_t ns)
{
    stats->per_second = ns > 0 ? (double)visited * 1e9 / (double)ns : 0;
}

static void report(wsi_search *search, wsi_front *front, uint64_t now_ns)
{
    ws_search_stats stats;
    struct ws_search handle = {search, front, 0};
    wsi_search_fill(search, &stats, now_ns);
    set_rate(&stats, stats.visited - search->last_visited,
             now_ns - search->last_ns);
    search->last_ns = now_ns;
    search->last_visited = stats.visited;
    search->config.progress(&stats, &handle, search->config.arg);
}

static bool is_time(const wsi_search *search, uint64_t now_ns)
{
    /* relaxed: who gets `reporting` looks again */
    return now_ns >= wsi_u64_load_relaxed(&search->next_report_ns);
}

void wsi_search_tick(void *it, uint64_t now_ns, void *arg)
{
    wsi_search *search = arg;
    uint32_t no = 0;
    wsi_front_flush(it);
    /* acq_rel: acquire pairs with the store below: `last_*` */
    if (!is_time(search, now_ns) ||
        !wsi_u32_cas_acq_rel(&search->reporting, &no, 1)) {
        return;
    }
    /* No more once it has ended the search. */
    if (is_time(search, now_ns) && wsi_spliter_code(&search->run) == 0) {
        const uint64_t every = (uint64_t)search->config.progress_ms * 1000000;
        report(search, it, now_ns);
        /* relaxed: a hint.  From the end of the callback, which may be slow. */
        wsi_u64_store_relaxed(&search->next_report_ns, ws_clock_ns() + every);
    }
    /* release: pairs with the CAS above */
    wsi_u32_store_release(&search->reporting, 0);
}

/* ---- goals ----------------------------------------------------------- */

static void lock_goal(wsi_search *search)
{
    uint32_t no = 0;
    /* acquire: pairs with the store in unlock_goal().  Held for a copy. */
    while (!wsi_u32_cas_acq_rel(&search->goal_lock, &no, 1)) {
        no = 0;
    }
}

static void unlock_goal(wsi_search *search)
{
    /* release: pairs with the CAS in lock_goal() */
    wsi_u32_store_release(&search->goal_lock, 0);
}

/* Under the lock. */
static bool is_first(const wsi_search *search, uint64_t order,
                     const void *state)
{
    /* relaxed, both: changed under the lock only */
    const uint64_t limit = wsi_u64_load_relaxed(&search->limit);
    return wsi_u32_load_relaxed(&search->found) == 0 || order < limit ||
           (order == limit &&
            memcmp(state, search->config.goal, search->config.state_size) < 0);
}

int ws_search_found(struct ws_search *handle, const void *state)
{
    wsi_search *search = handle->search;
    const ws_search_config *config = &search->config;
    if (config->order == NULL) {
        return WS_EINVAL;
    }
    const uint64_t order = config->order(state, config->arg);
    lock_goal(search);
    const bool first = is_first(search, order, state);
    if (first) {
        memcpy(config->goal, state, config->state_size);
        /* relaxed: pruning may begin late; the order of the two is for
         * ws_search_best() */
        wsi_u64_store_relaxed(&search->limit, order);
        /* release: pairs with the load in ws_search_best() */
        wsi_u32_store_release(&search->found, 1);
    }
    unlock_goal(search);
    return first;
}

int ws_search_best(const struct ws_search *handle, uint64_t *order)
{
    const wsi_search *search = handle->search;
    /* acquire: pairs with the store in ws_search_found() */
    const bool found = wsi_u32_load_acquire(&search->found) != 0;
    if (found && order != NULL) {
        /* relaxed: as new as `found`, or newer */
        *order = wsi_u64_load_relaxed(&search->limit);
    }
    return found;
}

/* ---- what is left ---------------------------------------------------- */

void wsi_search_save(wsi_search *search, const void *states, size_t n)
{
    const ws_search_config *config = &search->config;
    search->n_left += n;
    if (config->save != NULL && search->save_code == 0 && n > 0) {
        search->save_code = config->save(states, n, config->arg);
    }
}

static void save_chunks(wsi_search *search)
{
    /* acquire: pairs with the CAS in leave(); all jobs are done */
    wsi_chunk *chunk = wsi_ptr_load_acquire(&search->left);
    while (chunk != NULL) {
        wsi_chunk *below = chunk->below;
        const size_t size = search->config.state_size;
        const size_t count = chunk->end - chunk->begin;
        wsi_search_save(search, chunk->states + chunk->begin * size, count);
        free(chunk);
        chunk = below;
    }
}

/* Flattens the heap while it goes: children before what follows. */
static void save_delayed(wsi_search *search)
{
    wsi_delayed *list = wsi_delay_take(search);
    while (list != NULL) {
        wsi_delayed *node = list;
        list = node->next;
        if (node->child != NULL) {
            wsi_delayed *last = node->child;
            while (last->next != NULL) {
                last = last->next;
            }
            last->next = list;
            list = node->child;
        }
        wsi_search_save(search, node->state, 1);
        free(node);
    }
}

void wsi_search_save_left(wsi_search *search)
{
    save_chunks(search);
    save_delayed(search);
}
