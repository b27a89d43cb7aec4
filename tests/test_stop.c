/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_stop.c: pools that are stopped from unusual places: by a worker of
 * another pool, deep in the creator's stack; and spares whose exit handlers
 * take their time.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

/* ---- by a worker of another pool ------------------------------------- */

typedef struct {
    ws_pool *home;
    ws_pool *other;
    test_counter go_on;
    test_counter visited;
} elsewhere;

static int visit(void *arg)
{
    elsewhere *e = arg;
    WS_TEST_REQUIRE(ws_pool_current_index(e->home) >= 0);
    test_add(&e->visited, 1);
    return 0;
}

static int visit_note(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    return visit(arg);
}

/* Waits for the pool that waits for it. */
static int visit_home(void *arg)
{
    elsewhere *e = arg;
    test_await(&e->go_on, 1);
    WS_TEST_REQUIRE(ws_pool_install(e->home, visit, e) == 0);
    WS_TEST_REQUIRE(ws_broadcast(e->home, visit_note, e, NULL) == 0);
    return 0;
}

static int stop_other(void *arg)
{
    elsewhere *e = arg;
    WS_TEST_REQUIRE(ws_spawn(e->other, visit_home, e) == WS_OK);
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_pool_destroy_timeout(e->other, 1000) ==
                        WS_ETIMEDOUT);
    }
    test_set(&e->go_on, 1);
    WS_TEST_REQUIRE(ws_pool_destroy(e->other) == WS_OK);
    WS_TEST_REQUIRE(test_get(&e->visited) == 2);
    return 0;
}

static void check_elsewhere(ws_pool_config config)
{
    for (config.wait_policy = WS_WAIT_ANY;
         config.wait_policy <= WS_WAIT_SUBTREE; config.wait_policy++) {
        elsewhere e = {.home = test_pool_with(&config),
                       .other = test_pool_with(&config)};
        assert_int_equal(ws_pool_install(e.home, stop_other, &e), 0);
        test_destroy(e.home);
    }
}

static void worker_of_another_pool_works_while_it_stops_one(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    check_elsewhere(config);
    config.max_spares = WS_NO_SPARES;
    check_elsewhere(config);
}

/* ---- deep in the creator's stack ------------------------------------- */

static test_counter ran;

static int count(void *arg)
{
    (void)arg;
    test_add(&ran, 1);
    return 0;
}

static void *spawn_from_outside(void *arg)
{
    for (int i = 0; i < 10; i++) {
        WS_TEST_REQUIRE(ws_spawn(arg, count, NULL) == WS_OK);
    }
    return NULL;
}

/* Uses about 2.7 MiB. */
static void destroy_deep(ws_pool *pool, unsigned levels)
{
    volatile char frame[64 * 1024];
    frame[0] = (char)levels;
    frame[sizeof(frame) - 1] = frame[0];
    if (levels > 0) {
        destroy_deep(pool, levels - 1);
    } else {
        WS_TEST_REQUIRE(ws_pool_destroy(pool) == WS_OK);
    }
    WS_TEST_REQUIRE(frame[0] == (char)levels);
}

static void *create_and_destroy_deep(void *arg)
{
    (void)arg;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.max_spares = WS_NO_SPARES;
    config.use_current_thread = 1;
    for (config.wait_policy = WS_WAIT_ANY;
         config.wait_policy <= WS_WAIT_SUBTREE; config.wait_policy++) {
        ws_pool *pool = test_pool_with(&config);
        test_set(&ran, 0);
        test_join_thread(test_thread(spawn_from_outside, pool));
        destroy_deep(pool, 42);
        WS_TEST_REQUIRE(test_get(&ran) == 10);
    }
    return NULL;
}

static void creator_stops_its_pool_however_deep_it_is(void **state)
{
    (void)state;
    pthread_attr_t attr;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, (size_t)4 << 20), 0);
    assert_int_equal(
        pthread_create(&thread, &attr, create_and_destroy_deep, NULL), 0);
    test_join_thread(thread);
    pthread_attr_destroy(&attr);
}

/* ---- a spare that is about to end ------------------------------------ */

typedef struct {
    ws_pool *pool;
    test_counter held;
    test_counter release;
    test_counter ran;
    test_counter leaving;  /* 1 + index of the spare in its exit handler */
    test_counter may_exit; /* what the exit handler waits for */
    test_counter exit_held;
    bool joins; /* the exit handler forks */
} ending;

static ending *the_case;

static int until_exit_held(void *arg)
{
    test_await(&((ending *)arg)->exit_held, 1);
    return 0;
}

static int hold_exit(void *arg)
{
    ending *e = arg;
    test_set(&e->exit_held, 1);
    test_await(&e->may_exit, 1);
    return 0;
}

static int exit_slowly(unsigned index, void *arg)
{
    ending *e = the_case;
    (void)arg;
    if (index < ws_pool_num_workers(e->pool) || test_get(&e->leaving) != 0) {
        return 0;
    }
    test_set(&e->leaving, index + 1);
    if (e->joins) {
        WS_TEST_REQUIRE(ws_join(until_exit_held, e, hold_exit, e) == 0);
    } else {
        test_await(&e->may_exit, 1);
    }
    return 0;
}

static int note_run(void *arg)
{
    ending *e = arg;
    /* That one does no jobs meanwhile, nor does another thread as it. */
    WS_TEST_REQUIRE(test_get(&e->may_exit) != 0 ||
                    test_get(&e->leaving) != (uint64_t)ws_current_index() + 1);
    test_add(&e->ran, 1);
    return 0;
}

static int until_held(void *arg)
{
    test_await(&((ending *)arg)->held, 1);
    return 0;
}

static int hold(void *arg)
{
    ending *e = arg;
    test_set(&e->held, 1);
    test_await(&e->release, 1);
    return 0;
}

static int wait_for_held(void *arg)
{
    return ws_join(until_held, arg, hold, arg);
}

static void *enter(void *arg)
{
    ending *e = arg;
    WS_TEST_REQUIRE(ws_pool_install(e->pool, wait_for_held, e) == 0);
    return NULL;
}

/* One worker waits, the other holds, and jobs come that a spare must do. */
static void need_a_spare(ending *e)
{
    uint64_t before = test_get(&e->ran);
    test_set(&e->held, 0);
    test_set(&e->release, 0);
    pthread_t thread = test_thread(enter, e);
    test_await(&e->held, 1);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ws_spawn(e->pool, note_run, e), WS_OK);
    }
    test_await(&e->ran, before + 5);
    test_set(&e->release, 1);
    test_join_thread(thread);
}

static void check_ending(bool joins)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    wsi_pool_plan plan;
    ending e = {.joins = joins};
    the_case = &e;
    config.num_threads = 2;
    config.exit_handler = exit_slowly;
    assert_int_equal(wsi_pool_plan_make(&plan, &config), WS_OK);
    plan.patience_ns = 1;
    assert_int_equal(wsi_pool_start(&e.pool, &plan), WS_OK);
    while (test_get(&e.leaving) == 0) {
        need_a_spare(&e);
    }
    if (joins) {
        /* A worker is in its second half; the other one can have help. */
        test_await(&e.exit_held, 1);
        uint64_t before = test_get(&e.ran);
        for (int i = 0; i < 50; i++) {
            assert_int_equal(ws_spawn(e.pool, note_run, &e), WS_OK);
        }
        test_await(&e.ran, before + 50);
    } else {
        need_a_spare(&e);
    }
    test_set(&e.may_exit, 1);
    need_a_spare(&e);
    test_destroy(e.pool);
}

static void lender_does_not_wait_for_an_exit_handler(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(20); i > 0; i--) {
        check_ending(false);
    }
}

static void exit_handler_may_fork(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(20); i > 0; i--) {
        check_ending(true);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(worker_of_another_pool_works_while_it_stops_one),
    cmocka_unit_test(creator_stops_its_pool_however_deep_it_is),
    cmocka_unit_test(lender_does_not_wait_for_an_exit_handler),
    cmocka_unit_test(exit_handler_may_fork),
};
WS_TEST_MAIN(tests)
