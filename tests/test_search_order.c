/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_search_order.c: the goal that is first by order, and progress reports.
 */
/* ctest: processors 2 */
#include "support/graphs.h"

/* ---- cheapest goals -------------------------------------------------- */

#define NODES 200
#define FAR UINT32_MAX

/* A node, and what a way to it costs. */
typedef struct {
    uint32_t node;
    uint32_t cost;
} place;

typedef struct {
    graph g;
    uint32_t goals; /* each node whose number divided by it leaves 3 */
    bool bounded;   /* the user looks at the limit, too */
    test_counter costs[NODES];
} atlas;

static uint32_t length(uint32_t node, uint32_t k)
{
    return (node + k) % 4;
}

static uint64_t cost_of(const void *state, void *arg)
{
    (void)arg;
    return ((const place *)state)->cost;
}

static int is_goal(const atlas *a, uint32_t node)
{
    return node % a->goals == 3;
}

/* Comes back when the way is shorter. */
static int visit_place(const void *state, void *arg)
{
    atlas *a = arg;
    const place *p = state;
    uint64_t old = test_get(&a->costs[p->node]);
    while (p->cost < old) {
        /* acq_rel: the test's own counter */
        if (wsi_u64_cas_acq_rel(&a->costs[p->node], &old, p->cost)) {
            return 1;
        }
    }
    return 0;
}

static int expand_place(const void *state, struct ws_search *search, void *arg)
{
    atlas *a = arg;
    place p;
    uint64_t limit;
    memcpy(&p, state, sizeof(p));
    if (is_goal(a, p.node)) {
        WS_TEST_REQUIRE(ws_search_found(search, &p) >= 0);
        WS_TEST_REQUIRE(ws_search_best(search, &limit) == 1);
        WS_TEST_REQUIRE(limit <= p.cost);
    }
    for (uint32_t k = 0; k < a->g.degree; k++) {
        const place next = {graph_edge(&a->g, p.node, k),
                            p.cost + length(p.node, k)};
        if (!a->bounded || !ws_search_best(search, &limit) ||
            next.cost <= limit) {
            ws_search_emit(search, &next);
        }
    }
    return 0;
}

/* Bellman and Ford. */
static place best_serially(const atlas *a)
{
    uint32_t cost[NODES];
    place best = {0, FAR};
    for (uint32_t i = 0; i < a->g.n; i++) {
        cost[i] = i == 0 ? 0 : FAR;
    }
    for (uint32_t round = 0; round < a->g.n; round++) {
        for (uint32_t i = 0; i < a->g.n; i++) {
            for (uint32_t k = 0; k < a->g.degree && cost[i] != FAR; k++) {
                const uint32_t to = graph_edge(&a->g, i, k);
                if (cost[i] + length(i, k) < cost[to]) {
                    cost[to] = cost[i] + length(i, k);
                }
            }
        }
    }
    for (uint32_t i = 0; i < a->g.n; i++) {
        const place p = {i, cost[i]};
        if (is_goal(a, i) && p.cost != FAR &&
            (p.cost < best.cost ||
             (p.cost == best.cost && memcmp(&p, &best, sizeof(p)) < 0))) {
            best = p;
        }
    }
    return best;
}

static void check_atlas(ws_pool *pool, uint64_t seed)
{
    atlas *a = calloc(1, sizeof(*a));
    WS_TEST_REQUIRE(a != NULL);
    const place root = {0, 0};
    place goal = {0, FAR};
    a->g = graph_new(NODES - (uint32_t)(seed % 50), 3, seed);
    a->goals = seed % 7 == 0 ? 1000 : 9 + (uint32_t)(seed % 20);
    a->bounded = seed % 2;
    for (uint32_t i = 0; i < a->g.n; i++) {
        test_set(&a->costs[i], FAR);
    }
    ws_search_config c = WS_SEARCH_CONFIG_INIT;
    c.pool = pool;
    c.arg = a;
    c.state_size = sizeof(place);
    c.roots = &root;
    c.n_roots = 1;
    c.expand = expand_place;
    c.visit = visit_place;
    c.order = cost_of;
    c.goal = &goal;
    c.max_block = (size_t)(seed % 5);
    assert_int_equal(ws_search(&c, &a->g.stats), 0);
    const place expected = best_serially(a);
    assert_int_equal(goal.cost, expected.cost);
    assert_int_equal(goal.node, expected.node);
    graph_free(&a->g);
    free(a);
}

static void check_first(ws_pool *pool)
{
    for (uint64_t seed = ws_test_scale(200); seed > 0; seed--) {
        check_atlas(pool, seed);
    }
}

static void first_by_order_is_the_serial_one(void **state)
{
    (void)state;
    test_in_each_pool(check_first);
}

static int find_without_order(graph *g, struct ws_search *search, uint32_t node,
                              uint64_t call)
{
    (void)call;
    WS_TEST_REQUIRE(g->n == 1);
    WS_TEST_REQUIRE(ws_search_found(search, &node) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_search_best(search, NULL) == 0);
    return 0;
}

static void check_no_order(ws_pool *pool)
{
    graph g = graph_new(1, 0, 1);
    g.config.pool = pool;
    g.hook = find_without_order;
    assert_int_equal(graph_search(&g), 0);
    graph_free(&g);
}

static void without_an_order_nothing_is_first(void **state)
{
    (void)state;
    test_in_pools_of(1, check_no_order);
}

/* ---- progress -------------------------------------------------------- */

typedef struct {
    test_counter inside;
    uint64_t reports; /* guarded by there being one at a time */
    ws_search_stats last;
    bool retry;
} journal;

/* Without end; two ways on. */
static int expand_for_ever(const void *state, struct ws_search *search,
                           void *arg)
{
    uint64_t next = *(const uint64_t *)state + 1;
    ws_search_emit(search, &next);
    if (next == 2) {
        ws_search_emit(search, &next);
    }
    (void)arg;
    return 0;
}

static void report(const ws_search_stats *stats, struct ws_search *search,
                   void *arg)
{
    journal *j = arg;
    WS_TEST_REQUIRE(test_add(&j->inside, 1) == 0);
    WS_TEST_REQUIRE(stats->visited >= j->last.visited);
    WS_TEST_REQUIRE(stats->expanded >= j->last.expanded);
    WS_TEST_REQUIRE(stats->elapsed_ns >= j->last.elapsed_ns + 1000000);
    WS_TEST_REQUIRE(j->retry || stats->per_second > 0);
    WS_TEST_REQUIRE(stats->splits_tried >= stats->splits);
    j->last = *stats;
    if (++j->reports == 5) {
        ws_search_stop_and_save(search);
    }
    test_set(&j->inside, 0);
}

static int save_none(const void *states, size_t n, void *arg)
{
    (void)states;
    (void)n;
    (void)arg;
    return 0;
}

static int retry_for_ever(const void *state, struct ws_search *search,
                          void *arg)
{
    (void)state;
    (void)search;
    (void)arg;
    return WS_SEARCH_RETRY;
}

static void check_progress(ws_pool *pool)
{
    for (int retry = 0; retry < 2; retry++) {
        journal j = {.retry = retry};
        const uint64_t root = 0;
        ws_search_stats stats;
        ws_search_config c = WS_SEARCH_CONFIG_INIT;
        c.pool = pool;
        c.arg = &j;
        c.state_size = sizeof(root);
        c.roots = &root;
        c.n_roots = 1;
        c.expand = retry ? retry_for_ever : expand_for_ever;
        c.max_attempts = ~0u;
        c.retry_us = 1;
        c.progress = report;
        c.progress_ms = 1;
        c.save = save_none;
        assert_int_equal(ws_search(&c, &stats), WS_SEARCH_SAVED);
        assert_int_equal(j.reports, 5);
        assert_true(stats.visited >= j.last.visited);
        assert_true(stats.open >= 1);
    }
}

static void progress_is_reported_by_one_at_a_time(void **state)
{
    (void)state;
    test_in_each_pool(check_progress);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(first_by_order_is_the_serial_one),
    cmocka_unit_test(without_an_order_nothing_is_first),
    cmocka_unit_test(progress_is_reported_by_one_at_a_time),
};
WS_TEST_MAIN(tests)
