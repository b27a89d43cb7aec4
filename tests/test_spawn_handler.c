/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_spawn_handler.c: pools whose threads the user starts: what a thread
 * keeps and loses in ws_thread_run, handlers that fail, threads that come late,
 * and spare threads.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

enum {
    MOST = 16,
    NEVER = 99
};

/* ---- the user's threads ---------------------------------------------- */

static _Thread_local int local_value;

typedef struct {
    struct host *host;
    ws_thread *thread;
    int value; /* of the caller's local_value */
    pthread_t handle;
} guest;

/* `asked` of them were asked for, and the guests [0, begun) were started. */
typedef struct host {
    test_counter asked;
    test_counter begun;
    test_counter left;
    test_counter indices; /* bit set */
    test_counter fail_at; /* index from which on the handler fails */
    guest guests[MOST];
} host;

static void *run_guest(void *arg)
{
    guest *g = arg;
    local_value = g->value;
    WS_TEST_REQUIRE(ws_current_index() == -1);
    WS_TEST_REQUIRE(ws_thread_run(g->thread) == WS_OK);
    WS_TEST_REQUIRE(ws_current_index() == -1);
    WS_TEST_REQUIRE(local_value == g->value);
    test_add(&g->host->left, 1);
    return NULL;
}

static int start_guest(ws_thread *thread, void *arg)
{
    host *h = arg;
    const unsigned index = ws_thread_index(thread);
    test_add(&h->asked, 1);
    if (index >= test_get(&h->fail_at)) {
        return 1;
    }
    test_add(&h->indices, (uint64_t)1 << index);
    guest *g = &h->guests[test_add(&h->begun, 1)];
    *g = (guest){.host = h, .thread = thread, .value = local_value};
    g->handle = test_thread(run_guest, g);
    return 0;
}

static ws_pool_config hosted_config(host *h, unsigned workers)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.spawn_handler = start_guest;
    config.handler_arg = h;
    return config;
}

static ws_pool *hosted_pool(host *h, unsigned workers)
{
    ws_pool_config config = hosted_config(h, workers);
    return test_pool_with(&config);
}

/* The threads have left ws_thread_run(), whatever became of the pool. */
static void join_guests(host *h)
{
    for (uint64_t i = 0; i < test_get(&h->begun); i++) {
        test_join_thread(h->guests[i].handle);
    }
    assert_int_equal(test_get(&h->left), test_get(&h->begun));
}

/* ---- thread-local values --------------------------------------------- */

static int check_value(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    return local_value == *(int *)arg ? 0 : 1;
}

static void spawn_scoped_tls_threadpool(void **state)
{
    (void)state;
    host h = {.fail_at = {NEVER}};
    int expected = 42;
    local_value = 42;
    ws_pool *pool = hosted_pool(&h, 5);
    local_value = 43; /* too late for the threads */
    assert_int_equal(ws_broadcast(pool, check_value, &expected, NULL), 0);
    assert_int_equal(local_value, 43);
    test_destroy(pool);
    join_guests(&h);
    local_value = 0;
}

/* Pools on the stack of a loop, with all that their threads use. */
static void build_scoped_tls_threadpool(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        host h = {.fail_at = {NEVER}};
        int expected = local_value = (int)i;
        ws_pool *pool = hosted_pool(&h, 1 + (unsigned)i % 4);
        assert_int_equal(ws_broadcast(pool, check_value, &expected, NULL), 0);
        test_destroy(pool);
        join_guests(&h);
    }
    local_value = 0;
}

static void missing_scoped_tls(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(3, WS_WAIT_DEFAULT);
    int expected = 0;
    local_value = 42;
    assert_int_equal(ws_broadcast(pool, check_value, &expected, NULL), 0);
    test_destroy(pool);
    local_value = 0;
}

/* What run_guest() requires after ws_thread_run() returned. */
static void cleared_current_thread(void **state)
{
    (void)state;
    host h = {.fail_at = {NEVER}};
    test_destroy(hosted_pool(&h, 3));
    join_guests(&h);
}

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

/* ---- what a thread can ask ------------------------------------------- */

static size_t expected_stack;
static unsigned next_index;

static int check_thread(ws_thread *thread, void *arg)
{
    char name[32];
    assert_int_equal(ws_thread_index(thread), next_index);
    snprintf(name, sizeof(name), "ws-guest-%u", next_index);
    assert_string_equal(ws_thread_name(thread), name);
    assert_int_equal(ws_thread_stack_size(thread), expected_stack);
    next_index++;
    return start_guest(thread, arg);
}

static void check_threads(size_t stack_size, unsigned use_current_thread)
{
    host h = {.fail_at = {NEVER}};
    ws_pool_config config = hosted_config(&h, 12);
    test_counter sum = {0};
    config.name = "guest";
    config.stack_size = stack_size;
    config.use_current_thread = use_current_thread;
    config.spawn_handler = check_thread;
    config.max_spares = WS_NO_SPARES;
    next_index = use_current_thread;
    ws_pool *pool = test_pool_with(&config);
    assert_int_equal(next_index, 12);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    test_destroy(pool);
    join_guests(&h);
    assert_int_equal(test_get(&h.indices), 0xFFF & ~use_current_thread);
}

static void threads_have_an_index_a_name_and_a_stack_size(void **state)
{
    (void)state;
    expected_stack = 8 * 1024 * 1024;
    check_threads(0, 0);
    expected_stack = WS_MIN_STACK_SIZE + 1;
    check_threads(expected_stack, 0);
    check_threads(expected_stack, 1);
}

/* ---- threads that come late, or to the wrong place ------------------- */

static ws_thread *kept;

static int keep_thread(ws_thread *thread, void *arg)
{
    (void)arg;
    kept = thread;
    return 0;
}

static ws_pool *pool_without_its_thread(void)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.spawn_handler = keep_thread;
    return test_pool_with(&config);
}

static void *run_kept(void *arg)
{
    (void)arg;
    WS_TEST_REQUIRE(ws_thread_run(kept) == WS_OK);
    return NULL;
}

static int run_inside(void *arg)
{
    return ws_thread_run(arg);
}

static void run_of_null_or_in_a_worker_is_refused(void **state)
{
    (void)state;
    ws_pool *other = test_pool(1, WS_WAIT_DEFAULT);
    ws_pool *pool = pool_without_its_thread();
    test_counter sum = {0};
    assert_int_equal(ws_thread_run(NULL), WS_EINVAL);
    assert_int_equal(ws_pool_install(other, run_inside, NULL), WS_EINVAL);
    assert_int_equal(ws_pool_install(other, run_inside, kept), WS_EINWORKER);
    pthread_t thread = test_thread(run_kept, NULL);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    test_destroy(pool);
    test_join_thread(thread);
    test_destroy(other);
}

/* Comes when the handle is gone, and perhaps a job is left. */
static void *run_kept_in_destroy(void *arg)
{
    const ws_pool *pool = arg;
    /* relaxed: the number only */
    while (wsi_u32_load_relaxed(&pool->open) > 1) {
        wsi_thread_yield();
    }
    return run_kept(NULL);
}

static void thread_that_comes_when_the_pool_ends(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        ws_pool *pool = pool_without_its_thread();
        test_counter sum = {0};
        if (i % 2 == 0) {
            assert_int_equal(ws_spawn(pool, add_one, &sum), WS_OK);
            assert_int_equal(ws_pool_destroy_timeout(pool, 0), WS_ETIMEDOUT);
        }
        pthread_t thread = test_thread(run_kept_in_destroy, pool);
        test_destroy(pool);
        assert_int_equal(test_get(&sum), i % 2 == 0);
        test_join_thread(thread);
    }
}

/* ---- handlers that fail ---------------------------------------------- */

static test_counter in_use;

static void *alloc_counted(size_t align, size_t size)
{
    test_add(&in_use, 1);
    return wsi_mem_alloc_real(align, size);
}

static void free_counted(void *p)
{
    test_add(&in_use, p != NULL ? (uint64_t)-1 : 0);
    wsi_mem_free_real(p);
}

static int never_called(unsigned index, void *arg)
{
    (void)index;
    (void)arg;
    WS_TEST_REQUIRE(false);
    return 0;
}

static unsigned eight_cpus(void)
{
    return 8;
}

static int count_memory(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_counted;
    wsi_port_ops.mem_free = free_counted;
    wsi_port_ops.cpu_count = eight_cpus;
    return unsetenv("WSTEAL_NUM_THREADS");
}

static void check_failure(unsigned fail_at, unsigned workers, unsigned own)
{
    host h = {.fail_at = {fail_at}};
    ws_pool_config config = hosted_config(&h, workers);
    ws_pool *pool = NULL;
    config.start_handler = never_called;
    config.exit_handler = never_called;
    config.use_current_thread = own;
    assert_int_equal(ws_pool_create(&pool, &config), WS_ETHREADS);
    assert_null(pool);
    assert_int_equal(test_get(&in_use), 0);
    assert_int_equal(test_get(&h.asked), fail_at - own + 1);
    assert_int_equal(test_get(&h.begun), fail_at - own);
    join_guests(&h);
    assert_int_equal(ws_current_index(), -1);
}

static void panic_thread_name(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        check_failure(5, 10, 0);
        check_failure(0, 10, 0);
        check_failure(9, 10, 0);
        check_failure(5, 10, 1);
        check_failure(1, 10, 1);
    }
    check_failure(0, 0, 0); /* of automatic size, but not even one */
}

static void automatic_size_takes_what_the_handler_gives(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        const unsigned k = 1 + i / 2;
        host h = {.fail_at = {k}};
        ws_pool_config config = hosted_config(&h, 0);
        test_counter sum = {0};
        config.use_current_thread = i % 2;
        ws_pool *pool = test_pool_with(&config);
        assert_int_equal(ws_pool_num_workers(pool), k);
        assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
        assert_int_equal(ws_spawn(pool, add_one, &sum), WS_OK);
        test_destroy(pool);
        assert_int_equal(test_get(&sum), 2);
        assert_int_equal(test_get(&in_use), 0);
        join_guests(&h);
    }
}

/* ---- spare threads --------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter held;
    test_counter release;
    test_counter ran;
} wait_case;

static int note_value(void *arg)
{
    wait_case *c = arg;
    WS_TEST_REQUIRE(local_value == 42);
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
    ws_pool *pool = ((wait_case *)arg)->pool;
    WS_TEST_REQUIRE(ws_pool_install(pool, wait_for_held, arg) == 0);
    return NULL;
}

/* Both workers are bound, one holds, one waits, and `n` jobs come; they run
 * meanwhile, if `spares`. */
static void run_beside(wait_case *c, uint64_t n, bool spares)
{
    const uint64_t lent = test_totals(c->pool).lent;
    test_set(&c->held, 0);
    test_set(&c->release, 0);
    test_set(&c->ran, 0);
    pthread_t thread = test_thread(enter, c);
    test_await(&c->held, 1);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(ws_spawn(c->pool, note_value, c), WS_OK);
    }
    while (spares ? test_get(&c->ran) < n : test_totals(c->pool).lent == lent) {
        wsi_thread_yield();
    }
    test_set(&c->release, 1);
    test_join_thread(thread);
    test_await(&c->ran, n);
}

/* Without patience, so that an ordinary spare would end each time. */
static void with_spares(host *h, wait_case *c, unsigned max_spares)
{
    ws_pool_config config = hosted_config(h, 2);
    wsi_pool_plan plan;
    config.max_spares = max_spares;
    assert_int_equal(wsi_pool_plan_make(&plan, &config), WS_OK);
    plan.patience_ns = 0;
    local_value = 42;
    assert_int_equal(wsi_pool_start(&c->pool, &plan), WS_OK);
}

/* The handler runs on workers, which have the value as well. */
static void spares_come_from_the_handler_and_stay(void **state)
{
    (void)state;
    host h = {.fail_at = {NEVER}};
    wait_case c = {.pool = NULL};
    with_spares(&h, &c, 3);
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        run_beside(&c, 3, true);
        assert_in_range(test_get(&h.asked), 3, 5);
    }
    test_destroy(c.pool);
    join_guests(&h);
}

static void pool_without_spares_never_asks(void **state)
{
    (void)state;
    host h = {.fail_at = {NEVER}};
    wait_case c = {.pool = NULL};
    with_spares(&h, &c, WS_NO_SPARES);
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        run_beside(&c, 3, false);
    }
    test_destroy(c.pool);
    join_guests(&h);
    assert_int_equal(test_get(&h.asked), 2);
}

static void handler_that_refuses_spares(void **state)
{
    (void)state;
    host h = {.fail_at = {2}};
    wait_case c = {.pool = NULL};
    with_spares(&h, &c, 1);
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        const uint64_t asked = test_get(&h.asked);
        run_beside(&c, 3, false);
        assert_true(test_get(&h.asked) > asked);
    }
    test_set(&h.fail_at, NEVER);
    run_beside(&c, 3, true);
    assert_int_equal(test_get(&h.begun), 3);
    test_destroy(c.pool);
    join_guests(&h);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(spawn_scoped_tls_threadpool),
    cmocka_unit_test(build_scoped_tls_threadpool),
    cmocka_unit_test(missing_scoped_tls),
    cmocka_unit_test(cleared_current_thread),
    cmocka_unit_test(threads_have_an_index_a_name_and_a_stack_size),
    cmocka_unit_test(run_of_null_or_in_a_worker_is_refused),
    cmocka_unit_test(thread_that_comes_when_the_pool_ends),
    cmocka_unit_test_setup(panic_thread_name, count_memory),
    cmocka_unit_test_setup(automatic_size_takes_what_the_handler_gives,
                           count_memory),
    cmocka_unit_test(spares_come_from_the_handler_and_stay),
    cmocka_unit_test(pool_without_spares_never_asks),
    cmocka_unit_test(handler_that_refuses_spares),
};
WS_TEST_MAIN(tests)
