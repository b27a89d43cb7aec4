/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_wait.c: waiting in the middle of a scope's body, with and without
 * a deadline.
 */
#include "support/pools.h"

#define FOR_EVER UINT64_MAX

typedef struct {
    ws_pool *pool;
    struct ws_scope *scope;
    test_counter runs;
    test_counter started;
    test_counter release;
    uint64_t rounds;
    uint64_t random;
    uint64_t timeouts;
    unsigned flags;
} waiting;

static int add_one(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&((waiting *)arg)->runs, 1);
    return 0;
}

static int grow(struct ws_scope *scope, void *arg)
{
    ws_scope_spawn(scope, add_one, arg);
    ws_scope_spawn(scope, add_one, arg);
    return add_one(scope, arg);
}

static int hold(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    test_add(&w->started, 1);
    test_await(&w->release, 1);
    return add_one(scope, arg);
}

/* Calls `body` in each kind of scope, in several pools. */
static void in_each_scope(ws_scope_fn body, unsigned least_workers)
{
    for (unsigned workers = least_workers; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool(workers, p);
            for (unsigned flags = 0; flags <= 7; flags++) {
                waiting w = {.pool = pool, .flags = flags, .random = 7};
                w.rounds = ws_test_scale(100);
                assert_int_equal(ws_scope_in(pool, flags, body, &w), 0);
            }
            test_destroy(pool);
        }
    }
}

static int wait_often(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    for (uint64_t i = 1; i <= w->rounds; i++) {
        for (int k = 0; k < 5; k++) {
            ws_scope_spawn(scope, grow, w);
        }
        WS_TEST_REQUIRE(i % 2 != 0
                            ? ws_scope_wait(scope) == WS_OK
                            : ws_scope_wait_until(scope, FOR_EVER) == WS_OK);
        WS_TEST_REQUIRE(test_get(&w->runs) == 15 * i);
        WS_TEST_REQUIRE(ws_scope_wait_until(scope, 0) == WS_OK);
    }
    ws_scope_spawn(scope, grow, w);
    return 0;
}

static void all_jobs_are_done_after_a_wait(void **state)
{
    (void)state;
    in_each_scope(wait_often, 1);
}

/* ---- deadlines ------------------------------------------------------- */

static int time_out(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    for (uint64_t i = 0; i < w->rounds; i++) {
        test_set(&w->started, 0);
        test_set(&w->release, 0);
        test_set(&w->runs, 0);
        ws_scope_spawn(scope, hold, w);
        /* Held by another worker, or this one would hold itself. */
        test_await(&w->started, 1);
        WS_TEST_REQUIRE(ws_scope_wait_until(scope, 0) == WS_ETIMEDOUT);
        WS_TEST_REQUIRE(ws_scope_wait_until(scope, ws_clock_ns() + 20000) ==
                        WS_ETIMEDOUT);
        ws_scope_spawn(scope, grow, w);
        test_set(&w->release, 1);
        WS_TEST_REQUIRE(ws_scope_wait_until(scope, FOR_EVER - 1) == WS_OK);
        WS_TEST_REQUIRE(test_get(&w->runs) == 4);
    }
    return 0;
}

static void scope_goes_on_after_a_timeout(void **state)
{
    (void)state;
    in_each_scope(time_out, 2);
}

static int pause_and_add(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    uint64_t end = wsi_clock_ns() + 15000;
    while (wsi_clock_ns() < end) {
        wsi_cpu_relax();
    }
    return add_one(scope, w);
}

/* The last job ends about when the deadline comes. */
static int race_with_deadline(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    uint64_t expected = 0;
    for (uint64_t i = 0; i < w->rounds; i++) {
        int code;
        expected += 1;
        ws_scope_spawn(scope, pause_and_add, w);
        do {
            uint64_t after = ws_test_random(&w->random) % 30000;
            code = ws_scope_wait_until(scope, ws_clock_ns() + after);
            w->timeouts += code == WS_ETIMEDOUT;
            WS_TEST_REQUIRE(code == WS_OK || code == WS_ETIMEDOUT);
        } while (code != WS_OK);
        WS_TEST_REQUIRE(test_get(&w->runs) == expected);
    }
    return 0;
}

static void last_job_ends_at_the_deadline(void **state)
{
    (void)state;
    in_each_scope(race_with_deadline, 1);
}

static int help(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    ws_scope_spawn(scope, grow, w);
    WS_TEST_REQUIRE(ws_scope_wait_until(scope, FOR_EVER - 1) == WS_OK);
    WS_TEST_REQUIRE(test_get(&w->runs) == 3);
    return 0;
}

/* Nobody else can run the jobs. */
static void waiter_helps(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    waiting w = {.pool = pool};
    assert_int_equal(ws_scope_in(pool, 0, help, &w), 0);
    assert_int_equal(test_totals(pool).lent, 0);
    test_destroy(pool);
}

/* ---- who may not ----------------------------------------------------- */

static int wait_in_job(struct ws_scope *scope, void *arg)
{
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_wait_until(scope, 0) == WS_EINVAL);
    return add_one(scope, arg);
}

static void *wait_elsewhere(void *arg)
{
    waiting *w = arg;
    WS_TEST_REQUIRE(ws_scope_wait(w->scope) == WS_EINVAL);
    return NULL;
}

static int wait_wrongly(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    w->scope = scope;
    for (int i = 0; i < 10; i++) {
        ws_scope_spawn(scope, wait_in_job, w);
    }
    test_join_thread(test_thread(wait_elsewhere, w));
    WS_TEST_REQUIRE(ws_scope_wait(NULL) == WS_EINVAL);
    return 0;
}

static void only_the_body_waits(void **state)
{
    (void)state;
    in_each_scope(wait_wrongly, 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_jobs_are_done_after_a_wait),
    cmocka_unit_test(scope_goes_on_after_a_timeout),
    cmocka_unit_test(last_job_ends_at_the_deadline),
    cmocka_unit_test(waiter_helps),
    cmocka_unit_test(only_the_body_waits),
};
WS_TEST_MAIN(tests)
