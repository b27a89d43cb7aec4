/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_seats.c: seat lending: while a worker waits and has nothing of its own
 * to do, a spare thread works in its place; and what happens when no spare can
 * be had.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>

/* ---- a worker that waits, and work that is not for it ---------------- */

typedef struct {
    ws_pool *pool;
    test_counter held;    /* the other half runs */
    test_counter release; /* and may end */
    test_counter ran;     /* unrelated jobs that have run */
    test_counter indices; /* bit set of who ran them */
} wait_case;

static int note_index(void *arg)
{
    wait_case *c = arg;
    uint64_t bit = (uint64_t)1 << ws_current_index();
    if ((test_get(&c->indices) & bit) == 0) {
        test_add(&c->indices, bit);
    }
    test_add(&c->ran, 1);
    return 0;
}

static int until_held(void *arg)
{
    test_await(&((wait_case *)arg)->held, 1);
    return 0;
}

static int hold(void *arg)
{
    wait_case *c = arg;
    test_set(&c->held, 1);
    test_await(&c->release, 1);
    return 0;
}

static int wait_for_held(void *arg)
{
    return ws_join(until_held, arg, hold, arg);
}

static void *enter(void *arg)
{
    wait_case *c = arg;
    WS_TEST_REQUIRE(ws_pool_install(c->pool, wait_for_held, c) == 0);
    return NULL;
}

static ws_pool *pool_with_spares(unsigned workers, unsigned max_spares,
                                 uint64_t patience_ns)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    wsi_pool_plan plan;
    ws_pool *pool = NULL;
    config.num_threads = workers;
    config.max_spares = max_spares;
    assert_int_equal(wsi_pool_plan_make(&plan, &config), WS_OK);
    plan.patience_ns = patience_ns;
    assert_int_equal(wsi_pool_start(&pool, &plan), WS_OK);
    return pool;
}

/* Both workers are bound, one holds, one waits; `n` jobs come. */
static void run_beside(wait_case *c, uint64_t n)
{
    test_set(&c->held, 0);
    test_set(&c->release, 0);
    test_set(&c->ran, 0);
    test_set(&c->indices, 0);
    pthread_t thread = test_thread(enter, c);
    test_await(&c->held, 1);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(ws_spawn(c->pool, note_index, c), WS_OK);
    }
    test_await(&c->ran, n);
    test_set(&c->release, 1);
    test_join_thread(thread);
}

static void spare_works_while_a_worker_waits(void **state)
{
    (void)state;
    wait_case c = {.pool = pool_with_spares(2, 2, UINT64_MAX)};
    bool first = true;
    assert_int_equal(ws_pool_num_workers(c.pool), 2);
    assert_int_equal(ws_pool_worker_slots(c.pool), 4);
    for (size_t i = ws_test_scale(500); i > 0; i--) {
        run_beside(&c, 10);
        /* The two that hold and wait are not among them; later a spare may be
         * one of these two. */
        assert_int_equal(test_get(&c.indices) & (first ? 3 : ~(uint64_t)15), 0);
        first = false;
    }
    assert_true(test_totals(c.pool).lent > 0);
    test_destroy(c.pool);
}

static void spare_ends_when_it_is_not_needed(void **state)
{
    (void)state;
    wait_case c = {.pool = pool_with_spares(2, 1, 0)};
    for (size_t i = ws_test_scale(300); i > 0; i--) {
        run_beside(&c, 2);
    }
    test_destroy(c.pool);
}

/* ---- no spare -------------------------------------------------------- */

static test_counter refuses;
static test_counter refused;

static int create_or_refuse(pthread_t *out, const pthread_attr_t *attr,
                            wsi_thread_fn fn, void *arg)
{
    if (test_get(&refuses) == 0) {
        return pthread_create(out, attr, fn, arg);
    }
    test_add(&refused, 1);
    return EPERM;
}

static void job_waits_when_no_spare_can_be_had(ws_pool *pool)
{
    wait_case c = {.pool = pool};
    pthread_t thread = test_thread(enter, &c);
    test_await(&c.held, 1);
    assert_int_equal(ws_spawn(pool, note_index, &c), WS_OK);
    while (test_totals(pool).lent == 0) {
        wsi_thread_yield();
    }
    assert_int_equal(test_get(&c.ran), 0);
    test_set(&c.release, 1);
    test_join_thread(thread);
    test_await(&c.ran, 1);
}

static void pool_without_spares_idles_and_goes_on(void **state)
{
    (void)state;
    ws_pool *pool = pool_with_spares(2, WS_NO_SPARES, UINT64_MAX);
    assert_int_equal(ws_pool_worker_slots(pool), 2);
    job_waits_when_no_spare_can_be_had(pool);
    test_destroy(pool);
}

static void refused_thread_is_no_spare(void **state)
{
    (void)state;
    wsi_port_ops_table real_ops = wsi_port_ops;
    wsi_port_ops.thread_create = create_or_refuse;
    ws_pool *pool = pool_with_spares(2, 1, UINT64_MAX);
    test_set(&refuses, 1);
    job_waits_when_no_spare_can_be_had(pool);
    assert_true(test_get(&refused) > 0);
    test_set(&refuses, 0);
    wait_case c = {.pool = pool};
    run_beside(&c, 1);
    assert_int_equal(test_get(&c.indices), 4);
    test_destroy(pool);
    wsi_port_ops = real_ops;
}

/* ---- pools that wait for each other ---------------------------------- */

typedef struct {
    ws_pool *pools[2];
    unsigned left;
} volley;

static int bounce(void *arg)
{
    volley *v = arg;
    if (v->left == 0) {
        return 7;
    }
    v->left--;
    return ws_pool_install(v->pools[v->left % 2], bounce, v);
}

/* To a depth that no number of spares covers. */
static void check_bounce(unsigned policy, unsigned max_spares)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.wait_policy = policy;
    config.max_spares = max_spares;
    volley v = {.pools = {test_pool_with(&config), test_pool_with(&config)}};
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        v.left = 100;
        assert_int_equal(bounce(&v), 7);
    }
    test_destroy(v.pools[0]);
    test_destroy(v.pools[1]);
}

static void mutual_install_to_a_great_depth(void **state)
{
    (void)state;
    check_bounce(WS_WAIT_SUBTREE, WS_NO_SPARES);
    check_bounce(WS_WAIT_SUBTREE, 1);
    check_bounce(WS_WAIT_SUBTREE, 0);
    check_bounce(WS_WAIT_ANY, 0);
}

/* ---- a lock held across a wait --------------------------------------- */

static pthread_mutex_t mutex;
static test_counter deadlocks;
static bool initialised;
static test_counter inits;

static int part_of_init(void *arg)
{
    (void)arg;
    for (volatile int i = 0; i < 500; i++) {
    }
    test_add(&inits, 1);
    return 0;
}

static int user_of_init(struct ws_scope *scope, void *arg)
{
    (void)scope;
    if (pthread_mutex_lock(&mutex) == EDEADLK) {
        test_add(&deadlocks, 1);
        return 0;
    }
    if (!initialised) {
        ws_join(part_of_init, arg, part_of_init, arg);
        initialised = true;
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}

static int users_of_init(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < 8; i++) {
        ws_scope_spawn(scope, user_of_init, arg);
    }
    return 0;
}

static void once_init_that_runs_in_parallel(void **state)
{
    (void)state;
    pthread_mutexattr_t attr;
    assert_int_equal(pthread_mutexattr_init(&attr), 0);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    assert_int_equal(pthread_mutex_init(&mutex, &attr), 0);
    pthread_mutexattr_destroy(&attr);
    const size_t rounds = ws_test_scale(10000);
    ws_pool *pool = test_pool(3, WS_WAIT_DEFAULT);
    for (size_t i = 0; i < rounds; i++) {
        initialised = false;
        assert_int_equal(ws_scope_in(pool, 0, users_of_init, NULL), 0);
    }
    assert_int_equal(test_get(&deadlocks), 0);
    assert_int_equal(test_get(&inits), 2 * rounds);
    pthread_mutex_destroy(&mutex);
    test_destroy(pool);
}

/* ---- a spare on its way to park -------------------------------------- */

static test_counter parking;
static test_counter go_on;

static void stop_at_park(wsi_point point, void *object)
{
    (void)object;
    if (point == WSI_POINT_PARK && test_add(&parking, 1) == 0) {
        test_await(&go_on, 1);
    }
}

/* A lender finds the spare PARKED before it has given up its seat: it then has
 * two, and the second one must not be lost. */
static void spare_that_is_needed_while_it_parks(void **state)
{
    (void)state;
    wsi_port_ops.at_point = stop_at_park;
    wait_case c = {.pool = pool_with_spares(2, 1, UINT64_MAX)};
    run_beside(&c, 1);
    while (test_get(&parking) == 0) {
        /* It may be asleep, and must be woken to see that it is too many. */
        assert_int_equal(ws_spawn(c.pool, note_index, &c), WS_OK);
        wsi_thread_yield();
    }
    test_await_sleep_of(c.pool, 0);
    test_await_sleep_of(c.pool, 1);
    test_set(&c.held, 0);
    test_set(&c.release, 0);
    test_set(&c.ran, 0);
    uint64_t lent = test_totals(c.pool).lent;
    pthread_t thread = test_thread(enter, &c);
    test_await(&c.held, 1);
    assert_int_equal(ws_spawn(c.pool, note_index, &c), WS_OK);
    while (test_totals(c.pool).lent == lent) {
        wsi_thread_yield();
    }
    test_set(&go_on, 1);
    test_await(&c.ran, 1);
    test_set(&c.release, 1);
    test_join_thread(thread);
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        run_beside(&c, 3);
    }
    test_destroy(c.pool);
    wsi_port_ops.at_point = NULL;
}

/* ---- a spare that starts another one --------------------------------- */

enum {
    TAKEN = 2,
    GONE = 3
};

static ws_pool *abroad;
static test_counter held_abroad[4];
static test_counter free_abroad[4];
static test_counter at_home; /* jobs of the pool that have begun */
static test_counter in_spare[2];
static test_counter leave_spare[2];
static unsigned index_of_spare[2];
static test_counter park_armed;
static test_counter create_armed;
static test_counter creating;
static test_counter may_create;

static int stay_abroad(void *arg)
{
    size_t k = (size_t)(uintptr_t)arg;
    test_set(&held_abroad[k], 1);
    test_await(&free_abroad[k], 1);
    return 0;
}

/* Two of them, one on each worker of the pool. */
static int go_abroad(void *arg)
{
    size_t k = (size_t)(uintptr_t)arg;
    test_add(&at_home, 1);
    test_await(&at_home, k < 2 ? 2 : 4);
    return ws_pool_install(abroad, stay_abroad, arg);
}

static int stay_in_spare(void *arg)
{
    size_t k = (size_t)(uintptr_t)arg;
    index_of_spare[k] = (unsigned)ws_current_index();
    test_set(&in_spare[k], 1);
    test_await(&leave_spare[k], 1);
    return 0;
}

static int no_work(void *arg)
{
    (void)arg;
    return 0;
}

static void stop_armed_park(wsi_point point, void *object)
{
    (void)object;
    if (point == WSI_POINT_PARK && test_get(&park_armed) != 0 &&
        test_add(&parking, 1) == 0) {
        test_await(&go_on, 1);
    }
}

static int create_when_allowed(pthread_t *out, const pthread_attr_t *attr,
                               wsi_thread_fn fn, void *arg)
{
    if (test_get(&create_armed) != 0) {
        test_add(&creating, 1);
        test_await(&may_create, 1);
    }
    return pthread_create(out, attr, fn, arg);
}

static void *destroy(void *pool)
{
    WS_TEST_REQUIRE(ws_pool_destroy(pool) == WS_OK);
    return NULL;
}

static void send(ws_pool *pool, ws_fn fn, size_t k)
{
    assert_int_equal(ws_spawn(pool, fn, (void *)(uintptr_t)k), WS_OK);
}

static void await_state(ws_pool *pool, unsigned spare, uint32_t state)
{
    /* acquire: pairs with whoever changes it */
    while (wsi_u32_load_acquire(&pool->spare_seats[spare].state) != state) {
        wsi_thread_yield();
    }
}

static void await_surplus(ws_pool *pool)
{
    while (!wsi_seats_surplus(&pool->seats)) {
        wsi_thread_yield();
    }
}

static void await_open(ws_pool *pool, uint32_t open)
{
    /* acquire: pairs with wsi_pool_leave() */
    while (wsi_u32_load_acquire(&pool->open) > open) {
        wsi_thread_yield();
    }
}

/* A spare that gets a second seat while it parks starts a thread for it, in no
 * job: the pool must not end meanwhile. */
static void pool_does_not_end_while_a_spare_is_started(void **state)
{
    (void)state;
    wsi_port_ops_table real_ops = wsi_port_ops;
    wsi_port_ops.at_point = stop_armed_park;
    wsi_port_ops.thread_create = create_when_allowed;
    test_set(&parking, 0);
    test_set(&go_on, 0);
    ws_pool *pool = pool_with_spares(2, 2, 0);
    abroad = test_pool(4, WS_WAIT_DEFAULT);
    /* Both workers wait abroad, both spares work. */
    for (size_t k = 0; k < 2; k++) {
        send(pool, go_abroad, k);
    }
    test_await(&held_abroad[0], 1);
    test_await(&held_abroad[1], 1);
    for (size_t k = 0; k < 2; k++) {
        send(pool, stay_in_spare, k);
        test_await(&in_spare[k], 1);
    }
    size_t first = index_of_spare[0] == 2 ? 0 : 1;
    /* One worker comes back: spare 0 ends. */
    test_set(&free_abroad[0], 1);
    await_surplus(pool);
    test_set(&leave_spare[first], 1);
    await_state(pool, 0, GONE);
    /* The other one too: spare 1 is on its way to park. */
    test_set(&free_abroad[1], 1);
    await_surplus(pool);
    test_set(&park_armed, 1);
    test_set(&leave_spare[1 - first], 1);
    test_await(&parking, 1);
    /* Both lend again; one of them takes spare 1. */
    for (size_t k = 2; k < 4; k++) {
        send(pool, go_abroad, k);
        test_await(&at_home, k + 1);
    }
    test_await(&held_abroad[2], 1);
    test_await(&held_abroad[3], 1);
    send(pool, no_work, 0);
    await_state(pool, 1, TAKEN);
    while ((int32_t)wsi_u32_load_relaxed(&pool->seats.vacant) < 0) {
        wsi_thread_yield();
    }
    test_set(&create_armed, 1);
    test_set(&go_on, 1);
    test_await(&creating, 1);
    test_set(&free_abroad[2], 1);
    test_set(&free_abroad[3], 1);
    pthread_t thread = test_thread(destroy, pool);
    await_open(pool, 1);
    assert_int_equal(wsi_u32_load_relaxed(&pool->open), 1);
    test_set(&may_create, 1);
    test_join_thread(thread);
    test_destroy(abroad);
    wsi_port_ops = real_ops;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(spare_works_while_a_worker_waits),
    cmocka_unit_test(spare_ends_when_it_is_not_needed),
    cmocka_unit_test(pool_without_spares_idles_and_goes_on),
    cmocka_unit_test(refused_thread_is_no_spare),
    cmocka_unit_test(mutual_install_to_a_great_depth),
    cmocka_unit_test(once_init_that_runs_in_parallel),
    cmocka_unit_test(spare_that_is_needed_while_it_parks),
    cmocka_unit_test(pool_does_not_end_while_a_spare_is_started),
};
WS_TEST_MAIN(tests)
