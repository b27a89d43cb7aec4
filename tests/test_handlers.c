/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_handlers.c: the start, exit and error handlers, pools that fail to start
 * with them, default and refused configurations, and what happens to a worker
 * whose stack is too small.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what the handlers saw ------------------------------------------- */

enum {
    SLOTS = 64
};

typedef struct {
    test_counter starts;
    test_counter exits;
    test_counter errors;
    test_counter codes; /* sum */
    test_counter started[SLOTS];
    test_counter exited[SLOTS];
    int start_code;
    int exit_code;
} record;

static int on_start(unsigned index, void *arg)
{
    record *r = arg;
    WS_TEST_REQUIRE(ws_current_index() == (int)index);
    WS_TEST_REQUIRE(index < SLOTS && test_get(&r->exited[index]) ==
                                         test_get(&r->started[index]));
    test_add(&r->started[index], 1);
    test_add(&r->starts, 1);
    return r->start_code;
}

static int on_exit_of_worker(unsigned index, void *arg)
{
    record *r = arg;
    WS_TEST_REQUIRE(ws_current_index() == (int)index);
    test_add(&r->exited[index], 1);
    WS_TEST_REQUIRE(test_get(&r->exited[index]) ==
                    test_get(&r->started[index]));
    test_add(&r->exits, 1);
    return r->exit_code;
}

static void on_error(int code, void *arg)
{
    record *r = arg;
    WS_TEST_REQUIRE(ws_current_index() >= 0);
    test_add(&r->errors, 1);
    test_add(&r->codes, (uint64_t)code);
}

static ws_pool_config recorded(record *r, unsigned workers)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.start_handler = on_start;
    config.exit_handler = on_exit_of_worker;
    config.error_handler = on_error;
    config.handler_arg = r;
    return config;
}

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

/* ---- start and exit -------------------------------------------------- */

static void start_callback_called(void **state)
{
    (void)state;
    record r = {.start_code = 0};
    ws_pool_config config = recorded(&r, 16);
    ws_pool *pool = test_pool_with(&config);
    test_await(&r.starts, 16);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(test_get(&r.started[i]), 1);
    }
    assert_int_equal(test_get(&r.exits), 0);
    test_destroy(pool);
    assert_int_equal(test_get(&r.starts), 16);
}

static void exit_callback_called(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        record r = {.start_code = 0};
        ws_pool_config config = recorded(&r, 16);
        ws_pool *pool = test_pool_with(&config);
        if (i % 2 == 0) {
            test_await_sleep(pool);
        }
        test_destroy(pool);
        assert_int_equal(test_get(&r.starts), 16);
        assert_int_equal(test_get(&r.exits), 16);
        assert_int_equal(test_get(&r.errors), 0);
    }
}

static int has_started(const ws_broadcast_ctx *ctx, void *arg)
{
    const record *r = arg;
    return test_get(&r->started[ctx->index]) == 1 ? 0 : 1;
}

static void start_handler_comes_before_the_first_job(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        record r = {.start_code = 0};
        ws_pool_config config = recorded(&r, 4);
        ws_pool *pool = test_pool_with(&config);
        assert_int_equal(ws_broadcast(pool, has_started, &r, NULL), 0);
        test_destroy(pool);
    }
}

static void handler_panics_handled_correctly(void **state)
{
    (void)state;
    record r = {.start_code = 3, .exit_code = -100};
    test_counter sum = {0};
    ws_pool_config config = recorded(&r, 16);
    ws_pool *pool = test_pool_with(&config);
    test_await(&r.errors, 16);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    assert_int_equal(test_totals(pool).errors, 16);
    assert_int_equal(test_get(&r.codes), 16 * 3);
    test_destroy(pool);
    assert_int_equal(test_get(&r.errors), 2 * 16);
    assert_int_equal((int64_t)test_get(&r.codes), 16 * (3 - 100));
    assert_int_equal(test_get(&sum), 1);
}

static void codes_without_an_error_handler_are_counted(void **state)
{
    (void)state;
    record r = {.start_code = 3, .exit_code = 4};
    ws_pool_config config = recorded(&r, 4);
    config.error_handler = NULL;
    ws_pool *pool = test_pool_with(&config);
    while (test_totals(pool).errors < 4) {
        wsi_thread_yield();
    }
    test_destroy(pool);
    assert_int_equal(test_get(&r.exits), 4);
}

static void handlers_are_not_called_for_the_creator(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers++) {
        record r = {.start_code = 0};
        test_counter sum = {0};
        ws_pool_config config = recorded(&r, workers);
        config.use_current_thread = 1;
        ws_pool *pool = test_pool_with(&config);
        assert_int_equal(ws_join(add_one, &sum, add_one, &sum), 0);
        assert_int_equal(ws_spawn(pool, add_one, &sum), WS_OK);
        test_destroy(pool);
        assert_int_equal(test_get(&sum), 3);
        assert_int_equal(test_get(&r.started[0]), 0);
        assert_int_equal(test_get(&r.exited[0]), 0);
        for (unsigned i = 1; i < workers; i++) {
            assert_int_equal(test_get(&r.started[i]), 1);
            assert_int_equal(test_get(&r.exited[i]), 1);
        }
    }
}

/* A join whose other half waits for the spare, so that there is one. */
typedef struct {
    ws_pool *pool;
    test_counter held;
    test_counter ran;
} spare_case;

static int until_held(void *arg)
{
    test_await(&((spare_case *)arg)->held, 1);
    return 0;
}

static int hold_until_ran(void *arg)
{
    spare_case *c = arg;
    test_set(&c->held, 1);
    WS_TEST_REQUIRE(ws_pool_current_index(c->pool) >= 0);
    test_await(&c->ran, 1);
    return 0;
}

static int wait_beside(void *arg)
{
    return ws_join(until_held, arg, hold_until_ran, arg);
}

static void *bring_a_job(void *arg)
{
    spare_case *c = arg;
    test_await(&c->held, 1);
    WS_TEST_REQUIRE(ws_spawn(c->pool, add_one, &c->ran) == WS_OK);
    return NULL;
}

static void handlers_are_called_for_spares(void **state)
{
    (void)state;
    record r = {.exit_code = 1};
    ws_pool_config config = recorded(&r, 2);
    spare_case c = {.pool = test_pool_with(&config)};
    pthread_t thread = test_thread(bring_a_job, &c);
    assert_int_equal(ws_pool_install(c.pool, wait_beside, &c), 0);
    test_join_thread(thread);
    test_destroy(c.pool);
    assert_true(test_get(&r.starts) > 2);
    assert_int_equal(test_get(&r.starts), test_get(&r.exits));
    assert_int_equal(test_get(&r.errors), test_get(&r.exits));
    assert_true(test_get(&r.started[2]) > 0);
}

/* ---- a handler that works in the pool -------------------------------- */

static test_counter from_handlers;

static int join_in_handler(unsigned index, void *arg)
{
    (void)index;
    return ws_join(add_one, arg, add_one, arg);
}

static void handlers_may_join(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(200); i > 0; i--) {
        ws_pool_config config = WS_POOL_CONFIG_INIT;
        test_set(&from_handlers, 0);
        config.num_threads = 4;
        config.max_spares = WS_NO_SPARES;
        config.start_handler = join_in_handler;
        config.exit_handler = join_in_handler;
        config.handler_arg = &from_handlers;
        test_destroy(test_pool_with(&config));
        assert_int_equal(test_get(&from_handlers), 16);
    }
}

/* ---- a pool that cannot start ---------------------------------------- */

static test_counter creations;

static int third_is_refused(pthread_t *out, const pthread_attr_t *attr,
                            wsi_thread_fn fn, void *arg)
{
    return test_add(&creations, 1) == 2 ? ENOMEM
                                        : pthread_create(out, attr, fn, arg);
}

static void check_thread_stack(size_t stack_size)
{
    record r = {.start_code = 0};
    ws_pool_config config = recorded(&r, 5);
    ws_pool *pool = NULL;
    config.stack_size = stack_size;
    int code = ws_pool_create(&pool, &config);
    if (code == WS_OK) { /* on a machine that maps so much */
        test_destroy(pool);
        assert_int_equal(test_get(&r.starts), 5);
    } else {
        assert_null(pool);
        assert_int_equal(test_get(&r.starts), 0);
    }
    assert_int_equal(test_get(&r.starts), test_get(&r.exits));
}

static void failed_thread_stack(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pool = NULL;
    config.num_threads = 2;
    config.stack_size = SIZE_MAX / 2;
    assert_int_equal(ws_pool_create(&pool, &config), WS_EINVAL);
    assert_null(pool);
    check_thread_stack(WS_MAX_STACK_SIZE);
    test_set(&creations, 0);
    wsi_port_ops.thread_create = third_is_refused;
    check_thread_stack(0);
    assert_int_equal(test_get(&creations), 3);
    wsi_port_ops.thread_create = pthread_create;
}

/* ---- configurations -------------------------------------------------- */

static void check_config_build(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(22, WS_WAIT_DEFAULT);
    assert_int_equal(ws_pool_num_workers(pool), 22);
    test_destroy(pool);
}

static void default_pool(void **state)
{
    (void)state;
    test_counter sum = {0};
    ws_pool *pool = test_pool_with(NULL);
    assert_true(ws_pool_num_workers(pool) >= 1);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    test_destroy(pool);
}

static void init_zero_threads(void **state)
{
    (void)state;
    test_counter sum = {0};
    ws_pool *pool = test_pool(0, WS_WAIT_DEFAULT);
    assert_true(ws_pool_num_workers(pool) >= 1);
    assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
    test_destroy(pool);
}

static void expect_code(const ws_pool_config *config, int code)
{
    ws_pool *const before = (ws_pool *)(void *)&creations;
    ws_pool *pool = before;
    assert_int_equal(ws_pool_create(&pool, config), code);
    if (code == WS_OK) {
        test_destroy(pool);
    } else {
        assert_ptr_equal(pool, before);
    }
    assert_int_equal(ws_current_index(), -1);
}

static void field_out_of_range(void **state)
{
    (void)state;
#define TRY(field, value, code)                                                \
    do {                                                                       \
        ws_pool_config config = WS_POOL_CONFIG_INIT;                           \
        config.num_threads = 2;                                                \
        config.field = value;                                                  \
        expect_code(&config, code);                                            \
    } while (0)
    TRY(max_spares, WS_MAX_WORKERS + 1, WS_EINVAL);
    TRY(max_spares, UINT_MAX - 1, WS_EINVAL);
    TRY(max_spares, WS_MAX_WORKERS, WS_OK);
    TRY(max_spares, 1, WS_OK);
    TRY(max_spares, WS_NO_SPARES, WS_OK);
    TRY(use_current_thread, 2, WS_EINVAL);
    TRY(use_current_thread, UINT_MAX, WS_EINVAL);
    TRY(use_current_thread, 1, WS_OK);
    TRY(max_depth, 1, WS_OK);
    TRY(max_depth, UINT_MAX, WS_OK);
#undef TRY
}

/* ---- the stack of a worker ------------------------------------------- */

#define STEP 1024
#define NEEDED ((size_t)1024 * 1024)
#define SMALL (NEEDED / 4)
#define LARGE (NEEDED * 2)

/* Uses at least `left` bytes of the stack. */
__attribute__((noinline)) static size_t use_stack(size_t left)
{
    volatile unsigned char bytes[STEP];
    for (size_t i = 0; i < STEP; i++) {
        bytes[i] = (unsigned char)left;
    }
    return left <= STEP ? bytes[STEP - 1]
                        : use_stack(left - STEP) + bytes[STEP / 2];
}

static int use_needed(void *arg)
{
    *(size_t *)arg = use_stack(NEEDED);
    return 0;
}

/* The status of a child process that needs NEEDED bytes in a worker. */
static int run_with_stack(size_t stack_size)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit no_core = {0, 0};
        ws_pool_config config = WS_POOL_CONFIG_INIT;
        ws_pool *pool = NULL;
        size_t result = 0;
        alarm(60); /* the watchdog stayed with the parent */
        (void)setrlimit(RLIMIT_CORE, &no_core);
        config.num_threads = 1;
        config.stack_size = stack_size;
        if (ws_pool_create(&pool, &config) != WS_OK) {
            _exit(1);
        }
        _exit(ws_pool_install(pool, use_needed, &result) == 0 ? 0 : 2);
    }
    assert_true(pid > 0);
    while (waitpid(pid, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    return status;
}

static void stack_overflow_crash(void **state)
{
    (void)state;
#ifdef TEST_SANITIZER
    skip(); /* it handles the signal */
#endif
    int status = run_with_stack(SMALL);
    assert_true(WIFSIGNALED(status));
    assert_true(WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
    status = run_with_stack(LARGE);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static test_counter early_jobs;

static int early_job(void *arg)
{
    (void)arg;
    test_add(&early_jobs, 1);
    return 0;
}

static int spawn_early(unsigned index, void *arg)
{
    (void)index;
    (void)arg;
    return ws_spawn(NULL, early_job, NULL);
}

static void jobs_of_the_start_handler_run(void **state)
{
    (void)state;
    const size_t rounds = ws_test_scale(200);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.start_handler = spawn_early;
    test_set(&early_jobs, 0);
    for (size_t i = 0; i < rounds; i++) {
        test_destroy(test_pool_with(&config));
    }
    assert_int_equal(test_get(&early_jobs), 2 * rounds);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(jobs_of_the_start_handler_run),
    cmocka_unit_test(start_callback_called),
    cmocka_unit_test(exit_callback_called),
    cmocka_unit_test(start_handler_comes_before_the_first_job),
    cmocka_unit_test(handler_panics_handled_correctly),
    cmocka_unit_test(codes_without_an_error_handler_are_counted),
    cmocka_unit_test(handlers_are_not_called_for_the_creator),
    cmocka_unit_test(handlers_are_called_for_spares),
    cmocka_unit_test(handlers_may_join),
    cmocka_unit_test(failed_thread_stack),
    cmocka_unit_test(check_config_build),
    cmocka_unit_test(default_pool),
    cmocka_unit_test(init_zero_threads),
    cmocka_unit_test(field_out_of_range),
    cmocka_unit_test(stack_overflow_crash),
};
WS_TEST_MAIN(tests)
