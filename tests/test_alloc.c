/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_alloc.c: how often the library asks for memory: never in a join after
 * warm-up, once in a thousand spawns or installs at most.
 *
 * Counted twice: at the port's seam, and, with glibc, by malloc and its kin
 * defined here, which also sees what would pass the seam by.  A sanitizer
 * brings its own malloc; there the seam alone is counted.
 */
/* ctest: processors 2 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>

/* ---- counting -------------------------------------------------------- */

static test_counter counting;
static test_counter seam_calls;
static test_counter libc_calls;

static void count_call(test_counter *calls)
{
    if (test_get(&counting) != 0) {
        test_add(calls, 1);
    }
}

#if defined(__GLIBC__) && !defined(TEST_SANITIZER)
#define LIBC_IS_COUNTED 1

/* glibc's own names of what is replaced below. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
    count_call(&libc_calls);
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count_call(&libc_calls);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    count_call(&libc_calls);
    return __libc_realloc(p, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    count_call(&libc_calls);
    void *p = __libc_memalign(align, size);
    if (p == NULL) {
        return ENOMEM;
    }
    *out = p;
    return 0;
}

void *aligned_alloc(size_t align, size_t size)
{
    count_call(&libc_calls);
    return __libc_memalign(align, size);
}
#endif

static void *alloc_counted(size_t align, size_t size)
{
    count_call(&seam_calls);
    return wsi_mem_alloc_real(align, size);
}

static void start_counting(void)
{
    test_set(&seam_calls, 0);
    test_set(&libc_calls, 0);
    test_set(&counting, 1);
}

/* The calls since start_counting(). */
static uint64_t stop_counting(void)
{
    test_set(&counting, 0);
    uint64_t seam = test_get(&seam_calls);
    uint64_t libc = test_get(&libc_calls);
    return seam > libc ? seam : libc;
}

/* Without spare threads, whose start allocates. */
static void in_each_pool(void (*check)(ws_pool *pool))
{
    wsi_port_ops.mem_alloc = alloc_counted;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool_config config = WS_POOL_CONFIG_INIT;
            config.num_threads = workers;
            config.wait_policy = p;
            config.max_spares = WS_NO_SPARES;
            ws_pool *pool = test_pool_with(&config);
            check(pool);
            test_destroy(pool);
        }
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void the_counters_count(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_counted;
    start_counting();
    void *p = wsi_mem_alloc(64, 64);
    test_set(&counting, 0);
    wsi_mem_free(p);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    assert_int_equal(test_get(&seam_calls), 1);
#ifdef LIBC_IS_COUNTED
    const char *preload = getenv("LD_PRELOAD");
    if (preload == NULL || strstr(preload, "vgpreload") == NULL) {
        assert_int_equal(test_get(&libc_calls), 1);
    }
#endif
}

/* ---- join ------------------------------------------------------------ */

static int fib(void *arg)
{
    uint64_t *n = arg;
    if (*n < 2) {
        return 0;
    }
    uint64_t a = *n - 1;
    uint64_t b = *n - 2;
    int code = ws_join(fib, &a, fib, &b);
    *n = a + b;
    return code;
}

static void check_join(ws_pool *pool)
{
    uint64_t warm = 18;
    uint64_t n = 24;
    assert_int_equal(ws_pool_install(pool, fib, &warm), 0);
    start_counting();
    assert_int_equal(ws_pool_install(pool, fib, &n), 0);
    assert_int_equal(stop_counting(), 0);
}

static void join_allocates_nothing(void **state)
{
    (void)state;
    in_each_pool(check_join);
}

/* ---- scope ----------------------------------------------------------- */

static test_counter runs;
static size_t n_spawns;

static int add_run(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    test_add(&runs, 1);
    return 0;
}

static int spawn_flat(struct ws_scope *scope, void *arg)
{
    for (size_t i = 0; i < n_spawns; i++) {
        ws_scope_spawn(scope, add_run, arg);
    }
    return 0;
}

static int spawn_tree(struct ws_scope *scope, void *arg)
{
    /* Node i has the children 2 i and 2 i + 1. */
    uintptr_t node = (uintptr_t)arg;
    test_add(&runs, 1);
    for (uintptr_t i = 2 * node; i <= 2 * node + 1; i++) {
        if (i <= n_spawns) {
            ws_scope_spawn(scope, spawn_tree, (void *)i);
        }
    }
    return 0;
}

/* The body's worker spawns only; who runs the jobs is the other one. */
static int produce(struct ws_scope *scope, void *arg)
{
    enum {
        AT_ONCE = 1000
    };
    for (size_t i = 0; i < n_spawns; i++) {
        ws_scope_spawn(scope, add_run, arg);
        if (i >= AT_ONCE) {
            test_await(&runs, i - AT_ONCE);
        }
    }
    return 0;
}

static ws_scope_fn scope_body;

static int open_scope(void *arg)
{
    return ws_scope(scope_body, arg);
}

static void check_scope(ws_pool *pool, ws_scope_fn body, size_t at_most)
{
    scope_body = body;
    n_spawns = ws_test_scale(1000000);
    test_set(&runs, 0);
    start_counting();
    assert_int_equal(ws_pool_install(pool, open_scope, (void *)1), 0);
    assert_in_range(stop_counting(), 0, at_most);
    assert_int_equal(test_get(&runs), n_spawns);
}

static void check_flat(ws_pool *pool)
{
    check_scope(pool, spawn_flat, ws_test_scale(1000000) / 1000 + 20);
    if (ws_pool_num_workers(pool) == 1) {
        /* As many are queued as before: what was freed is used again. */
        check_scope(pool, spawn_flat, 20);
    }
}

static void check_nested(ws_pool *pool)
{
    check_scope(pool, spawn_tree, ws_test_scale(1000000) / 1000 + 20);
}

static void check_produced(ws_pool *pool)
{
    check_scope(pool, produce, 40);
}

static void flat_scope_allocates_once_in_a_thousand(void **state)
{
    (void)state;
    in_each_pool(check_flat);
}

static void nested_scope_allocates_once_in_a_thousand(void **state)
{
    (void)state;
    in_each_pool(check_nested);
}

static void producer_and_consumer_recycle(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_counted;
    test_in_pools_of(2, check_produced);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* ---- from outside ---------------------------------------------------- */

static int add_detached(void *arg)
{
    (void)arg;
    test_add(&runs, 1);
    return 0;
}

static void spawn_outside(ws_pool *pool, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(ws_spawn(pool, add_detached, NULL), WS_OK);
        if (i >= 1000) {
            test_await(&runs, i - 1000);
        }
    }
    test_await(&runs, n);
}

static void check_spawn(ws_pool *pool)
{
    const size_t n = ws_test_scale(200000);
    test_set(&runs, 0);
    start_counting();
    spawn_outside(pool, n);
    /* Records for a thousand jobs, and the injector's segments for them. */
    assert_in_range(stop_counting(), 0, n / 1000 + 60);
}

static void spawn_from_outside_recycles(void **state)
{
    (void)state;
    in_each_pool(check_spawn);
}

static test_counter gate;

static int hold(void *arg)
{
    (void)arg;
    test_add(&runs, 1);
    test_await(&gate, 1);
    return 0;
}

/* Nothing comes back while the jobs are queued. */
static void check_backlog(ws_pool *pool)
{
    const size_t n = ws_test_scale(100000);
    test_set(&runs, 0);
    test_set(&gate, 0);
    for (unsigned i = 0; i < ws_pool_num_workers(pool); i++) {
        assert_int_equal(ws_spawn(pool, hold, NULL), WS_OK);
    }
    test_await(&runs, ws_pool_num_workers(pool));
    start_counting();
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(ws_spawn(pool, add_detached, NULL), WS_OK);
    }
    uint64_t calls = stop_counting();
    test_set(&gate, 1);
    test_await(&runs, ws_pool_num_workers(pool) + n);
    /* ws_spawn(): at most once in a thousand calls */
    assert_in_range(calls, 0, n / 1000 + 20);
}

static void backlog_from_outside_allocates_once_in_a_thousand(void **state)
{
    (void)state;
    in_each_pool(check_backlog);
}

static void check_install(ws_pool *pool)
{
    const size_t n = ws_test_scale(20000);
    test_set(&runs, 0);
    start_counting();
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(ws_pool_install(pool, add_detached, NULL), 0);
    }
    assert_in_range(stop_counting(), 0, n / 1000 + 1);
    assert_int_equal(test_get(&runs), n);
}

static void install_allocates_once_in_a_thousand(void **state)
{
    (void)state;
    in_each_pool(check_install);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_counters_count),
    cmocka_unit_test(join_allocates_nothing),
    cmocka_unit_test(flat_scope_allocates_once_in_a_thousand),
    cmocka_unit_test(nested_scope_allocates_once_in_a_thousand),
    cmocka_unit_test(producer_and_consumer_recycle),
    cmocka_unit_test(spawn_from_outside_recycles),
    cmocka_unit_test(backlog_from_outside_allocates_once_in_a_thousand),
    cmocka_unit_test(install_allocates_once_in_a_thousand),
};
WS_TEST_MAIN(tests)
