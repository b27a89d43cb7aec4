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
    pthread_t waiter;
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

typedef struct {
    waiting *w;
    ws_scope_fn body;
} opening;

static int open_scope(void *arg)
{
    opening *o = arg;
    return ws_scope_in(o->w->pool, o->w->flags, o->body, o->w);
}

/* Calls `body` in each kind of scope, in several pools, opened by a thread that
 * is no worker and by the worker of another pool. */
static void in_each_scope(ws_scope_fn body, unsigned least_workers)
{
    for (unsigned workers = least_workers; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool(workers, p);
            ws_pool *home = test_pool(1, p);
            for (unsigned i = 0; i < 16; i++) {
                waiting w = {.pool = pool, .flags = i % 8, .random = 7};
                opening o = {&w, body};
                w.rounds = ws_test_scale(50);
                assert_int_equal(i < 8 ? open_scope(&o)
                                       : ws_pool_install(home, open_scope, &o),
                                 0);
            }
            test_destroy(pool);
            test_destroy(home);
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

static void *spawn_as_guest(void *arg)
{
    waiting *w = arg;
    for (int k = 0; k < 5; k++) {
        WS_TEST_REQUIRE(ws_scope_spawn(w->scope, grow, w) == WS_OK);
    }
    return NULL;
}

static int wait_for_guests(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    w->scope = scope;
    for (uint64_t i = 1; i <= w->rounds; i++) {
        test_join_thread(test_thread(spawn_as_guest, w));
        if (i % 2 != 0) {
            ws_scope_spawn(scope, grow, w);
        }
        WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
        WS_TEST_REQUIRE(test_get(&w->runs) == 15 * i + (i + 1) / 2 * 3);
    }
    return 0;
}

static void jobs_of_foreign_threads_are_done_after_a_wait(void **state)
{
    (void)state;
    in_each_scope(wait_for_guests, 1);
}

static int add_and_fail(struct ws_scope *scope, void *arg)
{
    add_one(scope, arg);
    return 8;
}

static int wait_for_failure(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    ws_scope_spawn(scope, add_and_fail, w);
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    WS_TEST_REQUIRE(ws_scope_wait_until(scope, 0) == WS_OK);
    WS_TEST_REQUIRE(test_get(&w->runs) == 1);
    ws_scope_spawn(scope, add_and_fail, w);
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    WS_TEST_REQUIRE(test_get(&w->runs) ==
                    (w->flags & WS_SCOPE_FAIL_FAST ? 1 : 2));
    return 0;
}

static int open_failing(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    (void)scope;
    WS_TEST_REQUIRE(ws_scope_in(w->pool, w->flags, wait_for_failure, w) == 8);
    return 0;
}

/* In a plain scope or one of another kind, so that there is one more wait. */
static void codes_stay_for_the_opener(void **state)
{
    (void)state;
    in_each_scope(open_failing, 1);
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

static int time_out_and_leave(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    ws_scope_spawn(scope, hold, w);
    test_await(&w->started, 1);
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_scope_wait_until(scope, ws_clock_ns() + 1000) ==
                        WS_ETIMEDOUT);
    }
    ws_scope_spawn(scope, grow, w);
    test_set(&w->release, 1);
    return 0;
}

static int open_timing_out(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    (void)scope;
    for (uint64_t i = 0; i < w->rounds; i++) {
        waiting own = {.pool = w->pool, .flags = w->flags};
        opening o = {&own, time_out_and_leave};
        WS_TEST_REQUIRE(open_scope(&o) == 0);
        WS_TEST_REQUIRE(test_add(&own.runs, 1) == 4);
        test_reuse_stack();
    }
    return 0;
}

static void scope_ends_after_a_timeout(void **state)
{
    (void)state;
    in_each_scope(open_timing_out, 4);
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

/* The same where the waiter can be late only, or early only, and the scope's
 * frame goes at once. */
static int hurry(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    ws_scope_spawn(scope, add_one, w);
    for (int i = 0; i < 2; i++) {
        uint64_t after = ws_test_random(&w->random) % 3000;
        int code = ws_scope_wait_until(scope, ws_clock_ns() + after);
        WS_TEST_REQUIRE(code == WS_OK || code == WS_ETIMEDOUT);
        WS_TEST_REQUIRE(code != WS_OK || test_get(&w->runs) == 1);
    }
    return 0;
}

static int open_hurried(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    (void)scope;
    for (uint64_t i = 20 * w->rounds; i > 0; i--) {
        waiting own = {.pool = w->pool, .flags = w->flags};
        opening o = {&own, hurry};
        own.random = ws_test_random(&w->random) | 1;
        WS_TEST_REQUIRE(open_scope(&o) == 0);
        WS_TEST_REQUIRE(test_add(&own.runs, 1) == 1);
        test_reuse_stack();
    }
    return 0;
}

static void frame_goes_after_a_wait_with_a_deadline(void **state)
{
    (void)state;
    in_each_scope(open_hurried, 1);
}

static int run_on_the_waiter(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    WS_TEST_REQUIRE(pthread_equal(pthread_self(), w->waiter));
    return grow(scope, w);
}

static int help(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    const uint64_t an_hour = (uint64_t)3600 * 1000 * 1000 * 1000;
    w->waiter = pthread_self();
    for (uint64_t i = 0; i < 3; i++) {
        ws_scope_spawn(scope, run_on_the_waiter, w);
        ws_scope_spawn(scope, run_on_the_waiter, w);
        WS_TEST_REQUIRE(
            (i == 0   ? ws_scope_wait(scope)
             : i == 1 ? ws_scope_wait_until(scope, FOR_EVER - 1)
                      : ws_scope_wait_until(scope, ws_clock_ns() + an_hour)) ==
            WS_OK);
        WS_TEST_REQUIRE(test_get(&w->runs) == 6 * (i + 1));
    }
    return 0;
}

/* Nobody else can run the jobs. */
static void check_help(ws_pool *pool)
{
    for (unsigned flags = 0; flags <= 3; flags++) {
        waiting w = {.pool = pool};
        assert_int_equal(ws_scope_in(pool, flags, help, &w), 0);
    }
    assert_int_equal(test_totals(pool).lent, 0);
}

static void waiter_helps(void **state)
{
    (void)state;
    test_in_pools_of(1, check_help);
}

/* ---- who may not ----------------------------------------------------- */

static int wait_for_outer(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    WS_TEST_REQUIRE(ws_scope_wait(w->scope) == WS_EINVAL);
    return ws_scope_wait(scope);
}

static int wait_in_job(struct ws_scope *scope, void *arg)
{
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_wait_until(scope, 0) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope(wait_for_outer, arg) == 0);
    return add_one(scope, arg);
}

static void *wait_elsewhere(void *arg)
{
    waiting *w = arg;
    WS_TEST_REQUIRE(ws_scope_wait(w->scope) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_wait_until(w->scope, FOR_EVER) == WS_EINVAL);
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
    WS_TEST_REQUIRE(ws_scope_wait_until(NULL, FOR_EVER) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    WS_TEST_REQUIRE(test_get(&w->runs) == 10);
    return 0;
}

static void only_the_body_waits(void **state)
{
    (void)state;
    in_each_scope(wait_wrongly, 1);
}

static int ask_only(struct ws_scope *scope, void *arg)
{
    waiting *w = arg;
    for (int i = 0; i < 5; i++) {
        ws_scope_spawn(scope, add_one, w);
    }
    if (w->flags & WS_SCOPE_IN_PLACE) {
        return 0;
    }
    /* The only worker is here. */
    for (int i = 0; i < 5; i++) {
        WS_TEST_REQUIRE(ws_scope_wait_until(scope, 0) == WS_ETIMEDOUT);
    }
    WS_TEST_REQUIRE(test_get(&w->runs) == 0);
    return 0;
}

static void deadline_in_the_past_begins_no_job(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(1, p);
        for (unsigned flags = 0; flags <= 7; flags++) {
            waiting w = {.pool = pool, .flags = flags};
            assert_int_equal(ws_scope_in(pool, flags, ask_only, &w), 0);
            assert_int_equal(test_get(&w.runs), 5);
        }
        test_destroy(pool);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_jobs_are_done_after_a_wait),
    cmocka_unit_test(jobs_of_foreign_threads_are_done_after_a_wait),
    cmocka_unit_test(codes_stay_for_the_opener),
    cmocka_unit_test(scope_goes_on_after_a_timeout),
    cmocka_unit_test(scope_ends_after_a_timeout),
    cmocka_unit_test(last_job_ends_at_the_deadline),
    cmocka_unit_test(frame_goes_after_a_wait_with_a_deadline),
    cmocka_unit_test(waiter_helps),
    cmocka_unit_test(only_the_body_waits),
    cmocka_unit_test(deadline_in_the_past_begins_no_job),
};
WS_TEST_MAIN(tests)
