/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * plan.c: from a user's config and the environment to a checked plan.
 *
 * Any thread; reads the environment and the machine, changes nothing.
 *
 * Layer: core.
 */
#include "core/registry.h"

#include <stdlib.h>
#include <string.h>

#include "port/platform.h"

#define STACK_SIZE_DEFAULT ((size_t)8 << 20)
#define SEARCH_US_DEFAULT 50
#define SEARCH_US_MAX 1000000
#define FAIRNESS_DEFAULT 61
#define CAPACITY_DEFAULT 256
#define SPARES_LEAST 4
#define DEPTH_DEFAULT 64
#define PATIENCE_NS ((uint64_t)1000 * 1000 * 1000)

/* Copies what both sides know; false when the caller's struct says something
 * that this library does not understand. */
static bool read_config(ws_pool_config *known, const ws_pool_config *config)
{
    size_t size = config->struct_size;
    const unsigned char *bytes = (const unsigned char *)config;
    if (size < sizeof(size_t) + sizeof(unsigned)) {
        return false;
    }
    for (size_t i = sizeof(*known); i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    memcpy(known, config, size < sizeof(*known) ? size : sizeof(*known));
    return true;
}

/* WSTEAL_NUM_THREADS: *n = 0 when it is unset, empty or 0.  False: garbage. */
static bool threads_from_environment(unsigned *n)
{
    const char *text = getenv("WSTEAL_NUM_THREADS");
    unsigned value = 0;
    for (; text != NULL && *text != '\0'; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(*text - '0');
        if (value > WS_MAX_WORKERS) {
            return false;
        }
    }
    *n = value;
    return true;
}

static bool in_range(const ws_pool_config *c)
{
    return c->num_threads <= WS_MAX_WORKERS &&
           c->wait_policy <= WS_WAIT_SUBTREE &&
           (c->stack_size == 0 || (c->stack_size >= WS_MIN_STACK_SIZE &&
                                   c->stack_size <= WS_MAX_STACK_SIZE)) &&
           c->search_us <= SEARCH_US_MAX &&
           c->deque_capacity <= WSI_DEQUE_CAPACITY_MAX &&
           (c->max_spares <= WS_MAX_WORKERS || c->max_spares == WS_NO_SPARES) &&
           c->use_current_thread <= 1;
}

static unsigned spares(const ws_pool_config *c, unsigned n, bool subtree)
{
    if (c->max_spares == WS_NO_SPARES) {
        return 0;
    }
    if (c->max_spares != 0) {
        return c->max_spares;
    }
    /* Waits below the depth cap need no spares under the other policy. */
    return !subtree ? 0 : n > SPARES_LEAST ? n : SPARES_LEAST;
}

static void or_default(unsigned *field, unsigned value)
{
    *field = *field != 0 ? *field : value;
}

int wsi_pool_plan_make(wsi_pool_plan *plan, const ws_pool_config *config)
{
    ws_pool_config c = WS_POOL_CONFIG_INIT;
    if ((config != NULL && !read_config(&c, config)) || !in_range(&c)) {
        return WS_EINVAL;
    }
    bool stated = c.num_threads != 0;
    if (!stated && !threads_from_environment(&c.num_threads)) {
        return WS_EENV;
    }
    if (c.num_threads == 0) {
        unsigned n = wsi_cpu_count();
        c.num_threads = n < WS_MAX_WORKERS ? n : WS_MAX_WORKERS;
    }
    bool subtree = c.wait_policy != WS_WAIT_ANY;
    or_default(&c.search_us, SEARCH_US_DEFAULT);
    or_default(&c.fairness_interval, FAIRNESS_DEFAULT);
    or_default(&c.max_depth, DEPTH_DEFAULT);
    c.stack_size = c.stack_size != 0 ? c.stack_size : STACK_SIZE_DEFAULT;
    c.name = c.name != NULL ? c.name : "pool";
    c.deque_capacity =
        c.deque_capacity != 0 ? c.deque_capacity : CAPACITY_DEFAULT;
    *plan = (wsi_pool_plan){
        .config = c,
        .may_shrink = !stated,
        .subtree = subtree,
        .n_spares = spares(&c, c.num_threads, subtree),
        .first_index = 0,
        .first_event = 0,
        .patience_ns = PATIENCE_NS,
    };
    return WS_OK;
}
