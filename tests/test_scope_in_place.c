/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_in_place.c: scopes whose body runs on the calling thread.
 */
#include "support/pools.h"

typedef struct {
    ws_pool *home; /* of the caller, or NULL */
    ws_pool *pool; /* of the scope */
    unsigned flags;
    test_counter runs;
} place;

static int run_in_pool(struct ws_scope *scope, void *arg)
{
    place *p = arg;
    (void)scope;
    WS_TEST_REQUIRE(ws_pool_current_index(p->pool) >= 0);
    test_add(&p->runs, 1);
    return 0;
}

/* ---- a foreign caller ------------------------------------------------ */

static int wait_for_own_job(struct ws_scope *scope, void *arg)
{
    place *p = arg;
    WS_TEST_REQUIRE(ws_current_index() == -1);
    ws_scope_spawn(scope, run_in_pool, p);
    test_await(&p->runs, 1);
    return 3;
}

static void check_no_deadlock(unsigned flags)
{
    place p = {.pool = test_pool(1, WS_WAIT_DEFAULT)};
    assert_int_equal(ws_scope_in(p.pool, flags, wait_for_own_job, &p), 3);
    test_destroy(p.pool);
}

static void in_place_scope_no_deadlock(void **state)
{
    (void)state;
    check_no_deadlock(WS_SCOPE_IN_PLACE);
}

static void in_place_scope_fifo_no_deadlock(void **state)
{
    (void)state;
    check_no_deadlock(WS_SCOPE_IN_PLACE | WS_SCOPE_FIFO);
}

static int wait_globally(struct ws_scope *scope, void *arg)
{
    place *p = arg;
    WS_TEST_REQUIRE(ws_pool_global(&p->pool) == WS_OK);
    return wait_for_own_job(scope, p);
}

static void global_pool_runs_the_jobs(void **state)
{
    (void)state;
    place p = {.runs = {0}};
    assert_int_equal(ws_in_place_scope(wait_globally, &p), 3);
    test_set(&p.runs, 0);
    assert_int_equal(ws_in_place_scope_fifo(wait_globally, &p), 3);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- workers --------------------------------------------------------- */

static int spawn_here(struct ws_scope *scope, void *arg)
{
    place *p = arg;
    WS_TEST_REQUIRE(ws_pool_current_index(p->home) >= 0);
    for (int i = 0; i < 10; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn(scope, run_in_pool, p) == WS_OK);
    }
    return 0;
}

static int open_here(void *arg)
{
    place *p = arg;
    test_set(&p->runs, 0);
    WS_TEST_REQUIRE(
        ws_scope_in(p->pool, p->flags | WS_SCOPE_IN_PLACE, spawn_here, p) == 0);
    WS_TEST_REQUIRE(test_get(&p->runs) == 10);
    return 0;
}

static void check_worker(unsigned policy, bool same)
{
    ws_pool *pools[2] = {test_pool(1, policy), test_pool(2, policy)};
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        place p = {.home = pools[0],
                   .pool = pools[same ? 0 : 1],
                   .flags = i % 2 ? WS_SCOPE_FIFO : 0};
        assert_int_equal(ws_pool_install(pools[0], open_here, &p), 0);
    }
    test_destroy(pools[0]);
    test_destroy(pools[1]);
}

static void worker_opens_it_in_its_own_pool(void **state)
{
    (void)state;
    check_worker(WS_WAIT_ANY, true);
    check_worker(WS_WAIT_SUBTREE, true);
}

static void worker_opens_it_in_another_pool(void **state)
{
    (void)state;
    check_worker(WS_WAIT_ANY, false);
    check_worker(WS_WAIT_SUBTREE, false);
}

/* ---- the end --------------------------------------------------------- */

static int spawn_and_leave(struct ws_scope *scope, void *arg)
{
    ws_scope_spawn(scope, run_in_pool, arg);
    return 0;
}

static void *open_many(void *arg)
{
    place *p = arg;
    for (size_t i = ws_test_scale(3000); i > 0; i--) {
        WS_TEST_REQUIRE(
            ws_scope_in(p->pool, WS_SCOPE_IN_PLACE, spawn_and_leave, p) == 0);
        test_reuse_stack();
    }
    return NULL;
}

/* Whoever ends the last job does not touch the opener's frame any more. */
static void frame_may_go_when_the_scope_ends(void **state)
{
    (void)state;
    place p = {.pool = test_pool(2, WS_WAIT_DEFAULT)};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        threads[i] = test_thread(open_many, &p);
    }
    for (int i = 0; i < 3; i++) {
        test_join_thread(threads[i]);
    }
    assert_int_equal(test_get(&p.runs), 3 * ws_test_scale(3000));
    test_destroy(p.pool);
}

static int fail_in_job(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    return 9;
}

static int spawn_failure(struct ws_scope *scope, void *arg)
{
    ws_scope_spawn(scope, fail_in_job, NULL);
    return arg != NULL ? 4 : 0;
}

static void errors_travel(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    const unsigned in_place = WS_SCOPE_IN_PLACE;
    assert_int_equal(ws_scope_in(pool, in_place, spawn_failure, NULL), 9);
    assert_int_equal(ws_scope_in(pool, in_place, spawn_failure, pool), 4);
    assert_int_equal(ws_scope_in(pool, in_place, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_scope_in(pool, 16, spawn_failure, NULL), WS_EINVAL);
    test_destroy(pool);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(in_place_scope_no_deadlock),
    cmocka_unit_test(in_place_scope_fifo_no_deadlock),
    cmocka_unit_test(global_pool_runs_the_jobs),
    cmocka_unit_test(worker_opens_it_in_its_own_pool),
    cmocka_unit_test(worker_opens_it_in_another_pool),
    cmocka_unit_test(frame_may_go_when_the_scope_ends),
    cmocka_unit_test(errors_travel),
};
WS_TEST_MAIN(tests)
