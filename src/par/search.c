/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search.c: ws_search(): checks the config, opens the scope, expands states.
 *
 * The scope's body runs in place, on the calling thread: it sends the roots on
 * their way, waits, and sends delayed states when they are due and no worker
 * of the search is there to adopt them.
 *
 * Layer: par.  See src/README.md, "Search".
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>
#include <time.h>

#include <wsteal/cancel.h>

#include "par/search.h"

#define DEFAULT_BLOCK 256
#define DEFAULT_PROGRESS_MS 1000
#define DEFAULT_ATTEMPTS 8
#define DEFAULT_RETRY_US 1000
/* How long the opener sleeps between two looks at cancellation. */
#define NAP_NS 1000000

/* ---- expanding ------------------------------------------------------- */

int ws_search_emit(struct ws_search *handle, const void *state)
{
    wsi_front *front = handle->front;
    const ws_search_config *config = &front->search->config;
    wsi_chunk *chunk = front->newest;
    if (chunk == NULL || chunk->end == front->search->capacity) {
        chunk = wsi_front_grow(front);
        if (chunk == NULL) {
            handle->status = WS_ENOMEM;
            return WS_ENOMEM;
        }
    }
    if (config->visit != NULL && !config->visit(state, config->arg)) {
        return 0;
    }
    wsi_front_push(front, chunk, state);
    front->n_visited++;
    return 1;
}

void ws_search_stop(struct ws_search *handle, int code)
{
    wsi_spliter_note(&handle->search->run, code != 0 ? code : WS_ECANCELED);
}

void ws_search_stop_and_save(struct ws_search *handle)
{
    ws_search_stop(handle, WS_SEARCH_SAVED);
}

static bool is_pruned(const wsi_search *search, const void *state)
{
    /* relaxed: an old limit is a larger one */
    return search->config.order != NULL &&
           search->config.order(state, search->config.arg) >
               wsi_u64_load_relaxed(&search->limit);
}

/* Expands the state; 0 or a code that ends the search. */
static int expand(struct ws_search *handle, const void *state)
{
    wsi_front *front = handle->front;
    wsi_search *search = handle->search;
    int code = search->config.expand(state, handle, search->config.arg);
    if (handle->status == 0 && code == 0) {
        front->n_expanded++;
        return 0;
    }
    if (handle->status == 0 && code == WS_SEARCH_RETRY) {
        return wsi_delay_add(front, state);
    }
    if (handle->status != 0) {
        code = handle->status;
    }
    wsi_spliter_note(&search->run, code);
    wsi_delay_keep(front, state);
    return code;
}

static int advance(void *it, size_t units, void *arg)
{
    wsi_front *front = it;
    wsi_search *search = arg;
    struct ws_search handle = {search, front, 0};
    _Alignas(16) char state[WS_SEARCH_STATE_MAX];
    int code = wsi_delay_any(front) ? wsi_delay_run(&handle) : 0;
    for (; code == 0 && units > 0 && front->count > 0; units--) {
        code = wsi_spliter_code(&search->run);
        if (code != 0) {
            break;
        }
        if (!wsi_delay_prepare(front)) {
            return WS_ENOMEM;
        }
        wsi_front_pop(front, state);
        if (is_pruned(search, state)) {
            front->n_pruned++;
        } else {
            code = expand(&handle, state);
        }
    }
    return code != 0 ? code : wsi_spliter_code(&search->run);
}

static const ws_spliter_ops front_ops = {sizeof(wsi_front), wsi_front_size,
                                         wsi_front_split, advance,
                                         wsi_front_drop};

/* ---- the opener ------------------------------------------------------ */

/* At most until `due_ns`. */
static void nap(uint64_t due_ns)
{
    const uint64_t now_ns = ws_clock_ns();
    const uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    const uint64_t ns = left_ns < NAP_NS ? left_ns : NAP_NS;
    const struct timespec time = {.tv_nsec = (long)ns};
    nanosleep(&time, NULL);
}

/* Waits until all jobs are done or the time has come; then naps.  The states
 * are nobody's meanwhile, so that a worker can adopt them. */
static void await(struct ws_scope *scope, wsi_search *search, wsi_delayed *heap)
{
    const uint64_t due_ns = heap->due_ns;
    wsi_delay_orphan(search, heap);
    if (ws_scope_wait_until(scope, due_ns) == WS_OK) {
        nap(due_ns);
        if (search->run.after_block != NULL) {
            wsi_front none = {.search = search};
            search->run.after_block(&none, ws_clock_ns(), search);
        }
    }
}

static int open_search(struct ws_scope *scope, void *arg)
{
    wsi_search *search = arg;
    search->begun = true;
    wsi_spliter_spawn(&search->run, scope, &search->roots);
    for (;;) {
        wsi_delayed *heap = wsi_delay_take(search);
        if (heap == NULL) {
            ws_scope_wait(scope);
            heap = wsi_delay_take(search);
        }
        if (heap == NULL) {
            return 0;
        }
        if (ws_cancelled()) {
            wsi_spliter_note(&search->run, WS_ECANCELED);
        }
        if (wsi_spliter_code(&search->run) != 0) {
            wsi_delay_orphan(search, heap);
            return wsi_spliter_code(&search->run);
        }
        if (heap->due_ns > ws_clock_ns()) {
            await(scope, search, heap);
        } else {
            const wsi_front front = {.search = search, .delayed = heap};
            heap->due_ns = 0;
            wsi_spliter_spawn(&search->run, scope, &front);
        }
    }
}

/* ---- roots ----------------------------------------------------------- */

/* Memory is out: what has not been pushed is as good as left. */
static void save_roots(wsi_search *search, const char *root, size_t n)
{
    const ws_search_config *config = &search->config;
    for (; config->save != NULL && n > 0; n--) {
        if (config->visit == NULL || config->visit(root, config->arg)) {
            wsi_search_save(search, root, 1);
            search->roots.n_visited++;
        }
        root += config->state_size;
    }
}

static int push_all_roots(wsi_search *search)
{
    const ws_search_config *config = &search->config;
    const char *root = config->roots;
    struct ws_search handle = {search, &search->roots, 0};
    for (size_t i = 0; i < config->n_roots; i++) {
        if (ws_search_emit(&handle, root) < 0) {
            save_roots(search, root, config->n_roots - i);
            return WS_ENOMEM;
        }
        root += config->state_size;
    }
    return 0;
}

/* Not asked for when they are visited. */
static int push_roots(wsi_search *search)
{
    ws_search_config *config = &search->config;
    int (*visit)(const void *state, void *arg) = config->visit;
    if (config->roots_visited) {
        config->visit = NULL;
    }
    const int status = push_all_roots(search);
    config->visit = visit;
    return status;
}

/* ---- the call -------------------------------------------------------- */

static bool valid(const ws_search_config *c)
{
    return c->expand != NULL && c->state_size > 0 &&
           c->state_size <= WS_SEARCH_STATE_MAX &&
           (c->roots != NULL || c->n_roots == 0) &&
           (c->order == NULL || c->goal != NULL);
}

static bool init(wsi_search *search, const ws_search_config *given)
{
    ws_search_config *c = &search->config;
    ws_spliter_options options = WS_SPLITER_OPTIONS_INIT;
    memset(search, 0, sizeof(*search));
    memcpy(c, given,
           given->struct_size < sizeof(*c) ? given->struct_size : sizeof(*c));
    if (!valid(c)) {
        return false;
    }
    c->progress_ms = c->progress_ms ? c->progress_ms : DEFAULT_PROGRESS_MS;
    c->max_attempts = c->max_attempts ? c->max_attempts : DEFAULT_ATTEMPTS;
    c->retry_us = c->retry_us ? c->retry_us : DEFAULT_RETRY_US;
    search->capacity =
        (uint32_t)((WSI_CHUNK_BYTES - sizeof(wsi_chunk)) / c->state_size);
    if (c->max_open > 0 && c->max_open < search->capacity) {
        search->capacity = (uint32_t)c->max_open;
    }
    search->max_chunks =
        c->max_open > 0 ? c->max_open / search->capacity : UINT64_MAX / 2;
    search->roots.search = search;
    search->begun_ns = ws_clock_ns();
    search->last_ns = search->begun_ns;
    wsi_u64_init(&search->limit, UINT64_MAX);
    wsi_u64_init(&search->next_report_ns,
                 search->begun_ns + (uint64_t)c->progress_ms * 1000000);
    options.arg = search;
    options.max_units = c->max_block > 0 ? c->max_block : DEFAULT_BLOCK;
    const bool good = wsi_spliter_init(&search->run, &front_ops, &options);
    search->run.after_block = c->progress != NULL ? wsi_search_tick : NULL;
    return good;
}

/* All jobs are done, or none has begun.  The result of the call. */
static int finish(wsi_search *search, int status, ws_search_stats *stats)
{
    int code = wsi_spliter_code(&search->run);
    code = code != 0 ? code : status;
    if (!search->begun) {
        wsi_front_drop(&search->roots);
    }
    wsi_search_save_left(search);
    if (stats != NULL) {
        ws_search_stats all;
        wsi_search_fill(search, &all, ws_clock_ns());
        all.open = search->n_left;
        all.per_second = all.elapsed_ns > 0 ? (double)all.visited * 1e9 /
                                                  (double)all.elapsed_ns
                                            : 0;
        *stats = all;
    }
    return search->save_code != 0 ? search->save_code : code;
}

int ws_search(const ws_search_config *config, ws_search_stats *stats)
{
    wsi_search search;
    if (config == NULL || !init(&search, config)) {
        return WS_EINVAL;
    }
    int status = push_roots(&search);
    if (status == WS_OK) {
        status = ws_scope_in(search.config.pool,
                             WS_SCOPE_FAIL_FAST | WS_SCOPE_IN_PLACE,
                             open_search, &search);
    }
    return finish(&search, status, stats);
}
