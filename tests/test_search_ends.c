/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_search_ends.c: searches that end early: nothing is lost, and what is
 * left completes the search later.
 */
/* ctest: processors 2 */
#include "support/graphs.h"

#include "par/spliter.h"

#define NODES 800

static graph new_graph(ws_pool *pool, uint64_t seed)
{
    graph g = graph_new(NODES, 3, seed);
    g.config.pool = pool;
    return g;
}

/* ---- stopping -------------------------------------------------------- */

static int stop_at(graph *g, struct ws_search *search, uint32_t node,
                   uint64_t call)
{
    (void)node;
    if (call == g->at) {
        ws_search_stop(search, 5);
        ws_search_stop(search, 6); /* too late */
    }
    return 0;
}

static int fail_at(graph *g, struct ws_search *search, uint32_t node,
                   uint64_t call)
{
    (void)search;
    (void)node;
    return call == g->at ? 7 : 0;
}

static int save_at(graph *g, struct ws_search *search, uint32_t node,
                   uint64_t call)
{
    (void)node;
    if (call == g->at) {
        ws_search_stop_and_save(search);
    }
    return 0;
}

static int cancel_at(graph *g, struct ws_search *search, uint32_t node,
                     uint64_t call)
{
    (void)search;
    (void)node;
    if (call == g->at) {
        ws_token_cancel(g->token);
    }
    return 0;
}

static int search_under_token(graph *g)
{
    WS_TEST_REQUIRE(ws_token_create(&g->token) == WS_OK);
    const int code = ws_with_token(g->token, graph_search, g);
    ws_token_release(g->token);
    g->token = NULL;
    return code;
}

/* Ends at each call of expand, then goes on from what was saved. */
static void check_end(ws_pool *pool,
                      int (*hook)(graph *, struct ws_search *, uint32_t,
                                  uint64_t),
                      int expected)
{
    const uint64_t step = NODES / ws_test_scale(100) + 1;
    for (uint64_t at = 0; at < 4 * NODES / 5; at += step) {
        graph g = new_graph(pool, 21);
        g.hook = hook;
        g.at = at;
        g.late = at % 2;
        g.config.max_block = 1 + (size_t)(at % 3);
        const int code =
            hook == cancel_at ? search_under_token(&g) : graph_search(&g);
        /* All could have been expanded before the token was looked at. */
        if (hook != cancel_at || code != 0) {
            assert_int_equal(code, expected);
        }
        graph_check_nothing_lost(&g);
        g.hook = NULL;
        g.config.roots_visited = 1;
        assert_int_equal(graph_search(&g), 0);
        graph_check_complete(&g);
        graph_free(&g);
    }
}

static void check_stop(ws_pool *pool)
{
    check_end(pool, stop_at, 5);
}

static void check_fail(ws_pool *pool)
{
    check_end(pool, fail_at, 7);
}

static void check_save(ws_pool *pool)
{
    check_end(pool, save_at, WS_SEARCH_SAVED);
}

static void check_cancel(ws_pool *pool)
{
    check_end(pool, cancel_at, WS_ECANCELED);
}

static void stopped_at_each_state(void **state)
{
    (void)state;
    test_in_each_pool(check_stop);
}

static void failed_at_each_state(void **state)
{
    (void)state;
    test_in_each_pool(check_fail);
}

static void saved_at_each_state(void **state)
{
    (void)state;
    test_in_each_pool(check_save);
}

static void canceled_at_each_state(void **state)
{
    (void)state;
    test_in_each_pool(check_cancel);
}

/* Stops again and again, after ten more states each. */
static int save_soon(graph *g, struct ws_search *search, uint32_t node,
                     uint64_t call)
{
    (void)node;
    if (call >= g->at) {
        ws_search_stop_and_save(search);
    }
    return 0;
}

static void check_resume(ws_pool *pool)
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        graph g = new_graph(pool, seed);
        int code;
        g.hook = save_soon;
        do {
            g.at += 10;
            code = graph_search(&g);
            graph_check_nothing_lost(&g);
            g.config.roots_visited = 1;
        } while (code == WS_SEARCH_SAVED);
        assert_int_equal(code, 0);
        graph_check_complete(&g);
        graph_free(&g);
    }
}

static void resumed_many_times(void **state)
{
    (void)state;
    test_in_each_pool(check_resume);
}

static int save_nothing(const void *states, size_t n, void *arg)
{
    graph *g = arg;
    (void)states;
    WS_TEST_REQUIRE(n > 0);
    g->n_saved++;
    return 44;
}

static void check_save_fails(ws_pool *pool)
{
    graph g = new_graph(pool, 4);
    g.hook = save_at;
    g.at = 50;
    g.config.save = save_nothing;
    assert_int_equal(graph_search(&g), 44);
    assert_int_equal(g.n_saved, 1);
    assert_true(g.stats.open > 0);
    graph_free(&g);
    /* Without one, the rest is thrown away. */
    g = new_graph(pool, 4);
    g.hook = save_at;
    g.at = 50;
    g.config.save = NULL;
    assert_int_equal(graph_search(&g), WS_SEARCH_SAVED);
    assert_true(g.stats.open > 0);
    graph_free(&g);
}

static void failing_save_ends_the_saving(void **state)
{
    (void)state;
    test_in_each_pool(check_save_fails);
}

static int wait_for_the_end(graph *g, struct ws_search *search, uint32_t node,
                            uint64_t call)
{
    (void)node;
    if (call == 0) {
        return 0;
    }
    if (test_add(&g->visits[0], 1) == 1) {
        while (!ws_cancelled()) {
            wsi_thread_yield();
        }
        return 0;
    }
    ws_search_stop(search, 3);
    return 0;
}

/* Two workers, one in a long expansion. */
static void check_seen(ws_pool *pool)
{
    graph g = new_graph(pool, 2);
    g.hook = wait_for_the_end;
    g.config.max_block = 1;
    assert_int_equal(graph_search(&g), 3);
    graph_free(&g);
}

static void long_expansion_sees_the_end(void **state)
{
    (void)state;
    test_in_pools_of(2, check_seen);
}

/* ---- memory ---------------------------------------------------------- */

static test_counter allocations;
static uint64_t fail_from;
static uint64_t fail_until;

static bool fails(void)
{
    const uint64_t i = test_add(&allocations, 1);
    return i >= fail_from && i < fail_until;
}

static void *pool_alloc(size_t align, size_t size)
{
    return fails() ? NULL : wsi_mem_alloc_real(align, size);
}

static void *par_alloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static int retry_some(graph *g, struct ws_search *search, uint32_t node,
                      uint64_t call)
{
    (void)g;
    (void)search;
    return node % 50 == 9 && call < 200 ? WS_SEARCH_RETRY : 0;
}

static void check_memory(ws_pool *pool)
{
    for (uint64_t i = 0; i < 60; i++) {
        for (int many = 0; many < 2; many++) {
            graph g = new_graph(pool, 17);
            g.state_size = WS_SEARCH_STATE_MAX;
            g.hook = retry_some;
            g.config.max_attempts = 1000;
            g.config.retry_us = 1;
            test_set(&allocations, 0);
            fail_from = i;
            fail_until = many ? UINT64_MAX : i + 1;
            wsi_port_ops.mem_alloc = pool_alloc;
            wsi_par_malloc = par_alloc;
            const int code = graph_search(&g);
            wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
            wsi_par_malloc = malloc;
            assert_true(code == 0 || code == WS_ENOMEM);
            graph_check_nothing_lost(&g);
            g.config.roots_visited = 1;
            assert_int_equal(graph_search(&g), 0);
            graph_check_complete(&g);
            graph_free(&g);
        }
    }
}

static void memory_out_loses_nothing(void **state)
{
    (void)state;
    test_in_each_pool(check_memory);
}

static void check_many_roots(ws_pool *pool)
{
    uint32_t roots[NODES];
    graph g = new_graph(pool, 17);
    for (uint32_t i = 0; i < NODES; i++) {
        roots[i] = i * 7 % 100;
    }
    g.config.arg = &g;
    g.config.state_size = 4;
    g.config.roots = roots;
    g.config.n_roots = NODES;
    g.config.max_open = 10;
    assert_int_equal(ws_search(&g.config, &g.stats), WS_ENOMEM);
    assert_int_equal(test_get(&g.calls), 0);
    graph_check_nothing_lost(&g);
    assert_int_equal(g.n_saved, 100);
    g.config.max_open = 0;
    g.config.roots_visited = 1;
    assert_int_equal(graph_search(&g), 0);
    for (uint32_t i = 0; i < NODES; i++) {
        assert_int_equal(test_get(&g.expanded[i]), test_get(&g.visits[i]) > 0);
    }
    graph_free(&g);
}

static void too_many_roots_are_handed_back(void **state)
{
    (void)state;
    test_in_each_pool(check_many_roots);
}

static void check_limit(ws_pool *pool)
{
    graph g = graph_new(100000, 20, 5);
    g.config.pool = pool;
    g.config.max_open = 20000;
    assert_int_equal(graph_search(&g), WS_ENOMEM);
    graph_check_nothing_lost(&g);
    assert_in_range(g.n_saved, 1000, 20000);
    graph_free(&g);
}

static void open_states_are_bounded(void **state)
{
    (void)state;
    test_in_each_pool(check_limit);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stopped_at_each_state),
    cmocka_unit_test(failed_at_each_state),
    cmocka_unit_test(saved_at_each_state),
    cmocka_unit_test(canceled_at_each_state),
    cmocka_unit_test(resumed_many_times),
    cmocka_unit_test(failing_save_ends_the_saving),
    cmocka_unit_test(long_expansion_sees_the_end),
    cmocka_unit_test(memory_out_loses_nothing),
    cmocka_unit_test(too_many_roots_are_handed_back),
    cmocka_unit_test(open_states_are_bounded),
};
WS_TEST_MAIN(tests)
