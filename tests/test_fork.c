/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_fork.c: a forked child, which has no workers: it never hangs, it gets
 * the documented codes, it can free the parent's pools and make its own.
 *
 * The child answers by its exit status; an alarm ends it if it hangs.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `child` in a forked child; it must return 0. */
static void in_child(int (*child)(void *arg), void *arg)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60); /* the watchdog stayed with the parent */
        _exit(child(arg));
    }
    WS_TEST_REQUIRE(pid > 0);
    while (waitpid(pid, &status, 0) < 0) {
        WS_TEST_REQUIRE(errno == EINTR);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "child: %s %d\n",
                WIFEXITED(status) ? "failed in line" : "ended by signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    WS_TEST_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* In a child: the exit status is what of the line number fits. */
#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            return __LINE__ % 255 + 1;                                         \
        }                                                                      \
    } while (0)

/* ---- work ------------------------------------------------------------ */

typedef struct {
    unsigned n;
    unsigned result;
} fib;

static int run_fib(void *arg)
{
    fib *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib a = {f->n - 1, 0};
    fib b = {f->n - 2, 0};
    int code = ws_join(run_fib, &a, run_fib, &b);
    f->result = a.result + b.result;
    return code;
}

static bool fib_works(void)
{
    fib f = {8, 0};
    return run_fib(&f) == 0 && f.result == 21;
}

static int count(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(arg, 1);
    return 0;
}

static int count_to_ten(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < 10; i++) {
        ws_scope_spawn(scope, count, arg);
    }
    return 0;
}

static bool scope_works(void)
{
    test_counter n = {0};
    return ws_scope(count_to_ten, &n) == 0 && test_get(&n) == 10;
}

static int never(void *arg)
{
    (void)arg;
    return 1;
}

/* ---- the child of a foreign thread ----------------------------------- */

/* Memory in use, and whether threads can be had. */
static test_counter in_use;
static test_counter no_threads;

static void *alloc_counted(size_t align, size_t size)
{
    test_add(&in_use, 1);
    return wsi_mem_alloc_real(align, size);
}

static void free_counted(void *p)
{
    test_add(&in_use, (uint64_t)-1);
    wsi_mem_free_real(p);
}

static int create_if_allowed(pthread_t *out, const pthread_attr_t *attr,
                             wsi_thread_fn fn, void *arg)
{
    return test_get(&no_threads) != 0 ? EAGAIN
                                      : pthread_create(out, attr, fn, arg);
}

static void count_memory(void)
{
    wsi_port_ops.mem_alloc = alloc_counted;
    wsi_port_ops.mem_free = free_counted;
    wsi_port_ops.thread_create = create_if_allowed;
}

static int gets_the_codes(void *arg)
{
    ws_pool *pool = arg;
    REQUIRE(ws_pool_install(pool, never, NULL) == WS_EFORKED);
    REQUIRE(ws_spawn(pool, never, NULL) == WS_EFORKED);
    REQUIRE(ws_pool_num_workers(pool) > 0);
    REQUIRE(ws_current_index() == -1);
    ws_worker_stats stats;
    REQUIRE(ws_pool_worker_stats(pool, 0, &stats) == WS_OK);
    REQUIRE(ws_pool_destroy(pool) == WS_OK);
    REQUIRE(test_get(&in_use) == 0);
    return 0;
}

static void check_codes(ws_pool *pool)
{
    test_await_sleep(pool); /* all of the threads' start records are freed */
    in_child(gets_the_codes, pool);
}

static void child_gets_the_codes_and_frees_the_pool(void **state)
{
    (void)state;
    count_memory();
    test_in_each_pool(check_codes);
}

static int runs_serially(void *arg)
{
    (void)arg;
    test_set(&no_threads, 1);
    REQUIRE(fib_works());
    REQUIRE(scope_works());
    REQUIRE(ws_current_num_workers() == 0);
    REQUIRE(ws_spawn(NULL, never, NULL) == WS_ETHREADS);
    REQUIRE(ws_pool_install(NULL, never, NULL) == WS_ETHREADS);
    return 0;
}

static void child_without_threads_is_serial(void **state)
{
    (void)state;
    count_memory();
    in_child(runs_serially, NULL);
    assert_true(fib_works()); /* now the parent has a global pool */
    in_child(runs_serially, NULL);
    assert_true(fib_works());
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static int makes_its_own(void *arg)
{
    ws_pool *pools[2] = {arg, NULL};
    REQUIRE(fib_works());
    REQUIRE(scope_works());
    REQUIRE(ws_pool_global_destroy() == WS_OK);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    REQUIRE(ws_pool_create(&pools[1], &config) == WS_OK);
    fib f = {15, 0};
    REQUIRE(ws_pool_install(pools[1], run_fib, &f) == 0 && f.result == 610);
    REQUIRE(ws_pool_install(pools[0], run_fib, &f) == WS_EFORKED);
    REQUIRE(ws_pool_destroy(pools[1]) == WS_OK);
    REQUIRE(ws_pool_destroy(pools[0]) == WS_OK);
    return 0;
}

static void check_own(ws_pool *pool)
{
    fib f = {15, 0};
    /* A sanitizer's own locks do not survive a fork in a thread's start. */
    test_await_sleep(pool);
    in_child(makes_its_own, pool);
    assert_int_equal(ws_pool_install(pool, run_fib, &f), 0);
    assert_int_equal(f.result, 610);
}

static void child_makes_its_own_pools(void **state)
{
    (void)state;
#ifdef TEST_TSAN
    skip(); /* it ends a child of several threads that starts a thread */
#endif
    ws_pool *global = NULL;
    test_in_each_pool(check_own);
    assert_true(fib_works());
    assert_int_equal(ws_pool_global(&global), WS_OK);
    test_await_sleep(global);
    test_in_each_pool(check_own);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- the child of a worker ------------------------------------------- */

static int goes_on_alone(void *arg)
{
    ws_pool *pool = arg;
    REQUIRE(ws_current_index() >= 0);
    REQUIRE(fib_works());
    REQUIRE(scope_works());
    REQUIRE(ws_pool_destroy(pool) == WS_EINWORKER);
    return 0;
}

static int fork_in_worker(void *arg)
{
    in_child(goes_on_alone, arg);
    return fib_works() ? 0 : 1;
}

static int do_nothing(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    return 0;
}

static int broadcast_in_child(struct ws_scope *scope, void *arg)
{
    int code = ws_scope_spawn_broadcast(scope, do_nothing, arg);
    return code == WS_EFORKED ? 0 : 1;
}

static int add_in_child(struct ws_scope *scope, void *arg)
{
    (void)scope;
    ++*(int *)arg;
    return 0;
}

static int spawns_in_place(void *arg)
{
    int count = 0;
    struct ws_scope *scope = arg;
    for (int i = 0; i < 3; i++) {
        REQUIRE(ws_scope_spawn(scope, add_in_child, &count) == WS_OK);
        REQUIRE(count == i + 1);
    }
    REQUIRE(ws_scope_wait(scope) == WS_OK);
    return 0;
}

static int fork_in_body(struct ws_scope *scope, void *arg)
{
    (void)arg;
    in_child(spawns_in_place, scope);
    return 0;
}

/* In the body of a scope whose jobs would run in the pool. */
static void child_of_a_body_in_place_runs_its_jobs(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
    assert_int_equal(ws_scope_in(pool, WS_SCOPE_IN_PLACE, fork_in_body, NULL),
                     0);
    assert_int_equal(ws_scope_in(pool, WS_SCOPE_IN_PLACE | WS_SCOPE_FIFO,
                                 fork_in_body, NULL),
                     0);
    test_destroy(pool);
}

static test_counter parents_job;

static int run_once(void *arg)
{
    (void)arg;
    test_add(&parents_job, 1);
    return 0;
}

/* What needs other workers says so, and the parent's jobs are the parent's. */
static int asks_for_others(void *arg)
{
    (void)arg;
    REQUIRE(ws_scope(broadcast_in_child, NULL) == 0);
    REQUIRE(ws_yield_now() == WS_YIELD_IDLE);
    REQUIRE(ws_yield_local() == WS_YIELD_IDLE);
    REQUIRE(ws_spawn(NULL, run_once, NULL) == WS_EFORKED);
    REQUIRE(test_get(&parents_job) == 0);
    return 0;
}

static int fork_with_a_job(void *arg)
{
    WS_TEST_REQUIRE(ws_spawn(NULL, run_once, NULL) == WS_OK);
    in_child(asks_for_others, arg);
    return 0;
}

static void child_runs_no_jobs_of_its_parent(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(1, p);
        test_set(&parents_job, 0);
        assert_int_equal(ws_pool_install(pool, fork_with_a_job, NULL), 0);
        test_destroy(pool);
        assert_int_equal(test_get(&parents_job), 1);
    }
}

static void check_worker(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, fork_in_worker, pool), 0);
}

static void child_of_a_worker_goes_on_alone(void **state)
{
    (void)state;
    test_in_each_pool(check_worker);
}

/* ---- forks at bad moments -------------------------------------------- */

static test_counter busy;

static int stay_busy(void *arg)
{
    (void)arg;
    while (test_get(&busy) != 0) {
        if (!fib_works() || !scope_works()) {
            return 1;
        }
    }
    return 0;
}

static void *keep_busy(void *arg)
{
    WS_TEST_REQUIRE(ws_pool_install(arg, stay_busy, NULL) == 0);
    return NULL;
}

static int destroys(void *arg)
{
    REQUIRE(ws_pool_install(arg, never, NULL) == WS_EFORKED);
    REQUIRE(ws_pool_destroy(arg) == WS_OK);
    return 0;
}

static void check_busy(ws_pool *pool)
{
    test_set(&busy, 1);
    pthread_t thread = test_thread(keep_busy, pool);
    for (size_t i = ws_test_scale(60); i > 0; i--) {
        in_child(destroys, pool);
    }
    test_set(&busy, 0);
    test_join_thread(thread);
}

static void child_of_a_busy_parent_destroys(void **state)
{
    (void)state;
    test_in_each_pool(check_busy);
}

static test_counter creating;
static test_counter forked;

static int create_after_the_fork(pthread_t *out, const pthread_attr_t *attr,
                                 wsi_thread_fn fn, void *arg)
{
    test_set(&creating, 1);
    test_await(&forked, 1);
    return test_get(&no_threads) != 0 ? EAGAIN
                                      : pthread_create(out, attr, fn, arg);
}

static void *use_global(void *arg)
{
    (void)arg;
    WS_TEST_REQUIRE(fib_works());
    return NULL;
}

static int uses_global(void *arg)
{
    test_set(&forked, 1);
    return runs_serially(arg);
}

/* The child must not wait for a thread that it does not have. */
static void child_of_a_parent_that_makes_the_global_pool(void **state)
{
    (void)state;
    wsi_port_ops.thread_create = create_after_the_fork;
    pthread_t thread = test_thread(use_global, NULL);
    test_await(&creating, 1);
    in_child(uses_global, NULL);
    test_set(&forked, 1);
    test_join_thread(thread);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(child_gets_the_codes_and_frees_the_pool),
    cmocka_unit_test(child_without_threads_is_serial),
    cmocka_unit_test(child_makes_its_own_pools),
    cmocka_unit_test(child_of_a_worker_goes_on_alone),
    cmocka_unit_test(child_of_a_body_in_place_runs_its_jobs),
    cmocka_unit_test(child_runs_no_jobs_of_its_parent),
    cmocka_unit_test(child_of_a_busy_parent_destroys),
    cmocka_unit_test(child_of_a_parent_that_makes_the_global_pool),
};
WS_TEST_MAIN(tests)
