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
           c->deque_capacity <= WSI_DEQUE_CAPACITY_MAX;
}

int wsi_pool_plan_make(wsi_pool_plan *plan, const ws_pool_config *config)
{
    ws_pool_config c = WS_POOL_CONFIG_INIT;
    if ((config != NULL && !read_config(&c, config)) || !in_range(&c)) {
        return WS_EINVAL;
    }
    unsigned n = c.num_threads;
    bool stated = n != 0;
    if (!stated && !threads_from_environment(&n)) {
        return WS_EENV;
    }
    if (n == 0) {
        n = wsi_cpu_count();
        n = n < WS_MAX_WORKERS ? n : WS_MAX_WORKERS;
    }
    *plan = (wsi_pool_plan){
        .num_threads = n,
        .may_shrink = !stated,
        .subtree = c.wait_policy == WS_WAIT_SUBTREE,
        .stack_size = c.stack_size != 0 ? c.stack_size : STACK_SIZE_DEFAULT,
        .name = c.name != NULL ? c.name : "pool",
        .search_ns = 1000 * (uint64_t)(c.search_us != 0 ? c.search_us
                                                        : SEARCH_US_DEFAULT),
        .fairness_interval =
            c.fairness_interval != 0 ? c.fairness_interval : FAIRNESS_DEFAULT,
        .deque_capacity =
            c.deque_capacity != 0 ? c.deque_capacity : CAPACITY_DEFAULT,
        .first_index = 0,
        .first_event = 0,
    };
    return WS_OK;
}
