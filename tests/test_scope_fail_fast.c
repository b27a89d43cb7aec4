/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_fail_fast.c: a failure at each place of a scope: everything ends,
 * every argument is given back once; fail-fast scopes drop what has not
 * started, others run all.
 */
#include "support/pools.h"

enum {
    JOBS = 30,
    CODE = 100
};

typedef struct {
    unsigned flags;
    int fail_at; /* JOBS: nobody fails, JOBS + 1: the body does */
    test_counter started;
    test_counter dropped;
    test_counter after; /* started when the failure was known */
    test_counter failed;
    ws_token *token;
} plan;

typedef struct {
    plan *p;
    int number;
} job;

static int run_job(struct ws_scope *scope, void *arg)
{
    job *j = arg;
    plan *p = j->p;
    int number = j->number;
    (void)scope;
    free(j);
    test_add(&p->started, 1);
    if (test_get(&p->failed) != 0) {
        test_add(&p->after, 1);
    }
    if (number != p->fail_at) {
        return 0;
    }
    if (p->token != NULL) {
        ws_token_cancel(p->token);
        WS_TEST_REQUIRE(ws_cancelled());
        return 0;
    }
    return CODE + number;
}

static void drop_job(void *arg)
{
    job *j = arg;
    plan *p = j->p;
    free(j);
    test_add(&p->dropped, 1);
    /* Whoever drops knows. */
    test_set(&p->failed, 1);
}

static int spawn_jobs(struct ws_scope *scope, void *arg)
{
    plan *p = arg;
    for (int i = 0; i < JOBS; i++) {
        job *j = malloc(sizeof(*j));
        WS_TEST_REQUIRE(j != NULL);
        *j = (job){p, i};
        WS_TEST_REQUIRE(ws_scope_spawn_or_drop(scope, run_job, j, drop_job) ==
                        WS_OK);
    }
    return p->fail_at == JOBS + 1 ? CODE + JOBS + 1 : 0;
}

static void check_failure(ws_pool *pool, unsigned flags, int fail_at)
{
    plan p = {.flags = flags, .fail_at = fail_at};
    int code = ws_scope_in(pool, flags, spawn_jobs, &p);
    assert_int_equal(code, fail_at == JOBS ? 0 : CODE + fail_at);
    assert_int_equal(test_get(&p.started) + test_get(&p.dropped), JOBS);
    if (flags & WS_SCOPE_FAIL_FAST) {
        assert_true(test_get(&p.after) <= ws_pool_num_workers(pool));
    } else {
        assert_int_equal(test_get(&p.dropped), 0);
    }
    if (ws_pool_num_workers(pool) == 1 && fail_at < JOBS &&
        (flags & WS_SCOPE_IN_PLACE) == 0) {
        /* One after the other, the newest or the oldest first. */
        uint64_t before =
            (uint64_t)(flags & WS_SCOPE_FIFO ? fail_at : JOBS - 1 - fail_at);
        assert_int_equal(test_get(&p.started),
                         flags & WS_SCOPE_FAIL_FAST ? before + 1 : JOBS);
    }
}

static void failure_at_each_job(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned policy = WS_WAIT_ANY; policy <= WS_WAIT_SUBTREE;
             policy++) {
            ws_pool *pool = test_pool(workers, policy);
            for (unsigned flags = 0; flags <= 7; flags++) {
                for (int i = 0; i <= JOBS + 1; i++) {
                    check_failure(pool, flags, i);
                }
            }
            test_destroy(pool);
        }
    }
}

/* ---- tokens ---------------------------------------------------------- */

static int open_fail_fast(void *arg)
{
    plan *p = arg;
    return ws_scope_in(NULL, WS_SCOPE_FAIL_FAST, spawn_jobs, p);
}

static int open_under_token(void *arg)
{
    plan *p = arg;
    return ws_with_token(p->token, open_fail_fast, p);
}

static void cancellation_at_each_job(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (int i = 0; i < JOBS; i++) {
            plan p = {.fail_at = i};
            assert_int_equal(ws_token_create(&p.token), WS_OK);
            int code = ws_pool_install(pool, open_under_token, &p);
            assert_int_equal(code, test_get(&p.dropped) > 0 ? WS_ECANCELED : 0);
            assert_int_equal(test_get(&p.started) + test_get(&p.dropped), JOBS);
            ws_token_release(p.token);
        }
        test_destroy(pool);
    }
}

static int cancel_first(void *arg)
{
    plan *p = arg;
    ws_token_cancel(p->token);
    return open_fail_fast(p);
}

static void canceled_before_it_opens(void **state)
{
    (void)state;
    plan p = {.fail_at = JOBS};
    assert_int_equal(ws_token_create(&p.token), WS_OK);
    assert_int_equal(ws_with_token(p.token, cancel_first, &p), WS_ECANCELED);
    assert_int_equal(test_get(&p.started) + test_get(&p.dropped), 0);
    ws_token_release(p.token);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- after the failure ----------------------------------------------- */

static int fail_at_once(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    return CODE;
}

static int count_plain(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(arg, 1);
    return 0;
}

static int spawn_plain(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < JOBS; i++) {
        ws_scope_spawn(scope, count_plain, arg);
    }
    return 0;
}

static int fail_and_go_on(struct ws_scope *scope, void *arg)
{
    test_counter *sum = arg;
    plan p = {.fail_at = JOBS};
    WS_TEST_REQUIRE(!ws_cancelled());
    ws_scope_spawn(scope, fail_at_once, NULL);
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    WS_TEST_REQUIRE(ws_cancelled());
    /* What comes now is dropped at once. */
    WS_TEST_REQUIRE(spawn_jobs(scope, &p) == 0);
    WS_TEST_REQUIRE(test_get(&p.dropped) == JOBS);
    spawn_plain(scope, sum);
    WS_TEST_REQUIRE(test_get(sum) == 0);
    /* A plain scope inside still runs everything. */
    WS_TEST_REQUIRE(ws_scope(spawn_plain, sum) == 0);
    WS_TEST_REQUIRE(test_get(sum) == JOBS);
    /* And a fail-fast one nothing. */
    WS_TEST_REQUIRE(ws_scope_in(NULL, WS_SCOPE_FAIL_FAST, spawn_plain, sum) ==
                    WS_ECANCELED);
    return 0;
}

static void spawns_after_the_failure_are_dropped(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (unsigned flags = WS_SCOPE_FAIL_FAST; flags <= 7; flags++) {
            test_counter sum = {0};
            if (flags & WS_SCOPE_FAIL_FAST) {
                assert_int_equal(ws_scope_in(pool, flags, fail_and_go_on, &sum),
                                 CODE);
                assert_int_equal(ws_cancelled(), 0);
            }
        }
        test_destroy(pool);
    }
    if (ws_current_num_workers() > 0) {
        assert_int_equal(ws_pool_global_destroy(), WS_OK);
    }
}

static void bad_arguments_call_neither(void **state)
{
    (void)state;
    assert_int_equal(ws_scope_spawn_or_drop(NULL, run_job, NULL, drop_job),
                     WS_EINVAL);
    assert_int_equal(ws_scope_in(NULL, 8, spawn_jobs, NULL), WS_EINVAL);
    assert_int_equal(ws_scope_in(NULL, 0, NULL, NULL), WS_EINVAL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(failure_at_each_job),
    cmocka_unit_test(cancellation_at_each_job),
    cmocka_unit_test(canceled_before_it_opens),
    cmocka_unit_test(spawns_after_the_failure_are_dropped),
    cmocka_unit_test(bad_arguments_call_neither),
};
WS_TEST_MAIN(tests)
