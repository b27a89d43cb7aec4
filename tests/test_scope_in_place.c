/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_in_place.c: scopes whose body runs on the calling thread.
 */
#include "support/pools.h"

typedef struct {
    ws_pool *home; /* of the caller, or NULL */
    ws_pool *pool; /* of the scope */
    unsigned flags;
    pthread_t caller;
    struct ws_scope *outer;
    test_counter runs;
    test_counter *met; /* callers that wait for each other, or NULL */
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
    WS_TEST_REQUIRE(ws_pool_current_index(p->pool) == -1);
    WS_TEST_REQUIRE(pthread_equal(pthread_self(), p->caller));
    ws_scope_spawn(scope, run_in_pool, p);
    test_await(&p->runs, 1);
    return 3;
}

static void check_no_deadlock(unsigned flags)
{
    place p = {.pool = test_pool(1, WS_WAIT_DEFAULT)};
    p.caller = pthread_self();
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
    place p = {.caller = pthread_self()};
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
    WS_TEST_REQUIRE(pthread_equal(pthread_self(), p->caller));
    if (p->met != NULL) {
        test_add(p->met, 1);
        test_await(p->met, 2);
    }
    for (int i = 0; i < 10; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn(scope, run_in_pool, p) == WS_OK);
    }
    return 0;
}

static int open_here(void *arg)
{
    place *p = arg;
    test_set(&p->runs, 0);
    p->caller = pthread_self();
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

static void *install_open(void *arg)
{
    place *p = arg;
    WS_TEST_REQUIRE(ws_pool_install(p->home, open_here, p) == 0);
    return NULL;
}

/* Each opener is the only worker of the pool that the other one's jobs want. */
static void workers_open_it_in_each_others_pool(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pools[2] = {test_pool(1, p), test_pool(1, p)};
        for (size_t i = ws_test_scale(100); i > 0; i--) {
            test_counter met = {0};
            place a = {.home = pools[0], .pool = pools[1], .met = &met};
            place b = {.home = pools[1], .pool = pools[0], .met = &met};
            a.flags = b.flags = i % 2 ? WS_SCOPE_FIFO : 0;
            pthread_t thread = test_thread(install_open, &a);
            install_open(&b);
            test_join_thread(thread);
        }
        test_destroy(pools[0]);
        test_destroy(pools[1]);
    }
}

/* ---- two pools ------------------------------------------------------- */

typedef struct {
    place places[2]; /* of the outer scope and of the inner one */
} places;

static int spawn_into_both(struct ws_scope *scope, void *arg)
{
    places *both = arg;
    for (int i = 0; i < 10; i++) {
        ws_scope_spawn(both->places[0].outer, run_in_pool, &both->places[0]);
        ws_scope_spawn(scope, run_in_pool, &both->places[1]);
    }
    return 0;
}

static int nest(struct ws_scope *scope, void *arg)
{
    places *both = arg;
    place *inner = &both->places[1];
    both->places[0].outer = scope;
    WS_TEST_REQUIRE(
        ws_scope_in(inner->pool, inner->flags, spawn_into_both, both) == 0);
    WS_TEST_REQUIRE(test_get(&inner->runs) == 10);
    return pthread_equal(pthread_self(), inner->caller) ? 0 : 1;
}

static int open_nested(void *arg)
{
    places *both = arg;
    const place *outer = &both->places[0];
    both->places[1].caller = pthread_self();
    WS_TEST_REQUIRE(ws_scope_in(outer->pool, outer->flags, nest, both) == 0);
    WS_TEST_REQUIRE(test_get(&outer->runs) == 10);
    return 0;
}

static void scopes_of_two_pools_inside_each_other(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pools[3] = {test_pool(1, p), test_pool(2, p), test_pool(1, p)};
        for (size_t i = 8 * ws_test_scale(20); i > 0; i--) {
            unsigned fifo = i % 2 ? WS_SCOPE_FIFO : 0;
            places both = {
                {{.pool = pools[i / 2 % 2]}, {.pool = pools[(i / 2 + 1) % 2]}}};
            both.places[0].flags = WS_SCOPE_IN_PLACE | fifo;
            both.places[1].flags = WS_SCOPE_IN_PLACE | (i & WS_SCOPE_FIFO);
            /* From a foreign thread, a third pool, one of the two. */
            ws_pool *from = i / 4 % 2 ? pools[i % 3] : NULL;
            assert_int_equal(from != NULL
                                 ? ws_pool_install(from, open_nested, &both)
                                 : open_nested(&both),
                             0);
        }
        for (int i = 0; i < 3; i++) {
            test_destroy(pools[i]);
        }
    }
}

/* ---- the end --------------------------------------------------------- */

static void *spawn_one(void *arg)
{
    place *p = arg;
    WS_TEST_REQUIRE(ws_scope_spawn(p->outer, run_in_pool, p) == WS_OK);
    return NULL;
}

static int spawn_and_leave(struct ws_scope *scope, void *arg)
{
    place *p = arg;
    p->outer = scope;
    if (p->flags != 0) {
        test_join_thread(test_thread(spawn_one, p));
    } else {
        spawn_one(p);
    }
    return 0;
}

static void *open_many(void *arg)
{
    place *p = arg;
    for (size_t i = ws_test_scale(3000); i > 0; i--) {
        place own = {.pool = p->pool, .flags = i % 32 == 0};
        unsigned flags = WS_SCOPE_IN_PLACE | (i & 3);
        WS_TEST_REQUIRE(ws_scope_in(p->pool, flags, spawn_and_leave, &own) ==
                        0);
        WS_TEST_REQUIRE(test_add(&own.runs, 1) == 1);
        test_reuse_stack();
        test_add(&p->runs, 1);
    }
    return NULL;
}

/* Whoever ends the last job does not touch the opener's frame any more. */
static void frame_may_go_when_the_scope_ends(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        place p = {.pool = test_pool(workers, WS_WAIT_DEFAULT)};
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
}

static int lend_frame(void *arg)
{
    place *p = arg;
    return ws_scope_in(p->pool, WS_SCOPE_IN_PLACE, spawn_and_leave, p);
}

/* Nor the pool of the opener, nor the one that ran the job. */
static void pools_may_go_when_the_scope_ends(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(400); i > 0; i--) {
        unsigned policy = i % 2 ? WS_WAIT_ANY : WS_WAIT_SUBTREE;
        ws_pool *home = test_pool(1, policy);
        place p = {.pool = test_pool(1, policy)};
        assert_int_equal(ws_pool_install(home, lend_frame, &p), 0);
        test_destroy(home);
        assert_int_equal(lend_frame(&p), 0);
        test_destroy(p.pool);
        assert_int_equal(test_get(&p.runs), 2);
    }
}

/* ---- the opener is gone before the setter ---------------------------- */

typedef struct {
    ws_pool *home;
    ws_pool *away;
    unsigned flags;
    test_counter held;
    test_counter gone;
} farewell;

static farewell *leaving;
static _Thread_local bool hold_me;

/* Stands between the latch's set and its wake until the opener, woken for
 * another reason, and its pool have gone. */
static void hold_setter(wsi_point point, void *latch)
{
    (void)latch;
    if (point != WSI_POINT_LATCH_SET || !hold_me) {
        return;
    }
    hold_me = false;
    test_add(&leaving->held, 1);
    wsi_sleep_wake(&leaving->home->sleep, 0);
    test_await(&leaving->gone, 1);
}

static int finish_while_opener_sleeps(struct ws_scope *scope, void *arg)
{
    farewell *f = arg;
    (void)scope;
    test_await_sleep(f->home);
    hold_me = true;
    return 0;
}

static int spawn_farewell(struct ws_scope *scope, void *arg)
{
    return ws_scope_spawn(scope, finish_while_opener_sleeps, arg);
}

static int say_farewell(void *arg)
{
    farewell *f = arg;
    int code = ws_scope_in(f->away, f->flags, spawn_farewell, f);
    test_reuse_stack();
    return code;
}

static void setter_outlives_the_pool_of_the_opener(void **state)
{
    (void)state;
    wsi_port_ops.at_point = hold_setter;
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        unsigned policy = i % 2 == 0 ? WS_WAIT_ANY : WS_WAIT_SUBTREE;
        farewell f = {.home = test_pool(1, policy),
                      .away = test_pool(1, policy),
                      .flags = WS_SCOPE_IN_PLACE | (i & 3)};
        leaving = &f;
        assert_int_equal(ws_pool_install(f.home, say_farewell, &f), 0);
        assert_int_equal(test_get(&f.held), 1);
        test_destroy(f.home);
        test_set(&f.gone, 1);
        test_destroy(f.away);
    }
    wsi_port_ops.at_point = NULL;
}

/* ---- errors ---------------------------------------------------------- */

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

static int never(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    ws_test_fail(__FILE__, __LINE__, "this must not run");
    return 0;
}

static int refuse(void *arg)
{
    place *p = arg;
    ws_pool *const pools[] = {NULL, p->pool, p->home};
    for (int i = 0; i < 3; i++) {
        for (unsigned flags = 0; flags <= 7; flags++) {
            WS_TEST_REQUIRE(ws_scope_in(pools[i], flags, NULL, p) == WS_EINVAL);
            WS_TEST_REQUIRE(ws_scope_in(pools[i], flags | 8, never, p) ==
                            WS_EINVAL);
            WS_TEST_REQUIRE(ws_scope_in(pools[i], flags | 1u << 31, never, p) ==
                            WS_EINVAL);
        }
    }
    WS_TEST_REQUIRE(ws_in_place_scope(NULL, p) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_in_place_scope_fifo(NULL, p) == WS_EINVAL);
    return 0;
}

static void bad_arguments_run_nothing(void **state)
{
    (void)state;
    place p = {.pool = test_pool(1, WS_WAIT_DEFAULT)};
    p.home = test_pool(1, WS_WAIT_DEFAULT);
    assert_int_equal(refuse(&p), 0);
    assert_int_equal(ws_pool_install(p.home, refuse, &p), 0);
    assert_int_equal(test_totals(p.pool).jobs, 0);
    test_destroy(p.pool);
    test_destroy(p.home);
}

static int open_failures(void *arg)
{
    ws_pool *pool = arg;
    for (unsigned flags = WS_SCOPE_IN_PLACE; flags <= 7; flags++) {
        WS_TEST_REQUIRE(ws_scope_in(pool, flags, spawn_failure, NULL) == 9);
        WS_TEST_REQUIRE(ws_scope_in(pool, flags, spawn_failure, pool) == 4);
    }
    return 0;
}

static void errors_reach_openers_of_every_kind(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
    ws_pool *other = test_pool(1, WS_WAIT_DEFAULT);
    assert_int_equal(open_failures(pool), 0);
    assert_int_equal(ws_pool_install(pool, open_failures, pool), 0);
    assert_int_equal(ws_pool_install(other, open_failures, pool), 0);
    test_destroy(pool);
    test_destroy(other);
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
    cmocka_unit_test(workers_open_it_in_each_others_pool),
    cmocka_unit_test(scopes_of_two_pools_inside_each_other),
    cmocka_unit_test(frame_may_go_when_the_scope_ends),
    cmocka_unit_test(pools_may_go_when_the_scope_ends),
    cmocka_unit_test(setter_outlives_the_pool_of_the_opener),
    cmocka_unit_test(bad_arguments_run_nothing),
    cmocka_unit_test(errors_travel),
    cmocka_unit_test(errors_reach_openers_of_every_kind),
};
WS_TEST_MAIN(tests)
