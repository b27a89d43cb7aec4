/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_pool_start.c: every way in which a pool can fail to start: the k-th
 * thread is refused, the k-th allocation fails.  Nothing is left behind, and
 * the next attempt works.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <dirent.h>
#include <errno.h>

enum {
    WORKERS = 5,
    FOREVER = 1 << 30
};

/* ---- faults ---------------------------------------------------------- */

/* The calls number first to first + n - 1 fail; they count from 0. */
typedef struct {
    test_counter calls;
    uint64_t first;
    uint64_t n;
    int error;
} fault;

static fault thread_fault;
static fault memory_fault;
static test_counter in_use;

static bool fails(fault *f)
{
    uint64_t call = test_add(&f->calls, 1);
    return call >= f->first && call - f->first < f->n;
}

static int create_faulty(pthread_t *out, const pthread_attr_t *attr,
                         wsi_thread_fn fn, void *arg)
{
    return fails(&thread_fault) ? thread_fault.error
                                : pthread_create(out, attr, fn, arg);
}

static void *alloc_faulty(size_t align, size_t size)
{
    if (fails(&memory_fault)) {
        return NULL;
    }
    test_add(&in_use, 1);
    return wsi_mem_alloc_real(align, size);
}

static void free_counted(void *p)
{
    test_add(&in_use, (uint64_t)-1);
    wsi_mem_free_real(p);
}

static unsigned so_many_cpus(void)
{
    return WORKERS;
}

static unsigned too_many_cpus(void)
{
    return 100 * WS_MAX_WORKERS;
}

static void reset(fault *f, uint64_t first, uint64_t n, int error)
{
    f->first = first;
    f->n = n;
    f->error = error;
    test_set(&f->calls, 0);
}

static int inject_faults(void **state)
{
    (void)state;
    wsi_port_ops.thread_create = create_faulty;
    wsi_port_ops.mem_alloc = alloc_faulty;
    wsi_port_ops.mem_free = free_counted;
    wsi_port_ops.cpu_count = so_many_cpus;
    return unsetenv("WSTEAL_NUM_THREADS");
}

/* ---- what a start leaves --------------------------------------------- */

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

static test_counter here;

static int meet(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&here, 1);
    test_await(&here, *(uint64_t *)arg);
    return 0;
}

static int gather(struct ws_scope *scope, void *arg)
{
    uint64_t n = *(uint64_t *)arg;
    for (uint64_t i = 1; i < n; i++) {
        ws_scope_spawn(scope, meet, arg);
    }
    return meet(scope, arg);
}

static int open_meeting(void *arg)
{
    return ws_scope(gather, arg);
}

/* All of `expected` workers are there and nothing stays after the end. */
static void check_pool(ws_pool *pool, uint64_t expected)
{
    assert_int_equal(ws_pool_num_workers(pool), expected);
    test_set(&here, 0);
    assert_int_equal(ws_pool_install(pool, open_meeting, &expected), 0);
    assert_int_equal(test_get(&here), expected);
    ws_worker_stats stats;
    assert_int_equal(
        ws_pool_worker_stats(pool, ws_pool_worker_slots(pool), &stats),
        WS_EINVAL);
    test_await_sleep(pool);
    test_destroy(pool);
    assert_int_equal(test_get(&in_use), 0);
}

/* Tries to start a pool; returns the code.  `workers` 0 = automatic. */
static int try_start(unsigned workers, uint64_t expected)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *const before = (ws_pool *)(void *)&here;
    ws_pool *pool = before;
    unsigned threads = count_threads();
    config.num_threads = workers;
    int code = ws_pool_create(&pool, &config);
    reset(&memory_fault, 0, 0, 0);
    if (code == WS_OK) {
        check_pool(pool, expected);
    } else {
        assert_ptr_equal(pool, before);
        assert_int_equal(test_get(&in_use), 0);
    }
    while (count_threads() != threads) {
        wsi_thread_yield();
    }
    return code;
}

/* ---- threads --------------------------------------------------------- */

static const int errors[] = {EAGAIN, EPERM};

static void stated_size_needs_all_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        for (uint64_t k = 0; k < WORKERS; k++) {
            reset(&thread_fault, k, FOREVER, errors[i]);
            assert_int_equal(try_start(WORKERS, 0), WS_ETHREADS);
            reset(&thread_fault, 0, 0, 0);
            assert_int_equal(try_start(WORKERS, WORKERS), WS_OK);
        }
    }
}

static void automatic_size_takes_what_it_gets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        reset(&thread_fault, 0, FOREVER, errors[i]);
        assert_int_equal(try_start(0, 0), WS_ETHREADS);
        for (uint64_t k = 1; k <= WORKERS; k++) {
            reset(&thread_fault, k, FOREVER, errors[i]);
            assert_int_equal(try_start(0, k), WS_OK);
        }
    }
}

static void automatic_size_is_at_most_the_maximum(void **state)
{
    (void)state;
    wsi_port_ops.cpu_count = too_many_cpus;
    reset(&thread_fault, 3, FOREVER, EPERM);
    assert_int_equal(try_start(0, 3), WS_OK);
}

static void refusal_for_a_moment_is_waited_out(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < WORKERS; k++) {
        reset(&thread_fault, k, 2, EAGAIN);
        assert_int_equal(try_start(WORKERS, WORKERS), WS_OK);
    }
}

static void global_pool_without_threads(void **state)
{
    (void)state;
    ws_pool *pool = NULL;
    uint64_t one = 1;
    reset(&thread_fault, 0, FOREVER, EAGAIN);
    assert_int_equal(ws_pool_global(&pool), WS_ETHREADS);
    assert_null(pool);
    assert_int_equal(ws_spawn(NULL, open_meeting, &one), WS_ETHREADS);
    assert_int_equal(test_get(&in_use), 0);
    /* Half of the threads, and with them it works. */
    reset(&thread_fault, 2, FOREVER, EAGAIN);
    assert_int_equal(ws_pool_global(&pool), WS_OK);
    assert_int_equal(ws_pool_num_workers(pool), 2);
    assert_int_equal(ws_pool_install(NULL, open_meeting, &one), 0);
    test_await_sleep(pool);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    assert_int_equal(test_get(&in_use), 0);
}

static int count_leaf(void *arg)
{
    test_add(arg, 1);
    return 0;
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
        return count_leaf(t->leaves);
    }
    return ws_join(join_down, &next, join_down, &next);
}

/* Where no thread can be had, a tree of joins must not pay for that with some
 * milliseconds of back-off at every node. */
static void serial_joins_do_not_each_try_again(void **state)
{
    (void)state;
    test_counter leaves = {0};
    tree top = {8, &leaves};
    reset(&thread_fault, 0, FOREVER, EAGAIN);
    assert_int_equal(join_down(&top), 0);
    assert_int_equal(test_get(&leaves), 1 << 8);
    /* Four attempts to start one thread, for the outermost join. */
    assert_true(test_get(&thread_fault.calls) <= 8);
}

/* ---- memory ---------------------------------------------------------- */

static void memory_fails_at(uint64_t n_failures)
{
    int code = WS_ENOMEM;
    uint64_t k = 0;
    reset(&thread_fault, 0, 0, 0);
    for (; code != WS_OK; k++) {
        reset(&memory_fault, k, n_failures, 0);
        code = try_start(WORKERS, WORKERS);
        if (code != WS_OK) {
            assert_int_equal(code, WS_ENOMEM);
        }
        assert_int_equal(try_start(WORKERS, WORKERS), WS_OK);
    }
    /* The pool, its workers, parkers and queues, and a record a thread. */
    assert_true(k > 3 + 2 * WORKERS);
}

static void allocation_that_fails_once(void **state)
{
    (void)state;
    memory_fails_at(1);
}

static void allocations_that_fail_from_then_on(void **state)
{
    (void)state;
    memory_fails_at(FOREVER);
}

#define FAULTY(name) cmocka_unit_test_setup(name, inject_faults)

static const struct CMUnitTest tests[] = {
    FAULTY(stated_size_needs_all_threads),
    FAULTY(automatic_size_takes_what_it_gets),
    FAULTY(automatic_size_is_at_most_the_maximum),
    FAULTY(refusal_for_a_moment_is_waited_out),
    FAULTY(global_pool_without_threads),
    FAULTY(serial_joins_do_not_each_try_again),
    FAULTY(allocation_that_fails_once),
    FAULTY(allocations_that_fail_from_then_on),
};
WS_TEST_MAIN(tests)
