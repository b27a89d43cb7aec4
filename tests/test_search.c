/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_search.c: ws_search() that runs to its end: the visited set is the
 * serial one.
 */
/* ctest: processors 2 */
#include "support/graphs.h"

static void check_graph(graph *g)
{
    WS_TEST_REQUIRE(graph_search(g) == 0);
    graph_check_complete(g);
    WS_TEST_REQUIRE(g->n_saved == 0 && g->stats.open == 0);
    WS_TEST_REQUIRE(g->stats.visited == g->stats.expanded);
    WS_TEST_REQUIRE(g->stats.visited == test_get(&g->calls));
    WS_TEST_REQUIRE(g->stats.splits <= g->stats.splits_tried);
}

static void check_random(ws_pool *pool)
{
    uint64_t random = 3;
    for (size_t i = ws_test_scale(10000) / 6 + 1; i > 0; i--) {
        const uint32_t n = 1 + (uint32_t)(ws_test_random(&random) % 150);
        const uint32_t degree = (uint32_t)(ws_test_random(&random) % 5);
        graph g = graph_new(n, degree, ws_test_random(&random));
        g.config.pool = pool;
        check_graph(&g);
        graph_free(&g);
    }
}

/* In six pools together. */
static void ten_thousand_random_graphs(void **state)
{
    (void)state;
    test_in_each_pool(check_random);
}

static void check_sizes(ws_pool *pool)
{
    for (size_t size = 4; size <= WS_SEARCH_STATE_MAX; size++) {
        graph g = graph_new(5000, 3, size);
        g.config.pool = pool;
        g.config.max_block = size % 3;
        g.state_size = size;
        check_graph(&g);
        graph_free(&g);
    }
}

static void states_of_every_size(void **state)
{
    (void)state;
    test_in_each_pool(check_sizes);
}

static void check_large(ws_pool *pool)
{
    graph g = graph_new((uint32_t)ws_test_scale(200000), 6, 11);
    g.config.pool = pool;
    check_graph(&g);
    graph_free(&g);
}

static void large_graph(void **state)
{
    (void)state;
    test_in_each_pool(check_large);
}

/* Expand knows what is new: a binary tree. */
static int expand_tree(const void *state, struct ws_search *search, void *arg)
{
    graph *g = arg;
    const uint32_t node = graph_node(g, state);
    for (uint32_t next = 2 * node + 1; next <= 2 * node + 2; next++) {
        if (next < g->n) {
            WS_TEST_REQUIRE(ws_search_emit(search, &next) == 1);
        }
    }
    test_add(&g->expanded[node], 1);
    return 0;
}

static void check_tree(ws_pool *pool)
{
    graph g = graph_new(3000, 0, 1);
    g.config.pool = pool;
    g.config.visit = NULL;
    g.config.expand = expand_tree;
    assert_int_equal(graph_search(&g), 0);
    assert_int_equal(g.stats.visited, 3000);
    for (uint32_t i = 0; i < g.n; i++) {
        assert_int_equal(test_get(&g.expanded[i]), 1);
    }
    graph_free(&g);
}

static void visit_can_be_left_out(void **state)
{
    (void)state;
    test_in_each_pool(check_tree);
}

/* Waits in a state with open siblings until another worker has come. */
static int await_other(graph *g, struct ws_search *search, uint32_t node,
                       uint64_t call)
{
    (void)search;
    (void)node;
    if (call == 0) {
        g->at = (uint64_t)ws_current_index();
    } else if (g->at != (uint64_t)ws_current_index()) {
        test_set(&g->visits[0], 1000);
    } else {
        test_await(&g->visits[0], 1000);
    }
    return 0;
}

static void check_shared(ws_pool *pool)
{
    graph g = graph_new(2000, 8, 5);
    g.config.pool = pool;
    g.hook = await_other;
    g.config.max_block = 1;
    check_graph(&g);
    assert_true(g.stats.splits > 0);
    graph_free(&g);
}

static void hungry_worker_gets_states(void **state)
{
    (void)state;
    test_in_pools_of(2, check_shared);
    test_in_pools_of(4, check_shared);
}

/* ---- callers --------------------------------------------------------- */

static int nest(graph *g, struct ws_search *search, uint32_t node,
                uint64_t call)
{
    (void)search;
    (void)node;
    if (call % 200 == 3) {
        graph inner = graph_new(300, 3, call + 1);
        inner.config.pool = call % 400 == 3 ? g->config.pool : NULL;
        inner.at = g->at - 1;
        inner.hook = inner.at > 0 ? nest : NULL;
        check_graph(&inner);
        graph_free(&inner);
    }
    return 0;
}

static void check_nested(ws_pool *pool)
{
    graph g = graph_new(2000, 3, 8);
    g.config.pool = pool;
    g.hook = nest;
    g.at = 3;
    check_graph(&g);
    graph_free(&g);
}

static void nested_searches(void **state)
{
    (void)state;
    test_in_each_pool(check_nested);
}

static int search_once(void *arg)
{
    check_graph(arg);
    return 0;
}

static void *search_thread(void *arg)
{
    check_graph(arg);
    return NULL;
}

static void check_callers(ws_pool *pool)
{
    ws_pool *other = test_pool(1, WS_WAIT_DEFAULT);
    graph g[5];
    pthread_t threads[3];
    for (uint32_t i = 0; i < 5; i++) {
        g[i] = graph_new(3000, 3, i + 1);
        g[i].config.pool = i < 4 ? pool : NULL;
    }
    for (int i = 0; i < 3; i++) {
        threads[i] = test_thread(search_thread, &g[i]);
    }
    assert_int_equal(ws_pool_install(other, search_once, &g[3]), 0);
    assert_int_equal(ws_pool_install(pool, search_once, &g[4]), 0);
    for (int i = 0; i < 3; i++) {
        test_join_thread(threads[i]);
    }
    for (int i = 0; i < 5; i++) {
        graph_free(&g[i]);
    }
    test_destroy(other);
}

static void searches_of_many_threads(void **state)
{
    (void)state;
    test_in_each_pool(check_callers);
}

/* ---- roots and arguments --------------------------------------------- */

static void no_roots_no_search(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    graph g = graph_new(10, 2, 1);
    g.config.pool = pool;
    g.config.roots_visited = 1; /* graph_search(): all that was saved */
    assert_int_equal(graph_search(&g), 0);
    assert_int_equal(g.stats.visited, 0);
    graph_free(&g);
    test_destroy(pool);
}

static void same_root_twice_is_one(void **state)
{
    (void)state;
    static const uint32_t roots[] = {7, 7, 7, 9, 7};
    ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
    graph g = graph_new(10, 0, 1);
    g.config.pool = pool;
    g.config.arg = &g;
    g.config.state_size = 4;
    g.config.roots = roots;
    g.config.n_roots = 5;
    assert_int_equal(ws_search(&g.config, NULL), 0);
    assert_int_equal(test_get(&g.expanded[7]), 1);
    assert_int_equal(test_get(&g.expanded[9]), 1);
    assert_int_equal(test_get(&g.calls), 2);
    graph_free(&g);
    test_destroy(pool);
}

static uint64_t no_order(const void *state, void *arg)
{
    (void)state;
    (void)arg;
    return 0;
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    const uint32_t root = 0;
    graph g = graph_new(10, 0, 1);
    g.config.arg = &g;
    g.config.state_size = 4;
    g.config.roots = &root;
    g.config.n_roots = 1;
    assert_int_equal(ws_search(NULL, NULL), WS_EINVAL);
    for (int i = 0; i < 6; i++) {
        ws_search_config c = g.config;
        c.state_size = i == 0 ? 0 : i == 1 ? WS_SEARCH_STATE_MAX + 1 : 4;
        c.roots = i == 2 ? NULL : c.roots;
        c.expand = i == 3 ? NULL : c.expand;
        c.order = i == 4 ? no_order : NULL;
        c.struct_size = i == 5 ? 8 : c.struct_size;
        assert_int_equal(ws_search(&c, NULL), WS_EINVAL);
    }
    assert_int_equal(test_get(&g.calls), 0);
    graph_free(&g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(ten_thousand_random_graphs),
    cmocka_unit_test(states_of_every_size),
    cmocka_unit_test(large_graph),
    cmocka_unit_test(visit_can_be_left_out),
    cmocka_unit_test(hungry_worker_gets_states),
    cmocka_unit_test(nested_searches),
    cmocka_unit_test(searches_of_many_threads),
    cmocka_unit_test(no_roots_no_search),
    cmocka_unit_test(same_root_twice_is_one),
    cmocka_unit_test(nonsense_is_refused),
};
WS_TEST_MAIN(tests)
