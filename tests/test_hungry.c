/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_hungry.c: whether another worker wants work.
 */
#include "support/pools.h"

static ws_pool *pool;
static test_counter started;
static test_counter go_on;

static void outside_a_worker_nobody_is(void **state)
{
    (void)state;
    ws_pool *own = test_pool(2, WS_WAIT_DEFAULT);
    assert_int_equal(ws_hungry(), 0);
    test_await_sleep(own);
    assert_int_equal(ws_hungry(), 0);
    test_destroy(own);
}

static int hold(void *arg)
{
    (void)arg;
    test_add(&started, 1);
    test_await(&go_on, 1);
    return 0;
}

static void await_sleep_of_other(void)
{
    test_await_sleep_of(pool, 1 - (unsigned)ws_current_index());
}

static void await_hunger(void)
{
    while (ws_hungry() == 0) {
        wsi_thread_yield();
    }
}

/* The other worker wants work, gets it, and wants more. */
static int feed(void)
{
    WS_TEST_REQUIRE(ws_hungry() == 1);
    WS_TEST_REQUIRE(ws_spawn(NULL, hold, NULL) == WS_OK);
    test_await(&started, 1);
    /* What was asked before that is answered now at the latest. */
    WS_TEST_REQUIRE(ws_spawn(NULL, hold, NULL) == WS_OK);
    WS_TEST_REQUIRE(ws_hungry() == 0);
    WS_TEST_REQUIRE(ws_spawn(NULL, hold, NULL) == WS_OK);
    WS_TEST_REQUIRE(ws_hungry() == 0);
    test_set(&go_on, 1);
    test_await(&started, 3);
    await_hunger();
    return 0;
}

static int feed_sleeper(void *arg)
{
    (void)arg;
    await_sleep_of_other();
    return feed();
}

/* It searches for a second, and asks nobody who has nothing. */
static int feed_searcher(void *arg)
{
    (void)arg;
    await_hunger();
    return feed();
}

static void check(ws_fn fn, unsigned search_us)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.search_us = search_us;
    for (config.wait_policy = WS_WAIT_ANY;
         config.wait_policy <= WS_WAIT_SUBTREE; config.wait_policy++) {
        pool = test_pool_with(&config);
        test_set(&started, 0);
        test_set(&go_on, 0);
        assert_int_equal(ws_pool_install(pool, fn, NULL), 0);
        test_destroy(pool);
    }
}

static void sleeper_is_until_it_has_got_a_job(void **state)
{
    (void)state;
    check(feed_sleeper, 0);
}

static void searcher_is_until_it_has_got_a_job(void **state)
{
    (void)state;
    check(feed_searcher, 1000000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(outside_a_worker_nobody_is),
    cmocka_unit_test(sleeper_is_until_it_has_got_a_job),
    cmocka_unit_test(searcher_is_until_it_has_got_a_job),
};
WS_TEST_MAIN(tests)
