/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_search_retry.c: expansions that ask to be tried again.
 */
/* ctest: processors 2 */
#include "support/graphs.h"

#define NODES 500

static graph new_graph(ws_pool *pool, uint64_t seed)
{
    graph g = graph_new(NODES, 3, seed);
    g.config.pool = pool;
    g.config.retry_us = 1;
    return g;
}

static uint64_t failures_of(uint32_t node)
{
    return node % 3 == 1 ? node % 5 : 0;
}

/* visits counts attempts, beside the visits, from bit 32 on. */
static int fail_at_first(graph *g, struct ws_search *search, uint32_t node,
                         uint64_t call)
{
    (void)search;
    (void)call;
    const uint64_t before = test_add(&g->visits[node], (uint64_t)1 << 32) >> 32;
    return before < failures_of(node) ? WS_SEARCH_RETRY : 0;
}

static void check_retries(graph *g)
{
    uint64_t expected = 0;
    g->hook = fail_at_first;
    WS_TEST_REQUIRE(graph_search(g) == 0);
    graph_check_complete(g);
    for (uint32_t i = 0; i < g->n; i++) {
        if (test_get(&g->expanded[i]) > 0) {
            WS_TEST_REQUIRE(test_get(&g->visits[i]) >> 32 ==
                            failures_of(i) + 1);
            expected += failures_of(i);
        }
    }
    WS_TEST_REQUIRE(g->stats.retries == expected);
    WS_TEST_REQUIRE(g->stats.visited == g->stats.expanded);
}

static void check_success(ws_pool *pool)
{
    for (uint64_t i = ws_test_scale(40); i > 0; i--) {
        graph g = new_graph(pool, i);
        g.late = i % 2;
        g.config.retry_us = 1 + (unsigned)(i % 3) * 100;
        check_retries(&g);
        graph_free(&g);
    }
}

static void retried_until_it_succeeds(void **state)
{
    (void)state;
    test_in_each_pool(check_success);
}

static int search_inside(void *arg)
{
    check_retries(arg);
    return 0;
}

static void check_inside(ws_pool *pool)
{
    graph g = new_graph(pool, 77);
    assert_int_equal(ws_pool_install(pool, search_inside, &g), 0);
    graph_free(&g);
}

static void retried_for_a_worker(void **state)
{
    (void)state;
    test_in_each_pool(check_inside);
}

/* ---- giving up ------------------------------------------------------- */

static int fail_always(graph *g, struct ws_search *search, uint32_t node,
                       uint64_t call)
{
    (void)search;
    (void)call;
    test_add(&g->visits[node], (uint64_t)1 << 32);
    return node % 9 == 4 ? WS_SEARCH_RETRY : 0;
}

static int give_up(const void *state, unsigned attempts, void *arg)
{
    graph *g = arg;
    const uint32_t node = graph_node(g, state);
    WS_TEST_REQUIRE(node % 9 == 4);
    WS_TEST_REQUIRE(attempts == g->config.max_attempts);
    WS_TEST_REQUIRE(test_get(&g->visits[node]) >> 32 == attempts);
    return (int)g->at;
}

static int nothing_wrong(graph *g, struct ws_search *search, uint32_t node,
                         uint64_t call)
{
    (void)g;
    (void)search;
    (void)node;
    (void)call;
    return 0;
}

static void check_give_up(ws_pool *pool)
{
    for (unsigned attempts = 1; attempts < 5; attempts++) {
        graph g = new_graph(pool, attempts);
        g.hook = fail_always;
        g.late = true;
        g.config.max_attempts = attempts;
        g.config.give_up = give_up;
        assert_int_equal(graph_search(&g), 0);
        assert_int_equal(g.stats.open, 0);
        assert_true(g.stats.pruned > 0);
        assert_int_equal(g.stats.retries, g.stats.pruned * (attempts - 1));
        assert_int_equal(g.stats.visited, g.stats.expanded + g.stats.pruned);
        graph_free(&g);
        for (int i = 0; i < 2; i++) {
            g = new_graph(pool, attempts);
            g.hook = fail_always;
            g.config.max_attempts = attempts;
            g.config.give_up = i == 0 ? NULL : give_up;
            g.at = 12;
            assert_int_equal(graph_search(&g), i == 0 ? WS_ETIMEDOUT : 12);
            graph_check_nothing_lost(&g);
            g.hook = nothing_wrong;
            g.config.roots_visited = 1;
            assert_int_equal(graph_search(&g), 0);
            graph_check_complete(&g);
            graph_free(&g);
        }
    }
}

static void given_up_after_the_last_attempt(void **state)
{
    (void)state;
    test_in_each_pool(check_give_up);
}

/* ---- meanwhile ------------------------------------------------------- */

/* Node 0 has edges; what it emits succeeds only when all others are done. */
static int await_others(graph *g, struct ws_search *search, uint32_t node,
                        uint64_t call)
{
    (void)search;
    (void)call;
    if (node != graph_edge(g, 0, 0)) {
        return test_add(&g->visits[0], (uint64_t)1 << 32), 0;
    }
    return test_get(&g->visits[0]) >> 32 < g->at ? WS_SEARCH_RETRY : 0;
}

static void check_others(ws_pool *pool)
{
    graph g = new_graph(pool, 5);
    unsigned char marks[NODES];
    g.at = graph_reachable(&g, marks) - 1;
    g.hook = await_others;
    g.late = true;
    g.config.max_attempts = 1000000;
    assert_int_equal(graph_search(&g), 0);
    graph_check_complete(&g);
    graph_free(&g);
}

static void other_states_go_on(void **state)
{
    (void)state;
    test_in_each_pool(check_others);
}

static test_counter done;

static int do_it(void *arg)
{
    (void)arg;
    test_set(&done, 1);
    return 0;
}

static int await_job(graph *g, struct ws_search *search, uint32_t node,
                     uint64_t call)
{
    (void)search;
    (void)node;
    if (call == 0) {
        WS_TEST_REQUIRE(ws_spawn(g->config.pool, do_it, NULL) == WS_OK);
        return WS_SEARCH_RETRY;
    }
    return test_get(&done) ? 0 : WS_SEARCH_RETRY;
}

/* With one worker the job runs only if nobody waits in it. */
static void check_free(ws_pool *pool)
{
    graph g = graph_new(1, 0, 1);
    test_set(&done, 0);
    g.config.pool = pool;
    g.hook = await_job;
    g.config.max_attempts = 20;
    assert_int_equal(graph_search(&g), 0);
    graph_free(&g);
}

static void worker_is_free_meanwhile(void **state)
{
    (void)state;
    test_in_pools_of(1, check_free);
}

/* ---- ending while states wait ---------------------------------------- */

static int retry_in_an_hour(graph *g, struct ws_search *search, uint32_t node,
                            uint64_t call)
{
    (void)search;
    (void)call;
    test_add(&g->visits[0], (uint64_t)1 << 32);
    return node % 5 == 1 ? WS_SEARCH_RETRY : 0;
}

static void *cancel_later(void *arg)
{
    graph *g = arg;
    test_await(&g->visits[0], g->at << 32);
    ws_token_cancel(g->token);
    return NULL;
}

static void check_canceled(ws_pool *pool)
{
    graph g = new_graph(pool, 9);
    g.hook = retry_in_an_hour;
    g.late = true;
    g.config.retry_us = 3600u * 1000 * 1000;
    unsigned char marks[NODES];
    g.at = graph_reachable(&g, marks);
    assert_int_equal(ws_token_create(&g.token), WS_OK);
    pthread_t thread = test_thread(cancel_later, &g);
    assert_int_equal(ws_with_token(g.token, graph_search, &g), WS_ECANCELED);
    test_join_thread(thread);
    ws_token_release(g.token);
    graph_check_nothing_lost(&g);
    assert_true(g.n_saved > 0);
    g.hook = nothing_wrong;
    g.config.roots_visited = 1;
    assert_int_equal(graph_search(&g), 0);
    graph_check_complete(&g);
    graph_free(&g);
}

static void canceled_while_all_states_wait(void **state)
{
    (void)state;
    test_in_each_pool(check_canceled);
}

static int stop_in_progress_wait(graph *g, struct ws_search *search,
                                 uint32_t node, uint64_t call)
{
    (void)node;
    if (call == g->at) {
        ws_search_stop_and_save(search);
    }
    return call % 3 == 0 ? WS_SEARCH_RETRY : 0;
}

static void check_saved(ws_pool *pool)
{
    for (uint64_t at = 0; at < 200; at += 11) {
        graph g = new_graph(pool, 9);
        g.hook = stop_in_progress_wait;
        g.at = at;
        g.config.max_attempts = 1000;
        g.config.retry_us = at % 2 ? 1 : 300;
        assert_int_equal(graph_search(&g), WS_SEARCH_SAVED);
        graph_check_nothing_lost(&g);
        g.hook = nothing_wrong;
        g.config.roots_visited = 1;
        assert_int_equal(graph_search(&g), 0);
        graph_check_complete(&g);
        graph_free(&g);
    }
}

static void waiting_states_are_saved(void **state)
{
    (void)state;
    test_in_each_pool(check_saved);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(retried_until_it_succeeds),
    cmocka_unit_test(retried_for_a_worker),
    cmocka_unit_test(given_up_after_the_last_attempt),
    cmocka_unit_test(other_states_go_on),
    cmocka_unit_test(worker_is_free_meanwhile),
    cmocka_unit_test(canceled_while_all_states_wait),
    cmocka_unit_test(waiting_states_are_saved),
};
WS_TEST_MAIN(tests)
