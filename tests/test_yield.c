/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_yield.c: ws_yield_now, ws_yield_local and ws_has_pending: which jobs
 * they see, that one call runs one job, how deep yields nest.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#include "support/pools.h"

typedef ws_yield (*yield_fn)(void);

static const yield_fn yields[] = {ws_yield_now, ws_yield_local};

enum {
    JOBS = 7
};

typedef struct {
    ws_pool *pool;
    yield_fn yield;
    test_counter runs;
    test_counter here;
    test_counter go;
    uint64_t seen[JOBS];
} job;

static int run_job(void *arg)
{
    test_add(&((job *)arg)->runs, 1);
    return 0;
}

/* Runs `fn` in a worker of a new pool of one, with each of the two yields. */
static void with_each_yield(ws_fn fn)
{
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        for (int i = 0; i < 2; i++) {
            ws_pool *pool = test_pool(1, p);
            job j = {.pool = pool, .yield = yields[i]};
            assert_int_equal(ws_pool_install(pool, fn, &j), 0);
            test_destroy(pool);
        }
    }
}

/* ---- rayon's --------------------------------------------------------- */

static int yield_once(void *arg)
{
    ((job *)arg)->yield();
    return 0;
}

static void check_yield_now(ws_pool *pool)
{
    job j = {.yield = ws_yield_now};
    assert_int_equal(ws_spawn(pool, run_job, &j), WS_OK);
    assert_int_equal(ws_pool_install(pool, yield_once, &j), 0);
    /* Somebody has taken it before the install, which stands behind it. */
    test_await(&j.runs, 1);
}

static void yield_now_to_spawn(void **state)
{
    (void)state;
    test_in_each_pool(check_yield_now);
}

static int spawn_and_yield(void *arg)
{
    job *j = arg;
    WS_TEST_REQUIRE(ws_spawn(NULL, run_job, j) == WS_OK);
    ws_yield result = j->yield();
    WS_TEST_REQUIRE(ws_has_pending() == 0);
    WS_TEST_REQUIRE(result == WS_YIELD_IDLE || test_get(&j->runs) == 1);
    WS_TEST_REQUIRE(result == WS_YIELD_EXECUTED ||
                    ws_current_num_workers() > 1);
    /* If it was a thief, it runs there meanwhile. */
    test_await(&j->runs, 1);
    return 0;
}

static void check_yield_local(ws_pool *pool)
{
    for (size_t i = ws_test_scale(1000); i > 0; i--) {
        job j = {.yield = yields[i % 2]};
        assert_int_equal(ws_pool_install(pool, spawn_and_yield, &j), 0);
    }
}

static void yield_local_to_spawn(void **state)
{
    (void)state;
    test_in_each_pool(check_yield_local);
}

/* ---- nothing to do --------------------------------------------------- */

static void outside_a_pool_is_no_pool(void **state)
{
    (void)state;
    assert_int_equal(ws_yield_now(), WS_YIELD_NO_POOL);
    assert_int_equal(ws_yield_local(), WS_YIELD_NO_POOL);
    assert_int_equal(ws_has_pending(), -1);
    /* They have not made one, and do not use it when there is one. */
    assert_int_equal(ws_pool_global_init(NULL), WS_OK);
    assert_int_equal(ws_yield_now(), WS_YIELD_NO_POOL);
    assert_int_equal(ws_yield_local(), WS_YIELD_NO_POOL);
    assert_int_equal(ws_has_pending(), -1);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static int find_nothing(void *arg)
{
    job *j = arg;
    for (int i = 0; i < 200; i++) {
        WS_TEST_REQUIRE(j->yield() == WS_YIELD_IDLE);
        WS_TEST_REQUIRE(ws_has_pending() == 0);
    }
    return 0;
}

static void idle_without_jobs(void **state)
{
    (void)state;
    with_each_yield(find_nothing);
}

/* ---- own jobs -------------------------------------------------------- */

typedef struct {
    job *j;
    uint64_t number;
} numbered;

static int note_number(void *arg)
{
    const numbered *n = arg;
    n->j->seen[test_add(&n->j->runs, 1)] = n->number;
    return 0;
}

static int run_one_by_one(void *arg)
{
    job *j = arg;
    numbered jobs[JOBS];
    for (uint64_t i = 0; i < JOBS; i++) {
        jobs[i] = (numbered){j, i};
        WS_TEST_REQUIRE(ws_spawn(NULL, note_number, &jobs[i]) == WS_OK);
    }
    for (uint64_t i = 0; i < JOBS; i++) {
        WS_TEST_REQUIRE(ws_has_pending() == 1);
        WS_TEST_REQUIRE(j->yield() == WS_YIELD_EXECUTED);
        WS_TEST_REQUIRE(test_get(&j->runs) == i + 1);
        WS_TEST_REQUIRE(j->seen[i] == JOBS - 1 - i);
    }
    return find_nothing(j);
}

static void a_yield_runs_the_newest_job_and_no_other(void **state)
{
    (void)state;
    with_each_yield(run_one_by_one);
}

static int yield_half(void *arg)
{
    job *j = arg;
    ws_yield result = j->yield();
    WS_TEST_REQUIRE(result == WS_YIELD_IDLE || test_get(&j->runs) == 1);
    return 3;
}

static int join_with_yield(void *arg)
{
    return ws_join(yield_half, arg, run_job, arg);
}

/* The second half of a join that is below the yield is a job, too. */
static void check_half(ws_pool *pool)
{
    for (size_t i = ws_test_scale(1000); i > 0; i--) {
        job j = {.yield = yields[i % 2]};
        assert_int_equal(ws_pool_install(pool, join_with_yield, &j), 3);
        assert_int_equal(test_get(&j.runs), 1);
    }
}

static void a_half_that_a_yield_has_run_is_not_run_again(void **state)
{
    (void)state;
    test_in_each_pool(check_half);
}

static int note_cancelled(void *arg)
{
    job *j = arg;
    test_add(&j->runs, ws_cancelled() ? 100 : 1);
    return 0;
}

static int cancel_and_yield(void *arg)
{
    job *j = arg;
    WS_TEST_REQUIRE(ws_spawn(NULL, note_cancelled, j) == WS_OK);
    ws_token_cancel((ws_token *)(void *)(uintptr_t)j->seen[0]);
    WS_TEST_REQUIRE(ws_cancelled());
    /* First the job that is under the token, then the other. */
    WS_TEST_REQUIRE(j->yield() == WS_YIELD_EXECUTED);
    WS_TEST_REQUIRE(test_get(&j->runs) == 100);
    WS_TEST_REQUIRE(j->yield() == WS_YIELD_EXECUTED);
    WS_TEST_REQUIRE(test_get(&j->runs) == 101);
    WS_TEST_REQUIRE(ws_cancelled());
    return 0;
}

static int yield_under_token(void *arg)
{
    job *j = arg;
    ws_token *token = NULL;
    WS_TEST_REQUIRE(ws_token_create(&token) == WS_OK);
    j->seen[0] = (uintptr_t)token;
    WS_TEST_REQUIRE(ws_spawn(NULL, note_cancelled, j) == WS_OK);
    int code = ws_with_token(token, cancel_and_yield, j);
    ws_token_release(token);
    WS_TEST_REQUIRE(!ws_cancelled());
    return code;
}

static void jobs_do_not_inherit_from_the_yield(void **state)
{
    (void)state;
    with_each_yield(yield_under_token);
}

static void the_creator_yields_to_its_own_jobs(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.use_current_thread = 1;
    for (int i = 0; i < 2; i++) {
        ws_pool *pool = test_pool_with(&config);
        job j = {.pool = pool, .yield = yields[i]};
        assert_int_equal(ws_has_pending(), 0);
        assert_int_equal(run_one_by_one(&j), 0);
        test_destroy(pool);
        assert_int_equal(ws_has_pending(), -1);
    }
}

/* ---- jobs from elsewhere --------------------------------------------- */

static int look_for_injected(void *arg)
{
    job *j = arg;
    test_add(&j->here, 1);
    test_await(&j->go, 1);
    WS_TEST_REQUIRE(ws_has_pending() == 0);
    for (int i = 0; i < 200; i++) {
        WS_TEST_REQUIRE(ws_yield_local() == WS_YIELD_IDLE);
    }
    WS_TEST_REQUIRE(test_get(&j->runs) == 0);
    for (uint64_t i = 1; i <= JOBS; i++) {
        WS_TEST_REQUIRE(ws_yield_now() == WS_YIELD_EXECUTED);
        WS_TEST_REQUIRE(test_get(&j->runs) == i);
    }
    WS_TEST_REQUIRE(ws_yield_now() == WS_YIELD_IDLE);
    test_add(&j->here, 1);
    return 0;
}

static void check_injected(ws_pool *pool)
{
    job j = {.pool = pool};
    assert_int_equal(ws_spawn(pool, look_for_injected, &j), WS_OK);
    test_await(&j.here, 1);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(ws_spawn(pool, run_job, &j), WS_OK);
    }
    test_set(&j.go, 1);
    test_await(&j.here, 2);
}

static void injected_jobs_are_for_yield_now_only(void **state)
{
    (void)state;
    test_in_pools_of(1, check_injected);
}

/* Holds jobs in its deque until somebody has run all of them. */
static int hold_jobs(void *arg)
{
    job *j = arg;
    for (int i = 0; i < JOBS; i++) {
        WS_TEST_REQUIRE(ws_spawn(NULL, run_job, j) == WS_OK);
    }
    test_add(&j->here, 1);
    test_await(&j->runs, JOBS);
    return 0;
}

static int take_from_other(void *arg)
{
    job *j = arg;
    test_add(&j->here, 1);
    test_await(&j->here, 2);
    WS_TEST_REQUIRE(ws_has_pending() == 0);
    for (int i = 0; i < 200; i++) {
        WS_TEST_REQUIRE(ws_yield_local() == WS_YIELD_IDLE);
    }
    WS_TEST_REQUIRE(test_get(&j->runs) == 0);
    while (test_get(&j->runs) < JOBS) {
        WS_TEST_REQUIRE(ws_yield_now() != WS_YIELD_NO_POOL);
        wsi_thread_yield();
    }
    test_add(&j->here, 1);
    return 0;
}

/* Both workers are busy: nobody but the yields can take the jobs. */
static void check_other_workers(ws_pool *pool)
{
    job j = {.pool = pool};
    assert_int_equal(ws_spawn(pool, take_from_other, &j), WS_OK);
    test_await(&j.here, 1);
    assert_int_equal(ws_pool_install(pool, hold_jobs, &j), 0);
    test_await(&j.here, 3);
    assert_int_equal(test_get(&j.runs), JOBS);
}

static void other_workers_jobs_are_for_yield_now_only(void **state)
{
    (void)state;
    test_in_pools_of(2, check_other_workers);
}

static int note_worker(const ws_broadcast_ctx *ctx, void *arg)
{
    job *j = arg;
    WS_TEST_REQUIRE((int)ctx->index == ws_current_index());
    test_add(&j->runs, 1);
    return 0;
}

/* All workers are here, and each runs its own by a yield. */
static int yield_to_broadcast(void *arg)
{
    job *j = arg;
    const uint64_t n = ws_current_num_workers();
    if (test_add(&j->here, 1) + 1 == n) {
        WS_TEST_REQUIRE(ws_spawn_broadcast(NULL, note_worker, j) == WS_OK);
        test_set(&j->go, 1);
    }
    test_await(&j->go, 1);
    WS_TEST_REQUIRE(ws_has_pending() == 0);
    WS_TEST_REQUIRE(j->yield() == WS_YIELD_EXECUTED);
    WS_TEST_REQUIRE(j->yield() == WS_YIELD_IDLE);
    test_await(&j->runs, n);
    test_add(&j->here, 1);
    return 0;
}

static void check_broadcast(ws_pool *pool)
{
    const uint64_t n = ws_pool_num_workers(pool);
    for (int i = 0; i < 2; i++) {
        job j = {.pool = pool, .yield = yields[i]};
        for (uint64_t k = 0; k < n; k++) {
            assert_int_equal(ws_spawn(pool, yield_to_broadcast, &j), WS_OK);
        }
        test_await(&j.here, 2 * n);
        assert_int_equal(test_get(&j.runs), n);
    }
}

static void a_broadcast_is_run_by_both(void **state)
{
    (void)state;
    test_in_each_pool(check_broadcast);
}

/* ---- depth ----------------------------------------------------------- */

enum {
    CAP = 5
};

/* Always has one more job for the next yield. */
static int yield_deeper(void *arg)
{
    job *j = arg;
    uint64_t depth = test_add(&j->here, 1) + 1;
    test_add(&j->runs, 1);
    if (test_get(&j->go) != 0) {
        return 0;
    }
    WS_TEST_REQUIRE(ws_spawn(NULL, yield_deeper, j) == WS_OK);
    ws_yield result = j->yield();
    WS_TEST_REQUIRE(depth <= CAP);
    if (depth == CAP) {
        WS_TEST_REQUIRE(result == WS_YIELD_IDLE);
        WS_TEST_REQUIRE(ws_yield_now() == WS_YIELD_IDLE);
        WS_TEST_REQUIRE(ws_yield_local() == WS_YIELD_IDLE);
        WS_TEST_REQUIRE(ws_has_pending() == 1);
        WS_TEST_REQUIRE(test_get(&j->runs) == CAP);
        test_set(&j->go, 1);
    } else {
        WS_TEST_REQUIRE(result == WS_YIELD_EXECUTED);
    }
    return 0;
}

static void yields_nest_as_deep_as_the_config_says(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.max_depth = CAP;
    for (config.wait_policy = WS_WAIT_ANY;
         config.wait_policy <= WS_WAIT_SUBTREE; config.wait_policy++) {
        for (int i = 0; i < 2; i++) {
            ws_pool *pool = test_pool_with(&config);
            job j = {.yield = yields[i]};
            assert_int_equal(ws_pool_install(pool, yield_deeper, &j), 0);
            /* The job at the cap was still there, and runs in the end. */
            test_await(&j.runs, CAP + 1);
            assert_int_equal(test_totals(pool).max_depth, CAP);
            test_destroy(pool);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(yield_now_to_spawn),
    cmocka_unit_test(yield_local_to_spawn),
    cmocka_unit_test(outside_a_pool_is_no_pool),
    cmocka_unit_test(idle_without_jobs),
    cmocka_unit_test(a_yield_runs_the_newest_job_and_no_other),
    cmocka_unit_test(a_half_that_a_yield_has_run_is_not_run_again),
    cmocka_unit_test(jobs_do_not_inherit_from_the_yield),
    cmocka_unit_test(the_creator_yields_to_its_own_jobs),
    cmocka_unit_test(injected_jobs_are_for_yield_now_only),
    cmocka_unit_test(other_workers_jobs_are_for_yield_now_only),
    cmocka_unit_test(a_broadcast_is_run_by_both),
    cmocka_unit_test(yields_nest_as_deep_as_the_config_says),
};
WS_TEST_MAIN(tests)
