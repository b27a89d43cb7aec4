/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_use_current_thread.c: a pool whose creator is its worker 0: what runs on
 * the creator's thread and when, and what others do with the pool meanwhile.
 * How such a pool ends is in test_destroy_timeout.c.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <dirent.h>
#include <errno.h>

/* ---- pools of this thread -------------------------------------------- */

static ws_pool_config own_config(unsigned workers, unsigned policy)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.wait_policy = policy;
    config.use_current_thread = 1;
    return config;
}

static ws_pool *own_pool(unsigned workers, unsigned policy)
{
    ws_pool_config config = own_config(workers, policy);
    return test_pool_with(&config);
}

/* Runs `check` with pools of 1, 2 and 4 workers and of both policies. */
static void in_each_own_pool(void (*check)(ws_pool *pool))
{
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = own_pool(workers, p);
            check(pool);
            test_destroy(pool);
            assert_int_equal(ws_current_index(), -1);
        }
    }
}

static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;
    while (tasks != NULL && readdir(tasks) != NULL) {
        n++;
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return n;
}

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

static int add_one_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return add_one(arg);
}

/* ---- the creator blocks ---------------------------------------------- */

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
    int index;
    pthread_t thread;
} message;

static int send_message(void *arg)
{
    message *m = arg;
    WS_TEST_REQUIRE(pthread_mutex_lock(&m->mutex) == 0);
    m->index = ws_current_index();
    m->thread = pthread_self();
    m->done = true;
    WS_TEST_REQUIRE(pthread_cond_signal(&m->changed) == 0);
    WS_TEST_REQUIRE(pthread_mutex_unlock(&m->mutex) == 0);
    return 0;
}

/* The creator does not enter the library while it waits. */
static void check_message(ws_pool *pool)
{
    message m = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                 .changed = PTHREAD_COND_INITIALIZER};
    assert_int_equal(ws_spawn(pool, send_message, &m), WS_OK);
    assert_int_equal(pthread_mutex_lock(&m.mutex), 0);
    while (!m.done) {
        pthread_cond_wait(&m.changed, &m.mutex);
    }
    assert_int_equal(pthread_mutex_unlock(&m.mutex), 0);
    assert_int_equal(m.index, 1);
    assert_false(pthread_equal(m.thread, pthread_self()));
}

static void use_current_thread_basic(void **state)
{
    (void)state;
    const unsigned threads = count_threads();
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        /* A thread that was joined is seen a little longer. */
        while (count_threads() != threads) {
            wsi_thread_yield();
        }
        ws_pool_config config = own_config(2, p);
        ws_pool *const before = (ws_pool *)(void *)&config;
        ws_pool *second = before;
        ws_pool *pool = own_pool(2, p);
        assert_int_equal(ws_current_index(), 0);
        assert_int_equal(ws_pool_current_index(pool), 0);
        assert_int_equal(ws_pool_num_workers(pool), 2);
        assert_int_equal(ws_current_num_workers(), 2);
        assert_int_equal(count_threads(), threads != 0 ? threads + 1 : 0);
        assert_int_equal(ws_pool_create(&second, &config), WS_EINWORKER);
        assert_ptr_equal(second, before);
        for (size_t i = ws_test_scale(1000); i > 0; i--) {
            if (i % 8 == 0) {
                test_await_sleep_of(pool, 1);
            }
            check_message(pool);
        }
        test_destroy(pool);
    }
}

/* ---- a pool without another thread ----------------------------------- */

static void check_alone(unsigned policy)
{
    ws_pool *pool = own_pool(1, policy);
    test_counter ran = {0};
    test_counter in_scope = {0};
    assert_int_equal(ws_has_pending(), 0);
    assert_int_equal(ws_yield_now(), WS_YIELD_IDLE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ws_spawn(pool, add_one, &ran), WS_OK);
    }
    assert_int_equal(ws_has_pending(), 1);
    assert_int_equal(test_get(&ran), 0); /* there is nobody */
    assert_int_equal(ws_yield_now(), WS_YIELD_EXECUTED);
    assert_int_equal(test_get(&ran), 1);
    assert_int_equal(ws_yield_local(), WS_YIELD_EXECUTED);
    assert_int_equal(test_get(&ran), 2);
    assert_int_equal(ws_join(add_one, &in_scope, add_one, &in_scope), 0);
    assert_int_equal(test_get(&in_scope), 2);
    assert_int_equal(ws_scope(add_one_in_scope, &in_scope), 0);
    assert_int_equal(test_get(&in_scope), 3);
    assert_int_equal(test_get(&ran), 2);
    test_destroy(pool);
    assert_int_equal(test_get(&ran), 4);
}

static void jobs_run_when_the_only_worker_yields_or_destroys(void **state)
{
    (void)state;
    check_alone(WS_WAIT_ANY);
    check_alone(WS_WAIT_SUBTREE);
}

/* ---- every call from the creator ------------------------------------- */

typedef struct {
    unsigned depth;
    test_counter *leaves;
} tree;

static int join_down(void *arg)
{
    const tree *t = arg;
    tree next = {t->depth - 1, t->leaves};
    if (t->depth == 0) {
        return add_one(t->leaves);
    }
    return ws_join(join_down, &next, join_down, &next);
}

static int spawn_hundred(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < 100; i++) {
        ws_scope_spawn(scope, add_one_in_scope, arg);
    }
    return 0;
}

static int index_plus_one(const ws_broadcast_ctx *ctx, void *arg)
{
    add_one(arg);
    return (int)ctx->index + 1;
}

static int is_thread(void *arg)
{
    return pthread_equal(*(pthread_t *)arg, pthread_self()) != 0;
}

static void check_calls(ws_pool *pool)
{
    const unsigned n = ws_pool_num_workers(pool);
    pthread_t self = pthread_self();
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        test_counter sum = {0};
        int codes[4] = {0, 0, 0, 0};
        tree top = {6, &sum};
        assert_int_equal(join_down(&top), 0);
        assert_int_equal(test_get(&sum), 64);
        assert_int_equal(ws_scope(spawn_hundred, &sum), 0);
        assert_int_equal(ws_scope_in(pool, WS_SCOPE_FIFO, spawn_hundred, &sum),
                         0);
        assert_int_equal(test_get(&sum), 264);
        assert_int_equal(ws_broadcast(pool, index_plus_one, &sum, codes), 1);
        assert_int_equal(test_get(&sum), 264 + n);
        for (unsigned k = 0; k < n; k++) {
            assert_int_equal(codes[k], k + 1);
        }
        assert_int_equal(ws_pool_install(pool, is_thread, &self), 1);
    }
}

static void join_scope_and_broadcast_from_the_creator(void **state)
{
    (void)state;
    in_each_own_pool(check_calls);
}

/* ---- other threads --------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter started;
    test_counter done;
} visit_case;

enum {
    VISITORS = 3
};

static void *install_many(void *arg)
{
    visit_case *c = arg;
    test_counter sum = {0};
    const uint64_t rounds = ws_test_scale(200);
    test_await(&c->started, 1);
    for (uint64_t i = 0; i < rounds; i++) {
        tree top = {3, &sum};
        WS_TEST_REQUIRE(ws_pool_install(c->pool, join_down, &top) == 0);
    }
    WS_TEST_REQUIRE(test_get(&sum) == 8 * rounds);
    test_add(&c->done, 1);
    return NULL;
}

static int yield_until_done(struct ws_scope *scope, void *arg)
{
    visit_case *c = arg;
    (void)scope;
    test_set(&c->started, 1);
    while (test_get(&c->done) < VISITORS) {
        ws_yield_now();
    }
    return 0;
}

static int open_for_visitors(struct ws_scope *scope, void *arg)
{
    return ws_scope_spawn(scope, yield_until_done, arg);
}

static int hold_until_done(struct ws_scope *scope, void *arg)
{
    visit_case *c = arg;
    (void)scope;
    test_set(&c->started, 1);
    test_await(&c->done, VISITORS);
    return 0;
}

/* The other worker holds, so the creator waits with nothing of its own. */
static int open_and_lose_the_job(struct ws_scope *scope, void *arg)
{
    visit_case *c = arg;
    int code = ws_scope_spawn(scope, hold_until_done, arg);
    test_await(&c->started, 1);
    return code;
}

static void with_visitors(ws_pool *pool, ws_scope_fn body)
{
    visit_case c = {.pool = pool};
    pthread_t threads[VISITORS];
    for (int i = 0; i < VISITORS; i++) {
        threads[i] = test_thread(install_many, &c);
    }
    assert_int_equal(ws_scope(body, &c), 0);
    for (int i = 0; i < VISITORS; i++) {
        test_join_thread(threads[i]);
    }
}

static void check_visitors(ws_pool *pool)
{
    with_visitors(pool, open_for_visitors);
    if (ws_pool_num_workers(pool) == 2) {
        with_visitors(pool, open_and_lose_the_job);
    }
}

static void others_install_while_the_creator_waits(void **state)
{
    (void)state;
    in_each_own_pool(check_visitors);
}

typedef struct {
    unsigned policy;
    unsigned max_spares;
    test_counter ready;
    test_counter done;
    ws_pool *pools[2];
} pair_case;

typedef struct {
    pair_case *pair;
    unsigned self;
} partner;

static void *install_in_the_partner(void *arg)
{
    const partner *me = arg;
    pair_case *c = me->pair;
    ws_pool_config config = own_config(1, c->policy);
    test_counter sum = {0};
    const uint64_t rounds = ws_test_scale(500);
    config.max_spares = c->max_spares;
    WS_TEST_REQUIRE(ws_pool_create(&c->pools[me->self], &config) == WS_OK);
    test_add(&c->ready, 1);
    test_await(&c->ready, 2);
    for (uint64_t i = 0; i < rounds; i++) {
        WS_TEST_REQUIRE(
            ws_pool_install(c->pools[1 - me->self], add_one, &sum) == 0);
    }
    WS_TEST_REQUIRE(test_get(&sum) == rounds);
    test_add(&c->done, 1);
    while (test_get(&c->done) < 2) {
        ws_yield_now();
    }
    WS_TEST_REQUIRE(ws_pool_destroy(c->pools[me->self]) == WS_OK);
    return NULL;
}

/* Each creator waits for the only worker of the other's pool. */
static void two_creators_install_into_each_other(void **state)
{
    static const unsigned spares[] = {0, 1, WS_NO_SPARES};
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        pair_case c = {.policy = WS_WAIT_ANY + i % 2,
                       .max_spares = spares[i / 2]};
        partner partners[2] = {{&c, 0}, {&c, 1}};
        pthread_t other = test_thread(install_in_the_partner, &partners[1]);
        install_in_the_partner(&partners[0]);
        test_join_thread(other);
    }
}

/* ---- a creation that fails ------------------------------------------- */

static int create_refused(pthread_t *out, const pthread_attr_t *attr,
                          wsi_thread_fn fn, void *arg)
{
    (void)out;
    (void)attr;
    (void)fn;
    (void)arg;
    return EPERM;
}

static unsigned three_cpus(void)
{
    return 3;
}

static void creator_of_a_pool_that_fails_is_no_worker(void **state)
{
    (void)state;
    const wsi_port_ops_table real = wsi_port_ops;
    ws_pool_config config = own_config(3, WS_WAIT_DEFAULT);
    ws_pool *pool = NULL;
    test_counter sum = {0};
    assert_int_equal(unsetenv("WSTEAL_NUM_THREADS"), 0);
    wsi_port_ops.thread_create = create_refused;
    wsi_port_ops.cpu_count = three_cpus;
    assert_int_equal(ws_pool_create(&pool, &config), WS_ETHREADS);
    assert_null(pool);
    assert_int_equal(ws_current_index(), -1);
    /* A pool of automatic size needs no other thread. */
    config.num_threads = 0;
    pool = test_pool_with(&config);
    assert_int_equal(ws_pool_num_workers(pool), 1);
    assert_int_equal(ws_scope(spawn_hundred, &sum), 0);
    assert_int_equal(ws_spawn(pool, add_one, &sum), WS_OK);
    test_destroy(pool);
    assert_int_equal(test_get(&sum), 101);
    wsi_port_ops = real;
    config.num_threads = 3;
    test_destroy(test_pool_with(&config));
}

/* Half of the *thread's* stack must stay free of unrelated jobs. */
static void *create_deep_in_the_stack(void *arg)
{
    volatile unsigned char used[700 * 1024];
    pthread_attr_t attr;
    void *lowest = NULL;
    size_t size = 0;
    ws_pool_config config = own_config(1, WS_WAIT_ANY);
    ws_pool *pool = NULL;
    (void)arg;
    used[0] = 1;
    WS_TEST_REQUIRE(used[0] == 1);
    WS_TEST_REQUIRE(pthread_getattr_np(pthread_self(), &attr) == 0);
    WS_TEST_REQUIRE(pthread_attr_getstack(&attr, &lowest, &size) == 0);
    WS_TEST_REQUIRE(pthread_attr_destroy(&attr) == 0);
    WS_TEST_REQUIRE(ws_pool_create(&pool, &config) == WS_OK);
    WS_TEST_REQUIRE(pool->workers[0].stack_floor >= (uintptr_t)lowest);
    WS_TEST_REQUIRE(ws_pool_destroy(pool) == WS_OK);
    return NULL;
}

static void creator_deep_in_its_stack(void **state)
{
    pthread_attr_t attr;
    pthread_t thread;
    (void)state;
#if !defined(__linux__) || defined(TEST_SANITIZER)
    skip();
#endif
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, 1024 * 1024), 0);
    assert_int_equal(
        pthread_create(&thread, &attr, create_deep_in_the_stack, NULL), 0);
    assert_int_equal(pthread_attr_destroy(&attr), 0);
    test_join_thread(thread);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(use_current_thread_basic),
    cmocka_unit_test(jobs_run_when_the_only_worker_yields_or_destroys),
    cmocka_unit_test(join_scope_and_broadcast_from_the_creator),
    cmocka_unit_test(others_install_while_the_creator_waits),
    cmocka_unit_test(two_creators_install_into_each_other),
    cmocka_unit_test(creator_of_a_pool_that_fails_is_no_worker),
    cmocka_unit_test(creator_deep_in_its_stack),
};
WS_TEST_MAIN(tests)
