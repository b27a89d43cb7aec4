/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_destroy_timeout.c: ws_pool_destroy_timeout: it gives up and changes
 * nothing, or runs everything; and how a pool ends whose creator is a worker of
 * it (use_current_thread).
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#define MICROSECOND ((uint64_t)1000)
#define MILLISECOND (1000 * MICROSECOND)
#define HOUR (3600 * 1000 * MILLISECOND)

static const uint64_t far_timeouts[] = {HOUR, UINT64_MAX / 2, UINT64_MAX - 1,
                                        UINT64_MAX};
enum {
    FAR_TIMEOUTS = sizeof(far_timeouts) / sizeof(far_timeouts[0])
};

static ws_pool *own_pool(unsigned workers, unsigned policy)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.wait_policy = policy;
    config.use_current_thread = 1;
    return test_pool_with(&config);
}

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

/* ---- a job that holds a worker --------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter held;
    test_counter release;
    test_counter ran;
} hold_case;

static int hold(void *arg)
{
    hold_case *c = arg;
    test_set(&c->held, 1);
    test_await(&c->release, 1);
    return 0;
}

/* `others`: the pool has a worker that is not held. */
static void times_out(hold_case *c, bool others)
{
    test_set(&c->held, 0);
    test_set(&c->release, 0);
    test_set(&c->ran, 0);
    assert_int_equal(ws_spawn(c->pool, hold, c), WS_OK);
    test_await(&c->held, 1);
    for (uint64_t timeout = 0; timeout <= MILLISECOND;
         timeout = timeout * 10 + 1) {
        uint64_t ran = test_get(&c->ran);
        uint64_t begin = ws_clock_ns();
        assert_int_equal(ws_pool_destroy_timeout(c->pool, timeout),
                         WS_ETIMEDOUT);
        assert_true(ws_clock_ns() - begin >= timeout);
        assert_int_equal(ws_spawn(c->pool, add_one, &c->ran), WS_OK);
        if (others) {
            assert_int_equal(ws_pool_install(c->pool, add_one, &c->ran), 0);
            assert_true(test_get(&c->ran) > ran);
        }
    }
    assert_int_equal(ws_pool_destroy_timeout(c->pool, 0), WS_ETIMEDOUT);
    test_set(&c->release, 1);
}

static void check_held(ws_pool *pool)
{
    hold_case c = {.pool = pool};
    times_out(&c, ws_pool_num_workers(pool) > 1);
    assert_int_equal(ws_pool_install(pool, add_one, &c.ran), 0);
    /* Once more, so that the second hold finds what the first has left. */
    test_await_sleep(pool);
    times_out(&c, ws_pool_num_workers(pool) > 1);
    /* The held job reads `c` to its end. */
    test_await_sleep(pool);
}

static void held_job_times_out_and_the_pool_still_works(void **state)
{
    (void)state;
    test_in_each_pool(check_held);
}

/* ---- the end --------------------------------------------------------- */

static void no_job_is_ok_at_once(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(500); i > 0; i--) {
        ws_pool *pool = test_pool(1 + (unsigned)i % 4, (unsigned)i / 4 % 3);
        if (i % 2 == 0) {
            test_await_sleep(pool);
        }
        assert_int_equal(ws_pool_destroy_timeout(pool, 0), WS_OK);
    }
    for (size_t i = 0; i < FAR_TIMEOUTS; i++) {
        ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
        assert_int_equal(ws_pool_destroy_timeout(pool, far_timeouts[i]), WS_OK);
    }
}

/* Releases the job when it alone holds the pool open. */
static void *release_in_destroy(void *arg)
{
    hold_case *c = arg;
    /* relaxed: the number only */
    while (wsi_u32_load_relaxed(&c->pool->open) != 1) {
        wsi_thread_yield();
    }
    test_set(&c->release, 1);
    return NULL;
}

static void returns_early_when_the_last_job_ends(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        hold_case c = {.pool = test_pool(1 + (unsigned)i % 3, i % 2 + 1)};
        assert_int_equal(ws_spawn(c.pool, hold, &c), WS_OK);
        test_await(&c.held, 1);
        pthread_t thread = test_thread(release_in_destroy, &c);
        assert_int_equal(
            ws_pool_destroy_timeout(c.pool, far_timeouts[i % FAR_TIMEOUTS]),
            WS_OK);
        test_join_thread(thread);
    }
}

typedef struct {
    unsigned depth;
    test_counter *leaves;
} tree;

static int spawn_down(void *arg)
{
    const tree *t = arg;
    tree next = {t->depth - 1, t->leaves};
    if (t->depth == 0) {
        return add_one(t->leaves);
    }
    WS_TEST_REQUIRE(ws_spawn_copy(NULL, spawn_down, &next, sizeof(next)) ==
                    WS_OK);
    WS_TEST_REQUIRE(ws_spawn_copy(NULL, spawn_down, &next, sizeof(next)) ==
                    WS_OK);
    return 0;
}

static void far_timeout_runs_what_spawns_spawn(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        const unsigned workers = 1 + i % 4;
        const unsigned policy = WS_WAIT_ANY + i / 4 % 2;
        ws_pool *pool =
            i < 8 ? test_pool(workers, policy) : own_pool(workers, policy);
        test_counter leaves = {0};
        tree top = {ws_test_scale(20) > 10 ? 12 : 6, &leaves};
        assert_int_equal(ws_spawn_copy(pool, spawn_down, &top, sizeof(top)),
                         WS_OK);
        assert_int_equal(ws_pool_destroy_timeout(pool, HOUR), WS_OK);
        assert_int_equal(test_get(&leaves), 1 << top.depth);
        assert_int_equal(ws_current_index(), -1);
    }
}

/* ---- around the deadline --------------------------------------------- */

typedef struct {
    uint64_t length_ns;
    unsigned depth;
    test_counter *ran;
} busy;

/* Computes for a while; with a depth it leaves another one behind. */
static int be_busy(void *arg)
{
    const busy *b = arg;
    uint64_t begin = wsi_clock_ns();
    while (wsi_clock_ns() - begin < b->length_ns) {
        wsi_cpu_relax();
    }
    if (b->depth > 0) {
        busy next = {b->length_ns, b->depth - 1, b->ran};
        WS_TEST_REQUIRE(ws_spawn_copy(NULL, be_busy, &next, sizeof(next)) ==
                        WS_OK);
    }
    return add_one(b->ran);
}

static void race_with_the_deadline(ws_pool *pool, uint64_t *random)
{
    test_counter ran = {0};
    uint64_t expected = 0;
    int code = WS_ETIMEDOUT;
    do {
        for (uint64_t n = ws_test_random(random) % 3; n > 0; n--) {
            busy b = {ws_test_random(random) % (20 * MICROSECOND),
                      ws_test_random(random) % 2, &ran};
            expected += 1 + b.depth;
            assert_int_equal(ws_spawn_copy(pool, be_busy, &b, sizeof(b)),
                             WS_OK);
        }
        code = ws_pool_destroy_timeout(pool, ws_test_random(random) %
                                                 (40 * MICROSECOND));
    } while (code == WS_ETIMEDOUT);
    assert_int_equal(code, WS_OK);
    assert_int_equal(test_get(&ran), expected);
}

static void last_job_ends_around_the_deadline_stress(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (size_t i = ws_test_scale(4000); i > 0; i--) {
        race_with_the_deadline(test_pool(1 + (unsigned)i % 3, i / 3 % 2 + 1),
                               &random);
    }
}

static void last_job_ends_around_the_creators_deadline_stress(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (size_t i = ws_test_scale(4000); i > 0; i--) {
        race_with_the_deadline(own_pool(1 + (unsigned)i % 3, i / 3 % 2 + 1),
                               &random);
        assert_int_equal(ws_current_index(), -1);
    }
}

/* ---- what is refused ------------------------------------------------- */

static const uint64_t timeouts[] = {0, MILLISECOND, UINT64_MAX};

static int destroy_all_ways(void *arg)
{
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
        if (ws_pool_destroy_timeout(arg, timeouts[i]) != WS_EINWORKER) {
            return 1;
        }
    }
    return ws_pool_destroy(arg);
}

static void check_refused_inside(ws_pool *pool)
{
    test_counter sum = {0};
    assert_int_equal(ws_pool_install(pool, destroy_all_ways, pool),
                     WS_EINWORKER);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    assert_int_equal(test_get(&sum), 1);
}

static void destroy_inside_is_refused(void **state)
{
    (void)state;
    test_in_each_pool(check_refused_inside);
}

static void null_and_the_global_pool_are_refused(void **state)
{
    (void)state;
    ws_pool *pool = NULL;
    test_counter sum = {0};
    assert_int_equal(ws_pool_global(&pool), WS_OK);
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
        assert_int_equal(ws_pool_destroy_timeout(NULL, timeouts[i]), WS_EINVAL);
        assert_int_equal(ws_pool_destroy_timeout(pool, timeouts[i]), WS_EINVAL);
    }
    assert_int_equal(ws_pool_install(NULL, add_one, &sum), 0);
    assert_int_equal(test_get(&sum), 1);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static int time_out_abroad(void *arg)
{
    hold_case *c = arg;
    WS_TEST_REQUIRE(ws_pool_destroy_timeout(c->pool, MILLISECOND) ==
                    WS_ETIMEDOUT);
    test_set(&c->release, 1);
    return ws_pool_destroy_timeout(c->pool, HOUR);
}

static void destroy_in_another_pools_worker(void **state)
{
    (void)state;
    ws_pool *outer = test_pool(1, WS_WAIT_DEFAULT);
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        hold_case c = {.pool = test_pool(2, p)};
        assert_int_equal(ws_spawn(c.pool, hold, &c), WS_OK);
        test_await(&c.held, 1);
        assert_int_equal(ws_pool_install(outer, time_out_abroad, &c), WS_OK);
    }
    test_destroy(outer);
}

/* ---- the creator's thread -------------------------------------------- */

static void creator_times_out_and_tries_again(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers++) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            hold_case c = {.pool = own_pool(workers, p)};
            times_out(&c, true);
            assert_int_equal(ws_current_index(), 0);
            assert_int_equal(ws_pool_destroy_timeout(c.pool, HOUR), WS_OK);
            assert_int_equal(ws_current_index(), -1);
        }
    }
}

static void *destroy_elsewhere(void *arg)
{
    WS_TEST_REQUIRE(destroy_all_ways(arg) == WS_EINWORKER);
    return NULL;
}

static int refuse_in_spawn(void *arg)
{
    hold_case *c = arg;
    WS_TEST_REQUIRE(destroy_all_ways(c->pool) == WS_EINWORKER);
    return add_one(&c->ran);
}

static void only_the_creator_destroys(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        hold_case c = {.pool = own_pool(workers, WS_WAIT_DEFAULT)};
        test_join_thread(test_thread(destroy_elsewhere, c.pool));
        for (uint64_t i = 0; i < 10; i++) { /* here, and on the other worker */
            assert_int_equal(ws_spawn(c.pool, refuse_in_spawn, &c), WS_OK);
            while (test_get(&c.ran) <= i) {
                ws_yield_now();
            }
        }
        assert_int_equal(ws_current_index(), 0);
        test_destroy(c.pool);
        assert_int_equal(test_get(&c.ran), 10);
    }
}

static int destroy_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return destroy_all_ways(arg);
}

static int no_work(void *arg)
{
    (void)arg;
    return 0;
}

/* Plain calls on the creator's thread, but jobs all the same. */
static void destroy_in_a_call_of_the_creator_is_refused(void **state)
{
    (void)state;
    ws_pool *pool = own_pool(1, WS_WAIT_DEFAULT);
    const ws_task task = {destroy_all_ways, pool, NULL};
    assert_int_equal(ws_pool_install(pool, destroy_all_ways, pool),
                     WS_EINWORKER);
    assert_int_equal(ws_join(destroy_all_ways, pool, no_work, NULL),
                     WS_EINWORKER);
    assert_int_equal(ws_join(no_work, NULL, destroy_all_ways, pool),
                     WS_EINWORKER);
    assert_int_equal(ws_invoke(1, &task), WS_EINWORKER);
    assert_int_equal(ws_scope(destroy_in_scope, pool), WS_EINWORKER);
    assert_int_equal(ws_current_index(), 0);
    test_destroy(pool);
}

static void creator_can_make_pools_again(void **state)
{
    (void)state;
    ws_pool *other = test_pool(1, WS_WAIT_DEFAULT);
    for (size_t i = ws_test_scale(500); i > 0; i--) {
        test_counter ran = {0};
        ws_pool *pool = own_pool(1 + (unsigned)i % 3, i / 3 % 2 + 1);
        assert_int_equal(ws_pool_current_index(pool), 0);
        assert_int_equal(ws_pool_install(other, add_one, &ran), 0);
        for (int k = 0; k < 20; k++) {
            assert_int_equal(ws_spawn(pool, add_one, &ran), WS_OK);
            assert_int_equal(ws_spawn_fifo(pool, add_one, &ran), WS_OK);
        }
        test_destroy(pool);
        assert_int_equal(test_get(&ran), 41);
        assert_int_equal(ws_current_index(), -1);
        assert_int_equal(ws_pool_current_index(other), -1);
        assert_int_equal(ws_yield_now(), WS_YIELD_NO_POOL);
        assert_int_equal(ws_has_pending(), -1);
    }
    test_destroy(other);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(held_job_times_out_and_the_pool_still_works),
    cmocka_unit_test(no_job_is_ok_at_once),
    cmocka_unit_test(returns_early_when_the_last_job_ends),
    cmocka_unit_test(far_timeout_runs_what_spawns_spawn),
    cmocka_unit_test(last_job_ends_around_the_deadline_stress),
    cmocka_unit_test(last_job_ends_around_the_creators_deadline_stress),
    cmocka_unit_test(destroy_inside_is_refused),
    cmocka_unit_test(null_and_the_global_pool_are_refused),
    cmocka_unit_test(destroy_in_another_pools_worker),
    cmocka_unit_test(creator_times_out_and_tries_again),
    cmocka_unit_test(only_the_creator_destroys),
    cmocka_unit_test(destroy_in_a_call_of_the_creator_is_refused),
    cmocka_unit_test(creator_can_make_pools_again),
};
WS_TEST_MAIN(tests)
