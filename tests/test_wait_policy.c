/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_wait_policy.c: what runs on top of a job that waits.  WS_WAIT_SUBTREE:
 * only its own descendants, so that a lock may be held and thread-local state
 * kept across the wait; WS_WAIT_ANY: anything, which is shown here as well.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>

/* ---- a lock held across an inner join or scope ----------------------- */

static pthread_mutex_t mutex;
static test_counter deadlocks;
static test_counter bodies;
static _Thread_local uint64_t local_value;

static void make_mutex(void)
{
    pthread_mutexattr_t attr;
    assert_int_equal(pthread_mutexattr_init(&attr), 0);
    assert_int_equal(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK),
                     0);
    assert_int_equal(pthread_mutex_init(&mutex, &attr), 0);
    pthread_mutexattr_destroy(&attr);
    test_set(&deadlocks, 0);
    test_set(&bodies, 0);
}

static void lock(void)
{
    int error = pthread_mutex_lock(&mutex);
    if (error == EDEADLK) {
        test_add(&deadlocks, 1);
    } else {
        WS_TEST_REQUIRE(error == 0);
    }
}

static int inner_work(void *arg)
{
    (void)arg;
    for (volatile int i = 0; i < 200; i++) {
    }
    test_add(&bodies, 1);
    return 0;
}

static int inner_job(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return inner_work(arg);
}

static int inner_scope(struct ws_scope *scope, void *arg)
{
    ws_scope_spawn(scope, inner_job, arg);
    ws_scope_spawn(scope, inner_job, arg);
    return 0;
}

/* Holds the lock and a thread-local value around something parallel. */
static int outer_job(struct ws_scope *scope, void *arg)
{
    static test_counter next;
    uint64_t mine = test_add(&next, 1);
    (void)scope;
    lock();
    local_value = mine;
    if (mine % 2 == 0) {
        ws_join(inner_work, arg, inner_work, arg);
    } else {
        ws_scope(inner_scope, arg);
    }
    WS_TEST_REQUIRE(local_value == mine);
    WS_TEST_REQUIRE(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}

static int outer_scope(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < 8; i++) {
        ws_scope_spawn(scope, outer_job, arg);
    }
    return 0;
}

static int open_outer(void *arg)
{
    return ws_scope(outer_scope, arg);
}

static void lock_is_safe_across_a_wait(void **state)
{
    (void)state;
    const size_t rounds = ws_test_scale(10000);
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_SUBTREE);
        make_mutex();
        for (size_t i = 0; i < rounds; i++) {
            assert_int_equal(ws_pool_install(pool, open_outer, NULL), 0);
        }
        assert_int_equal(test_get(&deadlocks), 0);
        assert_int_equal(test_get(&bodies), rounds * 16);
        pthread_mutex_destroy(&mutex);
        test_destroy(pool);
    }
}

/* ---- the waiter helps the thief (leapfrogging) ----------------------- */

typedef struct {
    ws_pool *pool;
    test_counter pushed; /* what the waiter shall take is in a deque */
    test_counter done;   /* it has run */
    pthread_t waiter;    /* the thread that waits */
    pthread_t ran_by;    /* the thread that took it */
    struct ws_scope *scope;
} frog;

/* A thousand times slower: the waiter does not give up to sleep before it
 * could take the job, however busy the machine is. */
static uint64_t slow_clock(void)
{
    return wsi_clock_ns_real() / 1000;
}

static int be_taken(void *arg)
{
    frog *f = arg;
    f->ran_by = pthread_self();
    test_set(&f->done, 1);
    return 0;
}

static int until_taken(void *arg)
{
    frog *f = arg;
    test_set(&f->pushed, 1);
    test_await(&f->done, 1);
    return 0;
}

static int thief_forks(void *arg)
{
    return ws_join(until_taken, arg, be_taken, arg);
}

static int until_pushed(void *arg)
{
    frog *f = arg;
    f->waiter = pthread_self();
    test_await(&f->pushed, 1);
    return 0;
}

static int wait_in_join(void *arg)
{
    return ws_join(until_pushed, arg, thief_forks, arg);
}

static int be_taken_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return be_taken(arg);
}

static int thief_spawns(struct ws_scope *scope, void *arg)
{
    WS_TEST_REQUIRE(ws_scope_spawn(scope, be_taken_in_scope, arg) == WS_OK);
    return until_taken(arg);
}

static int spawn_for_thief(struct ws_scope *scope, void *arg)
{
    WS_TEST_REQUIRE(ws_scope_spawn(scope, thief_spawns, arg) == WS_OK);
    return until_pushed(arg);
}

static int wait_in_scope(void *arg)
{
    return ws_scope(spawn_for_thief, arg);
}

/* The thief blocks until the waiter has run a job of it: no leap, no end. */
static void check_leap(ws_fn fn, unsigned policy)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.wait_policy = policy;
    config.search_us = 1000 * 1000;
    wsi_port_ops.clock_ns = slow_clock;
    ws_pool *pool = test_pool_with(&config);
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        frog f = {.pool = pool};
        assert_int_equal(ws_pool_install(pool, fn, &f), 0);
        assert_true(pthread_equal(f.waiter, f.ran_by));
    }
    test_destroy(pool);
    wsi_port_ops.clock_ns = wsi_clock_ns_real;
}

static void waiter_of_a_join_leapfrogs(void **state)
{
    (void)state;
    check_leap(wait_in_join, WS_WAIT_SUBTREE);
    check_leap(wait_in_join, WS_WAIT_ANY);
}

static void waiter_of_a_scope_leapfrogs(void **state)
{
    (void)state;
    check_leap(wait_in_scope, WS_WAIT_SUBTREE);
    check_leap(wait_in_scope, WS_WAIT_ANY);
}

/* ---- unrelated jobs -------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter stolen;  /* b runs on the other worker */
    test_counter release; /* b may end */
    test_counter strange; /* the unrelated job has run */
    test_counter strange_on_waiter;
    unsigned waiter;
    bool waiting; /* the waiter's own: a wait is open on its stack */
} stranger;

static int be_strange(void *arg)
{
    stranger *s = arg;
    if ((unsigned)ws_current_index() == s->waiter && s->waiting) {
        test_set(&s->strange_on_waiter, 1);
    }
    test_set(&s->strange, 1);
    return 0;
}

static int until_stolen(void *arg)
{
    stranger *s = arg;
    test_await(&s->stolen, 1);
    return 0;
}

static int hold_the_thief(void *arg)
{
    stranger *s = arg;
    test_set(&s->stolen, 1);
    test_await(&s->release, 1);
    return 0;
}

static int wait_for_the_thief(void *arg)
{
    stranger *s = arg;
    s->waiter = (unsigned)ws_current_index();
    s->waiting = true;
    int code = ws_join(until_stolen, arg, hold_the_thief, arg);
    s->waiting = false;
    return code;
}

/* A job from outside comes while one worker holds, the other one waits. */
static void *bring_a_stranger(void *arg)
{
    stranger *s = arg;
    test_await(&s->stolen, 1);
    WS_TEST_REQUIRE(ws_spawn(s->pool, be_strange, s) == WS_OK);
    test_await(&s->strange, 1);
    test_set(&s->release, 1);
    return NULL;
}

static void check_stranger(ws_pool *pool)
{
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        stranger s = {.pool = pool};
        pthread_t thread = test_thread(bring_a_stranger, &s);
        assert_int_equal(ws_pool_install(pool, wait_for_the_thief, &s), 0);
        test_join_thread(thread);
        test_await(&s.strange, 1);
        assert_int_equal(test_get(&s.strange_on_waiter), !pool->plan.subtree);
        /* `s` lives in this frame: be_strange() must have returned. */
        test_await_sleep(pool);
    }
}

static void unrelated_job_runs_in_a_wait_only_with_any(void **state)
{
    (void)state;
    test_in_pools_of(2, check_stranger);
}

/* ---- a join whose second half has run already ------------------------ */

typedef struct {
    test_counter b2_runs;
    test_counter b1_runs;
} detour;

/* Runs b2 before the join comes to it. */
static int a2(void *arg)
{
    detour *d = arg;
    WS_TEST_REQUIRE(ws_yield_local() == WS_YIELD_EXECUTED);
    WS_TEST_REQUIRE(test_get(&d->b2_runs) == 1);
    return 0;
}

static int b2(void *arg)
{
    detour *d = arg;
    test_set(&d->b2_runs, 1);
    return 0;
}

static int a1(void *arg)
{
    detour *d = arg;
    lock();
    int code = ws_join(a2, arg, b2, arg);
    /* Not part of the inner join, so still to do. */
    WS_TEST_REQUIRE(test_get(&d->b1_runs) == 0);
    WS_TEST_REQUIRE(pthread_mutex_unlock(&mutex) == 0);
    return code;
}

static int b1(void *arg)
{
    detour *d = arg;
    lock();
    test_add(&d->b1_runs, 1);
    WS_TEST_REQUIRE(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}

static int join_detour(void *arg)
{
    return ws_join(a1, arg, b1, arg);
}

/* The inner join must not take b1 for b2. */
static void inner_join_leaves_the_outer_half_alone(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_SUBTREE);
    detour d = {.b2_runs = {0}};
    make_mutex();
    assert_int_equal(ws_pool_install(pool, join_detour, &d), 0);
    assert_int_equal(test_get(&d.b1_runs), 1);
    assert_int_equal(test_get(&deadlocks), 0);
    pthread_mutex_destroy(&mutex);
    test_destroy(pool);
}

/* ---- fairness -------------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter owner; /* index + 1 of the scope's owner */
    test_counter stolen;
    test_counter injected;
} fair_case;

static int last_of_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    return 0;
}

/* Leaves one more job of the scope in the thief's deque when the scope's owner
 * can no longer see that the thief works for it. */
static int leaves_a_job(struct ws_scope *scope, void *arg)
{
    fair_case *c = arg;
    test_set(&c->stolen, 1);
    test_await(&c->injected, 1);
    test_await_sleep_of(c->pool, (unsigned)test_get(&c->owner) - 1);
    return ws_scope_spawn(scope, last_of_scope, c);
}

static int fair_body(struct ws_scope *scope, void *arg)
{
    fair_case *c = arg;
    test_set(&c->owner, (uint64_t)ws_current_index() + 1);
    ws_scope_spawn(scope, leaves_a_job, c);
    test_await(&c->stolen, 1);
    return 0;
}

static int scope_in_lock(void *arg)
{
    int code;
    pthread_mutex_lock(&mutex);
    code = ws_scope(fair_body, arg);
    pthread_mutex_unlock(&mutex);
    return code;
}

static int lock_only(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

static void *install_scope_in_lock(void *arg)
{
    fair_case *c = arg;
    WS_TEST_REQUIRE(ws_pool_install(c->pool, scope_in_lock, c) == 0);
    return NULL;
}

/* An injected job that wants the lock must not come before what the scope that
 * is waited for in the lock has left. */
static void fairness_leaves_a_scopes_jobs_first(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    fair_case c = {0};
    config.num_threads = 2;
    config.wait_policy = WS_WAIT_SUBTREE;
    config.fairness_interval = 1;
    c.pool = test_pool_with(&config);
    make_mutex();
    pthread_t thread = test_thread(install_scope_in_lock, &c);
    test_await(&c.stolen, 1);
    assert_int_equal(ws_spawn(c.pool, lock_only, NULL), WS_OK);
    test_set(&c.injected, 1);
    test_join_thread(thread);
    test_destroy(c.pool);
    pthread_mutex_destroy(&mutex);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lock_is_safe_across_a_wait),
    cmocka_unit_test(waiter_of_a_join_leapfrogs),
    cmocka_unit_test(waiter_of_a_scope_leapfrogs),
    cmocka_unit_test(unrelated_job_runs_in_a_wait_only_with_any),
    cmocka_unit_test(inner_join_leaves_the_outer_half_alone),
    cmocka_unit_test(fairness_leaves_a_scopes_jobs_first),
};
WS_TEST_MAIN(tests)
