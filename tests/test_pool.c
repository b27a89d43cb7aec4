/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_pool.c: the life of a pool: many of them, the end of its threads, what
 * destroy refuses, the global pool, thread names, the largest pool, and the
 * status codes' names.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <dirent.h>

/* ---- threads of this process ----------------------------------------- */

/* 0 where the system does not tell. */
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

/* A joined thread may still be in the kernel's list for a moment. */
static void await_threads(unsigned n)
{
    while (count_threads() != n) {
        wsi_thread_yield();
    }
}

/* ---- many ------------------------------------------------------------ */

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

static void create_and_destroy_many(void **state)
{
    (void)state;
    const size_t rounds = ws_test_scale(2000);
    unsigned threads = count_threads();
    test_counter sum = {0};
    for (size_t i = 0; i < rounds; i++) {
        unsigned policy = WS_WAIT_ANY + (unsigned)i / 4 % 2;
        ws_pool *pool = test_pool(1 + (unsigned)i % 4, policy);
        if (i % 3 > 0) { /* else at once */
            assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
        }
        if (i % 3 > 1) {
            test_await_sleep(pool);
        }
        test_destroy(pool);
    }
    assert_int_equal(test_get(&sum), rounds - (rounds + 2) / 3);
    await_threads(threads);
}

static void *create_and_destroy(void *arg)
{
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        ws_pool_config config = WS_POOL_CONFIG_INIT;
        ws_pool *pool = NULL;
        config.num_threads = 2;
        WS_TEST_REQUIRE(ws_pool_create(&pool, &config) == WS_OK);
        WS_TEST_REQUIRE(ws_pool_install(pool, add_one, arg) == 0);
        WS_TEST_REQUIRE(ws_pool_destroy(pool) == WS_OK);
    }
    return NULL;
}

static void create_and_destroy_in_many_threads(void **state)
{
    (void)state;
    enum {
        THREADS = 4
    };
    pthread_t threads[THREADS];
    test_counter sum = {0};
    for (int i = 0; i < THREADS; i++) {
        threads[i] = test_thread(create_and_destroy, &sum);
    }
    for (int i = 0; i < THREADS; i++) {
        test_join_thread(threads[i]);
    }
    assert_int_equal(test_get(&sum), THREADS * ws_test_scale(200));
}

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

static void stop_after_joins(bool asleep)
{
    unsigned threads = count_threads();
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(22, p);
        test_counter leaves = {0};
        tree top = {ws_test_scale(20) > 10 ? 20 : 12, &leaves};
        assert_int_equal(ws_pool_install(pool, join_down, &top), 0);
        if (asleep) {
            test_await_sleep(pool);
        }
        test_destroy(pool);
        assert_int_equal(test_get(&leaves), 1 << top.depth);
        await_threads(threads);
    }
}

static void workers_stop(void **state)
{
    (void)state;
    stop_after_joins(false);
}

static void sleeper_stop(void **state)
{
    (void)state;
    stop_after_joins(true);
}

/* ---- destroy --------------------------------------------------------- */

static int destroy_self(void *arg)
{
    return ws_pool_destroy(arg);
}

static void check_destroy_inside(ws_pool *pool)
{
    test_counter sum = {0};
    assert_int_equal(ws_pool_install(pool, destroy_self, pool), WS_EINWORKER);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    assert_int_equal(test_get(&sum), 1);
}

static void destroy_in_its_own_worker_is_refused(void **state)
{
    (void)state;
    test_in_each_pool(check_destroy_inside);
}

static void destroy_in_another_pools_worker(void **state)
{
    (void)state;
    ws_pool *outer = test_pool(1, WS_WAIT_ANY);
    ws_pool *inner = test_pool(2, WS_WAIT_SUBTREE);
    assert_int_equal(ws_pool_install(outer, destroy_self, inner), WS_OK);
    test_destroy(outer);
}

static void null_and_the_global_pool_are_not_destroyed(void **state)
{
    (void)state;
    ws_pool *pool = NULL;
    test_counter sum = {0};
    assert_int_equal(ws_pool_destroy(NULL), WS_EINVAL);
    assert_int_equal(ws_pool_num_workers(NULL), 0);
    assert_int_equal(ws_pool_create(NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_pool_global(&pool), WS_OK);
    assert_int_equal(ws_pool_destroy(pool), WS_EINVAL);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- the global pool ------------------------------------------------- */

static int destroy_global(void *arg)
{
    (void)arg;
    return ws_pool_global_destroy();
}

static void global_destroy_in_its_worker_is_refused(void **state)
{
    (void)state;
    assert_int_equal(ws_pool_global(NULL), WS_EINVAL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK); /* there is none */
    assert_int_equal(ws_pool_install(NULL, destroy_global, NULL), WS_EINWORKER);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

enum {
    RACERS = 8
};

typedef struct {
    ws_pool *seen;
} racer;

static test_counter start;

static void *race(void *arg)
{
    racer *r = arg;
    test_add(&start, 1);
    test_await(&start, RACERS);
    WS_TEST_REQUIRE(ws_pool_global(&r->seen) == WS_OK);
    return NULL;
}

static void global_is_made_once_by_racing_threads(void **state)
{
    (void)state;
    unsigned threads = count_threads();
    for (size_t round = ws_test_scale(200); round > 0; round--) {
        racer racers[RACERS];
        pthread_t handles[RACERS];
        ws_pool *pool = NULL;
        test_set(&start, 0);
        for (int i = 0; i < RACERS; i++) {
            racers[i].seen = NULL;
            handles[i] = test_thread(race, &racers[i]);
        }
        for (int i = 0; i < RACERS; i++) {
            test_join_thread(handles[i]);
            assert_non_null(racers[i].seen);
            assert_ptr_equal(racers[i].seen, racers[0].seen);
        }
        assert_int_equal(ws_pool_global(&pool), WS_OK);
        assert_ptr_equal(pool, racers[0].seen);
        assert_int_equal(ws_pool_global_destroy(), WS_OK);
    }
    await_threads(threads);
}

/* ---- names ----------------------------------------------------------- */

typedef struct {
    const char *expected;
    unsigned index;
    test_counter here;
    unsigned n;
} naming;

static int check_name(struct ws_scope *scope, void *arg)
{
    naming *n = arg;
    (void)scope;
    test_add(&n->here, 1);
    test_await(&n->here, n->n);
    if ((unsigned)ws_current_index() == n->index) {
        char name[32] = "";
        WS_TEST_REQUIRE(
            pthread_getname_np(pthread_self(), name, sizeof(name)) == 0);
        if (strcmp(name, n->expected) != 0) {
            fprintf(stderr, "%s instead of %s\n", name, n->expected);
            return 1;
        }
    }
    return 0;
}

static int check_all_names(struct ws_scope *scope, void *arg)
{
    const naming *n = arg;
    for (unsigned i = 1; i < n->n; i++) {
        ws_scope_spawn(scope, check_name, arg);
    }
    return check_name(scope, arg);
}

static int open_names(void *arg)
{
    return ws_scope(check_all_names, arg);
}

static void threads_have_names(void **state)
{
    static const struct {
        const char *name;
        unsigned index;
        const char *expected;
    } cases[] = {
        {NULL, 0, "ws-pool-0"},
        {"x", 11, "ws-x-11"},
        {"", 3, "ws--3"},
        {"a-name-of-any-length", 0, "ws-a-name-of--0"},
        {"a-name-of-any-length", 11, "ws-a-name-of-11"},
    };
    (void)state;
#ifndef __linux__
    skip();
#endif
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[64] = "";
        ws_pool_config config = WS_POOL_CONFIG_INIT;
        naming n = {cases[i].expected, cases[i].index, {0}, 12};
        config.num_threads = 12;
        if (cases[i].name != NULL) {
            strcpy(name, cases[i].name);
            config.name = name;
        }
        ws_pool *pool = test_pool_with(&config);
        memset(name, 'z', sizeof(name)); /* it was copied */
        assert_int_equal(ws_pool_install(pool, open_names, &n), 0);
        test_destroy(pool);
    }
}

/* ---- the largest ----------------------------------------------------- */

static void largest_pool(void **state)
{
    (void)state;
    unsigned threads = count_threads();
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pool = NULL;
    config.num_threads = WS_MAX_WORKERS;
    config.stack_size = WS_MIN_STACK_SIZE;
    int code = ws_pool_create(&pool, &config);
    if (code == WS_ETHREADS) {
        skip(); /* a limit of this machine */
    }
    assert_int_equal(code, WS_OK);
    assert_int_equal(ws_pool_num_workers(pool), WS_MAX_WORKERS);
    test_counter leaves = {0};
    tree top = {10, &leaves};
    assert_int_equal(ws_pool_install(pool, join_down, &top), 0);
    assert_int_equal(test_get(&leaves), 1 << 10);
    test_destroy(pool);
    await_threads(threads);
}

/* ---- status codes ---------------------------------------------------- */

static void status_codes_have_names_and_texts(void **state)
{
    static const struct {
        int value;
        const char *name;
    } codes[] = {
#define CODE(name, value, text) {name, #name},
        WS_STATUS_LIST(CODE)
#undef CODE
    };
    static const int unknown[] = {1, 77, -1000, WS_STATUS_FORCE_INT,
                                  -2147483647 - 1};
    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        assert_string_equal(ws_err_name(codes[i].value), codes[i].name);
        assert_true(strlen(ws_strerror(codes[i].value)) > 0);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(codes[i].value, codes[k].value);
            assert_string_not_equal(ws_strerror(codes[i].value),
                                    ws_strerror(codes[k].value));
        }
    }
    assert_string_equal(ws_strerror(WS_ENOMEM), "out of memory");
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_string_equal(ws_strerror(unknown[i]), "unknown status");
        assert_string_equal(ws_err_name(unknown[i]), "WS_UNKNOWN");
    }
    assert_int_equal(ws_version(), WS_VERSION);
}

static void stats_of_what_does_not_exist(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(2, WS_WAIT_ANY);
    ws_worker_stats stats;
    ws_worker_stats before;
    memset(&stats, 0x5A, sizeof(stats));
    before = stats;
    assert_int_equal(ws_pool_worker_stats(NULL, 0, &stats), WS_EINVAL);
    assert_int_equal(ws_pool_worker_stats(pool, 2, &stats), WS_EINVAL);
    assert_int_equal(ws_pool_worker_stats(pool, UINT32_MAX, &stats), WS_EINVAL);
    assert_int_equal(ws_pool_worker_stats(pool, 0, NULL), WS_EINVAL);
    assert_memory_equal(&stats, &before, sizeof(stats));
    assert_int_equal(ws_pool_worker_stats(pool, 1, &stats), WS_OK);
    assert_int_equal(stats.jobs, 0);
    test_destroy(pool);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(create_and_destroy_many),
    cmocka_unit_test(create_and_destroy_in_many_threads),
    cmocka_unit_test(workers_stop),
    cmocka_unit_test(sleeper_stop),
    cmocka_unit_test(destroy_in_its_own_worker_is_refused),
    cmocka_unit_test(destroy_in_another_pools_worker),
    cmocka_unit_test(null_and_the_global_pool_are_not_destroyed),
    cmocka_unit_test(global_destroy_in_its_worker_is_refused),
    cmocka_unit_test(global_is_made_once_by_racing_threads),
    cmocka_unit_test(threads_have_names),
    cmocka_unit_test(largest_pool),
    cmocka_unit_test(status_codes_have_names_and_texts),
    cmocka_unit_test(stats_of_what_does_not_exist),
};
WS_TEST_MAIN(tests)
