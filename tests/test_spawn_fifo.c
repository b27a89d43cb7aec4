/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_spawn_fifo.c: the order of detached jobs, and where their errors go.
 */
#include "support/pools.h"

/* ---- order on one worker --------------------------------------------- */

typedef struct {
    int seen[128];
    test_counter n;
    bool outer_fifo;
    bool inner_fifo;
} record;

typedef struct {
    record *r;
    int value;
} step;

static step steps[256];
static int n_steps;

static int note_step(void *arg)
{
    const step *s = arg;
    s->r->seen[test_get(&s->r->n)] = s->value;
    test_add(&s->r->n, 1);
    return 0;
}

static void spawn_one(bool fifo, ws_fn fn, record *r, int value)
{
    step *s = &steps[n_steps++];
    *s = (step){r, value};
    WS_TEST_REQUIRE(
        (fifo ? ws_spawn_fifo(NULL, fn, s) : ws_spawn(NULL, fn, s)) == WS_OK);
}

static int spawn_ten(void *arg)
{
    const step *s = arg;
    for (int j = 0; j < 10; j++) {
        spawn_one(s->r->inner_fifo, note_step, s->r, 10 * s->value + j);
    }
    return 0;
}

static int spawn_tens(void *arg)
{
    record *r = arg;
    n_steps = 0;
    for (int i = 0; i < 10; i++) {
        spawn_one(r->outer_fifo, spawn_ten, r, i);
    }
    return 0;
}

static void run(record *r, ws_fn body, uint64_t n)
{
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    assert_int_equal(ws_pool_install(pool, body, r), 0);
    test_destroy(pool);
    assert_int_equal(test_get(&r->n), n);
}

static void check_tens(bool outer_fifo, bool inner_fifo)
{
    record r = {.outer_fifo = outer_fifo, .inner_fifo = inner_fifo};
    run(&r, spawn_tens, 100);
    for (int i = 0; i < 100; i++) {
        int ten = outer_fifo ? i / 10 : 9 - i / 10;
        int one = inner_fifo ? i % 10 : 9 - i % 10;
        assert_int_equal(r.seen[i], 10 * ten + one);
    }
}

static void fifo_order(void **state)
{
    (void)state;
    check_tens(true, true);
}

static void lifo_fifo_order(void **state)
{
    (void)state;
    check_tens(false, true);
}

static void fifo_lifo_order(void **state)
{
    (void)state;
    check_tens(true, false);
}

static int spawn_mixed(void *arg)
{
    record *r = arg;
    n_steps = 0;
    for (int i = 0; i <= 3; i++) {
        spawn_one(r->outer_fifo, note_step, r, i);
        if (i < 3) {
            spawn_one(r->inner_fifo, note_step, r, -1 - i);
        }
    }
    return 0;
}

static void check_mixed(bool outer_fifo, bool inner_fifo, const int expected[7])
{
    record r = {.outer_fifo = outer_fifo, .inner_fifo = inner_fifo};
    run(&r, spawn_mixed, 7);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(r.seen[i], expected[i]);
    }
}

static void mixed_lifo_fifo_order(void **state)
{
    static const int expected[] = {3, -1, 2, -2, 1, -3, 0};
    (void)state;
    check_mixed(false, true, expected);
}

static void mixed_fifo_lifo_order(void **state)
{
    static const int expected[] = {0, -3, 1, -2, 2, -1, 3};
    (void)state;
    check_mixed(true, false, expected);
}

static int spawn_single(void *arg)
{
    record *r = arg;
    n_steps = 0;
    for (int i = 0; i < 10; i++) {
        spawn_one(r->outer_fifo, note_step, r, i);
    }
    return 0;
}

static void check_single(bool fifo)
{
    record r = {.outer_fifo = fifo};
    run(&r, spawn_single, 10);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(r.seen[i], fifo ? i : 9 - i);
    }
}

static void spawn_fifo_order(void **state)
{
    (void)state;
    check_single(true);
}

static void spawn_lifo_order(void **state)
{
    (void)state;
    check_single(false);
}

/* ---- several workers ------------------------------------------------- */

typedef struct {
    test_counter started;
    uint64_t n;
    ws_pool *pool;
} queue;

typedef struct {
    queue *q;
    uint64_t number;
} ticket;

/* Waits until all before it have started. */
static int start_in_turn(void *arg)
{
    const ticket *t = arg;
    test_await(&t->q->started, t->number);
    test_add(&t->q->started, 1);
    return 0;
}

static ticket tickets[5000];

static int spawn_queue(void *arg)
{
    queue *q = arg;
    for (uint64_t i = 0; i < q->n; i++) {
        tickets[i] = (ticket){q, i};
        WS_TEST_REQUIRE(ws_spawn_fifo(q->pool, start_in_turn, &tickets[i]) ==
                        WS_OK);
    }
    return 0;
}

static void jobs_of_a_worker_start_in_order(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        queue q = {.n = ws_test_scale(5000),
                   .pool = test_pool(workers, WS_WAIT_DEFAULT)};
        assert_int_equal(ws_pool_install(q.pool, spawn_queue, &q), 0);
        test_await(&q.started, q.n);
        test_set(&q.started, 0);
        assert_int_equal(spawn_queue(&q), 0); /* by the injector */
        test_destroy(q.pool);
        assert_int_equal(test_get(&q.started), q.n);
    }
}

/* ---- errors ---------------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter calls;
    test_counter sum;
} errors;

static void handle(int code, void *arg)
{
    errors *e = arg;
    WS_TEST_REQUIRE(ws_pool_current_index(e->pool) >= 0);
    test_add(&e->sum, (uint64_t)code);
    test_add(&e->calls, 1);
}

static int fail_with_five(void *arg)
{
    (void)arg;
    return 5;
}

static int spawn_three(void *arg)
{
    errors *e = arg;
    WS_TEST_REQUIRE(ws_spawn(NULL, fail_with_five, e) == WS_OK);
    WS_TEST_REQUIRE(ws_spawn_fifo(NULL, fail_with_five, e) == WS_OK);
    WS_TEST_REQUIRE(ws_spawn_copy(NULL, fail_with_five, &e, sizeof(e)) ==
                    WS_OK);
    return 0;
}

static ws_pool *pool_with_handler(errors *e)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.error_handler = handle;
    config.handler_arg = e;
    return test_pool_with(&config);
}

static void check_errors(ws_fn fn, uint64_t expected)
{
    errors e = {.calls = {0}};
    e.pool = pool_with_handler(&e);
    for (int i = 0; i < 100; i++) {
        test_set(&e.calls, 0);
        assert_int_equal(ws_spawn(e.pool, fn, &e), WS_OK);
        test_await(&e.calls, expected);
    }
    assert_int_equal(test_get(&e.sum), 500 * expected);
    assert_int_equal(test_totals(e.pool).errors, 100 * expected);
    test_destroy(e.pool);
}

static void panic_fwd(void **state)
{
    (void)state;
    check_errors(fail_with_five, 1);
}

static void custom_panic_handler_and_spawn(void **state)
{
    (void)state;
    errors e = {.calls = {0}};
    e.pool = pool_with_handler(&e);
    assert_int_equal(ws_pool_install(e.pool, spawn_three, &e), 0);
    test_destroy(e.pool);
    assert_int_equal(test_get(&e.calls), 3);
    assert_int_equal(test_get(&e.sum), 15);
}

static void custom_panic_handler_and_nested_spawn(void **state)
{
    (void)state;
    check_errors(spawn_three, 3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fifo_order),
    cmocka_unit_test(lifo_fifo_order),
    cmocka_unit_test(fifo_lifo_order),
    cmocka_unit_test(mixed_lifo_fifo_order),
    cmocka_unit_test(mixed_fifo_lifo_order),
    cmocka_unit_test(spawn_fifo_order),
    cmocka_unit_test(spawn_lifo_order),
    cmocka_unit_test(jobs_of_a_worker_start_in_order),
    cmocka_unit_test(panic_fwd),
    cmocka_unit_test(custom_panic_handler_and_spawn),
    cmocka_unit_test(custom_panic_handler_and_nested_spawn),
};
WS_TEST_MAIN(tests)
