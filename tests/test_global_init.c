/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_global_init.c: making the global pool by hand, once.
 */
#include "support/pools.h"

static ws_pool_config config_of(unsigned workers)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    return config;
}

static int no_work(void *arg)
{
    (void)arg;
    return 0;
}

static void config_is_honoured(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers++) {
        ws_pool_config config = config_of(workers);
        config.max_spares = workers;
        assert_int_equal(ws_pool_global_init(&config), WS_OK);
        assert_int_equal(ws_current_num_workers(), workers);
        assert_int_equal(ws_worker_slots(), 2 * workers);
        assert_int_equal(ws_join(no_work, NULL, no_work, NULL), 0);
        assert_int_equal(ws_pool_global_destroy(), WS_OK);
    }
    assert_int_equal(ws_pool_global_init(NULL), WS_OK);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void double_init_fail(void **state)
{
    (void)state;
    ws_pool_config config = config_of(1);
    assert_int_equal(ws_pool_global_init(&config), WS_OK);
    assert_int_equal(ws_pool_global_init(&config), WS_EEXIST);
    assert_int_equal(ws_pool_global_init(NULL), WS_EEXIST);
    assert_string_equal(ws_strerror(WS_EEXIST),
                        "the global pool exists already");
    assert_int_equal(ws_current_num_workers(), 1);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void first_use_comes_first(void **state)
{
    (void)state;
    ws_pool_config config = config_of(3);
    assert_int_equal(ws_join(no_work, NULL, no_work, NULL), 0);
    assert_int_equal(ws_pool_global_init(&config), WS_EEXIST);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void bad_config_leaves_no_pool(void **state)
{
    (void)state;
    ws_pool_config config = config_of(WS_MAX_WORKERS + 1);
    assert_int_equal(ws_pool_global_init(&config), WS_EINVAL);
    config = config_of(2);
    assert_int_equal(ws_pool_global_init(&config), WS_OK);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

enum {
    RACERS = 4
};

static test_counter ready;
static test_counter winners;

static void *race(void *arg)
{
    ws_pool_config config = config_of(1);
    (void)arg;
    test_add(&ready, 1);
    test_await(&ready, RACERS);
    int code = ws_pool_global_init(&config);
    WS_TEST_REQUIRE(code == WS_OK || code == WS_EEXIST);
    test_add(&winners, code == WS_OK);
    return NULL;
}

static void one_of_several_threads_wins(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        pthread_t threads[RACERS];
        test_set(&ready, 0);
        test_set(&winners, 0);
        for (int k = 0; k < RACERS; k++) {
            threads[k] = test_thread(race, NULL);
        }
        for (int k = 0; k < RACERS; k++) {
            test_join_thread(threads[k]);
        }
        assert_int_equal(test_get(&winners), 1);
        assert_int_equal(ws_pool_global_destroy(), WS_OK);
    }
}

static void creator_can_be_a_worker_of_it(void **state)
{
    (void)state;
    ws_pool_config config = config_of(2);
    config.use_current_thread = 1;
    assert_int_equal(ws_pool_global_init(&config), WS_OK);
    assert_int_equal(ws_current_index(), 0);
    assert_int_equal(ws_join(no_work, NULL, no_work, NULL), 0);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    assert_int_equal(ws_current_index(), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(config_is_honoured),
    cmocka_unit_test(double_init_fail),
    cmocka_unit_test(first_use_comes_first),
    cmocka_unit_test(bad_config_leaves_no_pool),
    cmocka_unit_test(one_of_several_threads_wins),
    cmocka_unit_test(creator_can_be_a_worker_of_it),
};
WS_TEST_MAIN(tests)
