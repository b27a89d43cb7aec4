/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * graphs.h: random graphs, and a search that counts what happens to each node,
 * for the tests of ws_search().
 *
 * A state is a node's number and padding that depends on it, so that a state
 * that was torn or misplaced shows.
 */
#ifndef WS_TESTS_SUPPORT_GRAPHS_H
#define WS_TESTS_SUPPORT_GRAPHS_H

#include "support/pools.h"

typedef struct graph graph;
struct graph {
    uint32_t n;
    uint32_t degree;
    uint64_t seed;
    size_t state_size;
    test_counter *visits;   /* of each node: calls of visit */
    test_counter *expanded; /* expansions that returned 0 */
    uint32_t *saved;        /* states from save, as numbers */
    size_t n_saved;
    test_counter calls; /* of expand */
    /* What expand does besides; 0 or its code.  NULL: nothing. */
    int (*hook)(graph *g, struct ws_search *search, uint32_t node,
                uint64_t call);
    uint64_t at; /* for the hook */
    ws_token *token;
    bool late; /* the hook comes behind the emits */
    ws_search_config config;
    ws_search_stats stats;
};

static inline uint32_t graph_edge(const graph *g, uint32_t node, uint32_t k)
{
    uint64_t state = g->seed ^ ((uint64_t)node << 20) ^ (k + 1);
    state = state != 0 ? state : 1;
    ws_test_random(&state);
    return (uint32_t)(ws_test_random(&state) % g->n);
}

static inline void graph_state(const graph *g, uint32_t node, void *state)
{
    memset(state, (int)(node * 7 + 1) & 0xff, g->state_size);
    memcpy(state, &node, sizeof(node));
}

static inline uint32_t graph_node(const graph *g, const void *state)
{
    unsigned char right[WS_SEARCH_STATE_MAX];
    uint32_t node;
    memcpy(&node, state, sizeof(node));
    graph_state(g, node, right);
    WS_TEST_REQUIRE(node < g->n);
    WS_TEST_REQUIRE(memcmp(right, state, g->state_size) == 0);
    return node;
}

static inline int graph_visit(const void *state, void *arg)
{
    graph *g = arg;
    return test_add(&g->visits[graph_node(g, state)], 1) == 0;
}

static inline int graph_expand(const void *state, struct ws_search *search,
                               void *arg)
{
    graph *g = arg;
    const uint32_t node = graph_node(g, state);
    const uint64_t call = test_add(&g->calls, 1);
    int code = 0;
    WS_TEST_REQUIRE((uintptr_t)state % _Alignof(max_align_t) == 0);
    if (g->hook != NULL && !g->late) {
        code = g->hook(g, search, node, call);
    }
    for (uint32_t k = 0; k < g->degree && code == 0; k++) {
        unsigned char next[WS_SEARCH_STATE_MAX];
        graph_state(g, graph_edge(g, node, k), next);
        const int opened = ws_search_emit(search, next);
        WS_TEST_REQUIRE(opened == 0 || opened == 1 || opened == WS_ENOMEM);
        if (opened == WS_ENOMEM) {
            return 0; /* it counts as open all the same */
        }
    }
    if (g->hook != NULL && g->late) {
        code = g->hook(g, search, node, call);
    }
    if (code == 0) {
        test_add(&g->expanded[node], 1);
    }
    return code;
}

static inline int graph_save(const void *states, size_t n, void *arg)
{
    graph *g = arg;
    for (size_t i = 0; i < n; i++) {
        WS_TEST_REQUIRE(g->n_saved < g->n);
        g->saved[g->n_saved++] =
            graph_node(g, (const char *)states + i * g->state_size);
    }
    return 0;
}

static inline graph graph_new(uint32_t n, uint32_t degree, uint64_t seed)
{
    graph g = {.n = n, .degree = degree, .seed = seed, .state_size = 4};
    g.visits = calloc(n, sizeof(*g.visits));
    g.expanded = calloc(n, sizeof(*g.expanded));
    g.saved = calloc(n, sizeof(*g.saved));
    WS_TEST_REQUIRE(g.visits != NULL && g.expanded != NULL && g.saved != NULL);
    g.config = (ws_search_config)WS_SEARCH_CONFIG_INIT;
    g.config.expand = graph_expand;
    g.config.visit = graph_visit;
    g.config.save = graph_save;
    return g;
}

static inline void graph_free(graph *g)
{
    free(g->visits);
    free(g->expanded);
    free(g->saved);
}

/* From node 0, or from what was saved. */
static inline int graph_search(void *arg)
{
    graph *g = arg;
    const size_t n = g->config.roots_visited ? g->n_saved : 1;
    unsigned char *roots = malloc(n * g->state_size + 1);
    WS_TEST_REQUIRE(roots != NULL);
    for (size_t i = 0; i < n; i++) {
        graph_state(g, g->config.roots_visited ? g->saved[i] : 0,
                    roots + i * g->state_size);
    }
    g->n_saved = 0;
    g->config.arg = g;
    g->config.state_size = g->state_size;
    g->config.roots = roots;
    g->config.n_roots = n;
    const int code = ws_search(&g->config, &g->stats);
    free(roots);
    return code;
}

/* The nodes that can be reached; `marks` has room for all nodes. */
static inline uint32_t graph_reachable(const graph *g, unsigned char *marks)
{
    uint32_t *stack = malloc(g->n * sizeof(*stack));
    uint32_t open = 1;
    uint32_t count = 0;
    WS_TEST_REQUIRE(stack != NULL);
    memset(marks, 0, g->n);
    marks[0] = 1;
    stack[0] = 0;
    while (open > 0) {
        const uint32_t node = stack[--open];
        count++;
        for (uint32_t k = 0; k < g->degree; k++) {
            const uint32_t next = graph_edge(g, node, k);
            if (!marks[next]) {
                marks[next] = 1;
                stack[open++] = next;
            }
        }
    }
    free(stack);
    return count;
}

/* All that can be reached was expanded once, and nothing else. */
static inline void graph_check_complete(graph *g)
{
    unsigned char *marks = malloc(g->n);
    WS_TEST_REQUIRE(marks != NULL);
    graph_reachable(g, marks);
    for (uint32_t i = 0; i < g->n; i++) {
        WS_TEST_REQUIRE(test_get(&g->expanded[i]) == marks[i]);
    }
    free(marks);
}

/* Each visited state was expanded or saved. */
static inline void graph_check_nothing_lost(graph *g)
{
    unsigned char *saved = calloc(g->n, 1);
    WS_TEST_REQUIRE(saved != NULL);
    for (size_t i = 0; i < g->n_saved; i++) {
        WS_TEST_REQUIRE(saved[g->saved[i]] == 0);
        saved[g->saved[i]] = 1;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        WS_TEST_REQUIRE(test_get(&g->expanded[i]) <= 1);
        if (g->config.visit != NULL) {
            const bool visited = test_get(&g->visits[i]) > 0;
            WS_TEST_REQUIRE(visited ==
                            (saved[i] || test_get(&g->expanded[i]) > 0));
        }
    }
    WS_TEST_REQUIRE(g->stats.open == g->n_saved);
    free(saved);
}

#endif
