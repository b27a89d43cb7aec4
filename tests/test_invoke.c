/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_invoke.c: ws_invoke and ws_invoke_fail_fast: which tasks run or are
 * dropped, whose code is returned, cancellation, bad arguments; in pools and
 * outside of them.
 */
#include "support/pools.h"

enum {
    MOST = 1000,
    FEW = 41
};

struct call;

/* One task, and what became of it. */
typedef struct {
    struct call *call;
    size_t index;
    int code;
    test_counter ran;
    test_counter dropped;
} item;

/* One call of either function. */
typedef struct call {
    size_t n;
    int (*invoke)(size_t n, const ws_task tasks[]);
    void (*before)(item *i); /* in each task, or NULL */
    test_counter started;
    test_counter failed_at; /* so many had started when the first failed */
    ws_token *token;
    size_t last; /* task that ends after the other */
    item items[MOST];
    ws_task tasks[MOST];
} call;

static int run_item(void *arg)
{
    item *i = arg;
    uint64_t started = test_add(&i->call->started, 1) + 1;
    test_add(&i->ran, 1);
    if (i->call->before != NULL) {
        i->call->before(i);
    }
    if (i->code != 0) {
        test_add(&i->call->failed_at, started);
    }
    return i->code;
}

static void drop_item(void *arg)
{
    test_add(&((item *)arg)->dropped, 1);
}

static void prepare(call *c, int (*invoke)(size_t, const ws_task[]), size_t n)
{
    memset(c, 0, sizeof(*c));
    c->n = n;
    c->invoke = invoke;
    for (size_t k = 0; k < n; k++) {
        c->items[k].call = c;
        c->items[k].index = k;
        c->tasks[k] = (ws_task){run_item, &c->items[k], drop_item};
    }
}

static int invoke_here(void *arg)
{
    call *c = arg;
    int code = c->invoke(c->n, c->tasks);
    WS_TEST_REQUIRE(c->token != NULL || !ws_cancelled());
    return code;
}

/* In a worker of the pool, or with NULL on this thread. */
static int invoke_in(ws_pool *pool, call *c)
{
    return pool != NULL ? ws_pool_install(pool, invoke_here, c)
                        : invoke_here(c);
}

/* Each task has run or was dropped, once; returns the code that the rules ask
 * for, 0 if no task failed. */
static int expected_code(const call *c)
{
    int code = 0;
    for (size_t k = 0; k < c->n; k++) {
        const item *i = &c->items[k];
        bool has_drop = c->tasks[k].drop != NULL;
        bool ran = test_get(&i->ran) == 1;
        assert_in_range(test_get(&i->ran), 0, 1);
        assert_int_equal(test_get(&i->dropped), !ran && has_drop);
        code = code == 0 && ran ? i->code : code;
    }
    return code;
}

static uint64_t count_dropped(const call *c)
{
    return c->n - test_get(&c->started);
}

static void in_each_pool_and_outside(void (*check)(ws_pool *pool))
{
    test_in_each_pool(check);
    check(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* For the calls of a case that do not fit a stack. */
static call the_call;

/* ---- both ------------------------------------------------------------ */

static int (*const invokes[])(size_t, const ws_task[]) = {ws_invoke,
                                                          ws_invoke_fail_fast};

static void check_all_run(ws_pool *pool)
{
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 64, 65, MOST};
    call *c = &the_call;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (int f = 0; f < 2; f++) {
            prepare(c, invokes[f], sizes[s]);
            assert_int_equal(invoke_in(pool, c), 0);
            assert_int_equal(expected_code(c), 0);
            assert_int_equal(count_dropped(c), 0);
        }
    }
}

static void all_tasks_run_once(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_all_run);
}

static void note_place(item *i)
{
    WS_TEST_REQUIRE(ws_current_index() >= 0);
    WS_TEST_REQUIRE(ws_current_num_workers() == 3);
    (void)i;
}

static void outside_a_worker_tasks_run_in_the_global_pool(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    call *c = &the_call;
    config.num_threads = 3;
    assert_int_equal(ws_pool_global_init(&config), WS_OK);
    /* The largest first. */
    for (size_t n = 3; n > 0; n--) {
        for (int f = 0; f < 2; f++) {
            prepare(c, invokes[f], n);
            c->before = note_place;
            assert_int_equal(invoke_here(c), 0);
            assert_int_equal(count_dropped(c), 0);
        }
    }
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void check_bad(ws_pool *pool)
{
    call *c = &the_call;
    for (int f = 0; f < 2; f++) {
        assert_int_equal(invokes[f](0, NULL), WS_OK);
        assert_int_equal(invokes[f](1, NULL), WS_EINVAL);
        for (size_t n = 1; n <= 9; n++) {
            for (size_t bad = 0; bad < n; bad++) {
                prepare(c, invokes[f], n);
                c->tasks[bad].fn = NULL;
                assert_int_equal(invoke_in(pool, c), WS_EINVAL);
                for (size_t k = 0; k < n; k++) {
                    assert_int_equal(test_get(&c->items[k].ran), 0);
                    assert_int_equal(test_get(&c->items[k].dropped), 0);
                }
            }
        }
    }
}

static void with_a_bad_task_nothing_runs(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_bad);
}

/* ---- ws_invoke: the first code in the array -------------------------- */

static void check_first_wins(ws_pool *pool)
{
    call *c = &the_call;
    uint64_t random = 1;
    for (size_t round = ws_test_scale(200); round > 0; round--) {
        prepare(c, ws_invoke, 1 + (size_t)(ws_test_random(&random) % FEW));
        for (size_t k = 0; k < c->n; k++) {
            bool fails = ws_test_random(&random) % 4 == 0;
            c->items[k].code = fails ? (int)(100 + k) : 0;
        }
        int code = invoke_in(pool, c);
        assert_int_equal(code, expected_code(c));
        assert_int_equal(count_dropped(c), 0);
    }
}

static void the_first_code_in_the_array_wins(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_first_wins);
}

/* Task 0 ends after task 1, which another worker must run, or the other way
 * round. */
static void end_last(item *i)
{
    if (i->index == i->call->last) {
        test_await(&i->call->failed_at, 1);
    }
}

static void check_timing(ws_pool *pool)
{
    call *c = &the_call;
    for (size_t round = ws_test_scale(200); round > 0; round--) {
        prepare(c, ws_invoke, 2);
        c->before = end_last;
        c->last = round % 2;
        c->items[0].code = 5;
        c->items[1].code = -6;
        assert_int_equal(invoke_in(pool, c), 5);
        assert_int_equal(count_dropped(c), 0);
    }
}

static void the_first_code_wins_whoever_ends_first(void **state)
{
    (void)state;
    test_in_pools_of(2, check_timing);
    test_in_pools_of(4, check_timing);
}

/* ---- ws_invoke_fail_fast: errors ------------------------------------- */

static void check_each_failure(ws_pool *pool)
{
    call *c = &the_call;
    for (size_t at = 0; at < FEW; at++) {
        for (size_t step = 1; step <= 2 * FEW; step *= 3) {
            prepare(c, ws_invoke_fail_fast, FEW);
            /* The last round has one failing task only. */
            for (size_t k = at; k < FEW; k += step) {
                c->items[k].code = (int)(100 + k);
                c->tasks[k + step / 2 < FEW ? k + step / 2 : k].drop = NULL;
            }
            int code = invoke_in(pool, c);
            assert_int_equal(code, expected_code(c));
            assert_in_range(code, 100 + at, 100 + FEW - 1);
            if (pool != NULL && ws_pool_num_workers(pool) == 1) {
                /* In the order of the array, and none after the first. */
                assert_int_equal(code, 100 + at);
                assert_int_equal(test_get(&c->started), at + 1);
            }
        }
    }
}

static void an_error_anywhere_stops_the_call(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_each_failure);
}

static void check_none_starts(ws_pool *pool)
{
    call *c = &the_call;
    for (size_t at = 0; at < MOST; at += 97) {
        prepare(c, ws_invoke_fail_fast, MOST);
        c->items[at].code = 7;
        assert_int_equal(invoke_in(pool, c), 7);
        assert_int_equal(expected_code(c), 7);
        assert_int_equal(test_get(&c->started), test_get(&c->failed_at));
    }
}

static void on_one_worker_nothing_starts_after_an_error(void **state)
{
    (void)state;
    test_in_pools_of(1, check_none_starts);
}

/* Every other task runs until the failed one is known. */
static void await_failure(item *i)
{
    if (i->code != 0) {
        test_await(&i->call->started, 2);
        WS_TEST_REQUIRE(!ws_cancelled());
        return;
    }
    while (!ws_cancelled()) {
        wsi_thread_yield();
    }
}

static void check_running(ws_pool *pool)
{
    call *c = &the_call;
    for (size_t round = ws_test_scale(200); round > 0; round--) {
        prepare(c, ws_invoke_fail_fast, 2);
        c->before = await_failure;
        c->items[round % 2].code = 9;
        assert_int_equal(invoke_in(pool, c), 9);
        assert_int_equal(expected_code(c), 9);
        assert_int_equal(count_dropped(c), 0);
    }
}

static void running_tasks_learn_of_an_error(void **state)
{
    (void)state;
    test_in_pools_of(2, check_running);
    test_in_pools_of(4, check_running);
}

/* ---- nested ---------------------------------------------------------- */

typedef struct {
    call inner;
    call outer;
    int swallow; /* the outer task returns 0 */
} nest;

static nest the_nest;

static void invoke_inner(item *i)
{
    nest *n = &the_nest;
    if (i->index == 1) {
        int code = n->inner.invoke(n->inner.n, n->inner.tasks);
        WS_TEST_REQUIRE(code == expected_code(&n->inner));
        WS_TEST_REQUIRE(!ws_cancelled());
        i->code = n->swallow ? 0 : code;
    }
}

static void check_nested(ws_pool *pool)
{
    nest *n = &the_nest;
    for (n->swallow = 0; n->swallow <= 1; n->swallow++) {
        prepare(&n->inner, ws_invoke_fail_fast, FEW);
        prepare(&n->outer, ws_invoke_fail_fast, FEW);
        n->inner.items[3].code = 4;
        n->outer.before = invoke_inner;
        int code = n->swallow ? 0 : 4;
        assert_int_equal(invoke_in(pool, &n->outer), code);
        assert_int_equal(expected_code(&n->outer), code);
        assert_true(code != 0 || count_dropped(&n->outer) == 0);
    }
}

static void an_error_stops_the_innermost_call_alone(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_nested);
}

/* Task 0 fails; task 1 then calls an inner one. */
static void invoke_after_failure(item *i)
{
    if (i->index == 0) {
        test_await(&i->call->started, 2);
        return;
    }
    nest *n = &the_nest;
    while (!ws_cancelled()) {
        wsi_thread_yield();
    }
    WS_TEST_REQUIRE(n->inner.invoke(n->inner.n, n->inner.tasks) ==
                    WS_ECANCELED);
}

static void check_inside_failed(ws_pool *pool)
{
    nest *n = &the_nest;
    prepare(&n->inner, ws_invoke_fail_fast, FEW);
    prepare(&n->outer, ws_invoke_fail_fast, 2);
    n->outer.items[0].code = 8;
    n->outer.before = invoke_after_failure;
    assert_int_equal(invoke_in(pool, &n->outer), 8);
    assert_int_equal(expected_code(&n->inner), 0);
    assert_int_equal(count_dropped(&n->inner), FEW);
}

static void an_error_stops_inner_calls(void **state)
{
    (void)state;
    test_in_pools_of(2, check_inside_failed);
    test_in_pools_of(4, check_inside_failed);
}

/* ---- tokens ---------------------------------------------------------- */

static int cancel_and_invoke(void *arg)
{
    call *c = arg;
    ws_token_cancel(c->token);
    return invoke_here(c);
}

static int invoke_under_token(void *arg)
{
    call *c = arg;
    return ws_with_token(c->token, cancel_and_invoke, c);
}

static void check_canceled(ws_pool *pool)
{
    static const size_t sizes[] = {0, 1, 2, FEW};
    call *c = &the_call;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (int f = 0; f < 2; f++) {
            bool fast = invokes[f] == ws_invoke_fail_fast;
            uint64_t dropped = fast ? sizes[s] : 0;
            prepare(c, invokes[f], sizes[s]);
            assert_int_equal(ws_token_create(&c->token), WS_OK);
            int code = pool != NULL
                           ? ws_pool_install(pool, invoke_under_token, c)
                           : invoke_under_token(c);
            assert_int_equal(code, dropped > 0 ? WS_ECANCELED : WS_OK);
            assert_int_equal(expected_code(c), 0);
            assert_int_equal(count_dropped(c), dropped);
            ws_token_release(c->token);
        }
    }
}

static void under_a_canceled_token_fail_fast_drops_all(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_canceled);
}

static void cancel_at_ten(item *i)
{
    if (i->index == 10) {
        ws_token_cancel(i->call->token);
        WS_TEST_REQUIRE(ws_cancelled());
    }
}

static int invoke_with_token(void *arg)
{
    call *c = arg;
    return ws_with_token(c->token, invoke_here, c);
}

static void check_canceled_midway(ws_pool *pool)
{
    call *c = &the_call;
    for (size_t round = ws_test_scale(100); round > 0; round--) {
        prepare(c, ws_invoke_fail_fast, FEW);
        c->before = cancel_at_ten;
        assert_int_equal(ws_token_create(&c->token), WS_OK);
        int code = pool != NULL ? ws_pool_install(pool, invoke_with_token, c)
                                : invoke_with_token(c);
        assert_int_equal(expected_code(c), 0);
        assert_int_equal(code, count_dropped(c) > 0 ? WS_ECANCELED : 0);
        if (pool != NULL && ws_pool_num_workers(pool) == 1) {
            assert_int_equal(count_dropped(c), FEW - 11);
        }
        ws_token_release(c->token);
    }
}

static void canceled_midway_the_rest_is_dropped(void **state)
{
    (void)state;
    in_each_pool_and_outside(check_canceled_midway);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_tasks_run_once),
    cmocka_unit_test(outside_a_worker_tasks_run_in_the_global_pool),
    cmocka_unit_test(with_a_bad_task_nothing_runs),
    cmocka_unit_test(the_first_code_in_the_array_wins),
    cmocka_unit_test(the_first_code_wins_whoever_ends_first),
    cmocka_unit_test(an_error_anywhere_stops_the_call),
    cmocka_unit_test(on_one_worker_nothing_starts_after_an_error),
    cmocka_unit_test(running_tasks_learn_of_an_error),
    cmocka_unit_test(an_error_stops_the_innermost_call_alone),
    cmocka_unit_test(an_error_stops_inner_calls),
    cmocka_unit_test(under_a_canceled_token_fail_fast_drops_all),
    cmocka_unit_test(canceled_midway_the_rest_is_dropped),
};
WS_TEST_MAIN(tests)
