/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_pipeline_stop.c: streams that do not reach their end: errors at each
 * place, cancellation, memory out; nothing leaks and nothing is lost.
 *
 * ctest: processors 2
 * ctest: wrap calloc
 */
#include "support/lines.h"

static line *shared_line(void)
{
    static line l;
    return &l;
}

/* ---- errors ---------------------------------------------------------- */

/* An item that has ended before the error may be the last one, so what was made
 * is between the one that failed and the bound. */
static void check_made(const line *l)
{
    const uint64_t made = test_get(&l->made);
    const uint64_t number = (uint64_t)l->fail_number;
    WS_TEST_REQUIRE(l->args[0].calls <= l->total + 1);
    if (l->fail_stage == 0) {
        WS_TEST_REQUIRE(made == number);
        WS_TEST_REQUIRE(l->args[0].calls == number + 1);
    } else {
        WS_TEST_REQUIRE(made > number && made <= l->total);
    }
}

static void check_error_at_each_place(ws_pool *pool)
{
    static const char *const shapes[] = {"S", "SS", "SPS", "SUPS", "SPP"};
    static const size_t bounds[] = {1, 2, 5};
    line *l = shared_line();
    for (unsigned k = 0; k < 5 * 3 * 2; k++) {
        const char *shape = shapes[k / 6];
        for (int s = 0; s < (int)strlen(shape); s++) {
            for (int n = 0; n < 7; n++) {
                line_make(l, shape, bounds[k % 3], 7);
                l->fail_stage = s;
                l->fail_number = n;
                l->fail_disposes = k / 3 % 2 != 0;
                assert_int_equal(line_run(pool, l), 50 + s);
                line_check_stopped(l);
                check_made(l);
            }
        }
    }
}

static void error_at_each_item_and_stage(void **state)
{
    (void)state;
    test_in_each_pool(check_error_at_each_place);
}

/* Stage 1 fails while all others of that many items are parked at stage 2, in
 * stage 1, or have not begun. */
static int fail_late(line *l, size_t s, uint64_t number)
{
    if (s == 1 && number == 0) {
        test_await(&l->passed[1], l->max_in_flight - 1);
        return 99;
    }
    return 0;
}

static void check_parked(ws_pool *pool)
{
    line *l = shared_line();
    for (size_t m = 2; m < 20; m++) {
        line_make(l, "SPSPS", m, 100);
        l->hook = fail_late;
        assert_int_equal(line_run(pool, l), 99);
        line_check_stopped(l);
        assert_int_equal(test_get(&l->made), m);
        assert_int_equal(test_get(&l->ended), 0);
    }
}

static void parked_items_are_dropped(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers *= 2) {
        test_in_pools_of(workers, check_parked);
    }
}

/* Item 1 fails when item 0 is in its stage, which then sees that. */
static int see_failure(line *l, size_t s, uint64_t number)
{
    if (s == 1 && number == 0) {
        test_set(&l->hooks[0], 1);
        while (!ws_cancelled()) {
            wsi_cpu_relax();
            wsi_thread_yield();
        }
        test_set(&l->hooks[1], 1);
        return 98; /* not the first */
    }
    if (s == 1 && number == 1) {
        test_await(&l->hooks[0], 1);
        return 97;
    }
    return 0;
}

static void check_seen(ws_pool *pool)
{
    line *l = shared_line();
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        line_make(l, "SPS", 2 + i % 5, 100);
        l->hook = see_failure;
        assert_int_equal(line_run(pool, l), 97);
        assert_int_equal(test_get(&l->hooks[1]), 1);
        line_check_stopped(l);
    }
}

static void others_see_the_error_and_the_first_wins(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers *= 2) {
        test_in_pools_of(workers, check_seen);
    }
}

static int take(ws_pipeline_item *item, void *arg)
{
    (void)arg;
    item->data = item->number < 5 ? arg : NULL;
    return 0;
}

static int fail_at_three(ws_pipeline_item *item, void *arg)
{
    (void)arg;
    return item->number == 3 ? WS_ETIMEDOUT : 0;
}

static void check_no_drop(ws_pool *pool)
{
    (void)pool;
    int any = 0;
    const ws_stage stages[] = {
        {WS_STAGE_SERIAL, take, &any, NULL},
        {WS_STAGE_PARALLEL, fail_at_three, NULL, NULL},
        {WS_STAGE_SERIAL, fail_at_three, NULL, NULL},
    };
    assert_int_equal(ws_pipeline(3, stages, 4), WS_ETIMEDOUT);
    assert_int_equal(ws_pipeline(1, stages, 4), 0);
}

static void drop_can_be_null(void **state)
{
    (void)state;
    check_no_drop(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- cancellation ---------------------------------------------------- */

typedef struct {
    line *l;
    ws_token *token;
    ws_pool *pool;
    int stage;
    uint64_t number;
    bool before;
} canceling;

static int cancel_there(line *l, size_t s, uint64_t number)
{
    const canceling *c = l->user;
    if ((int)s == c->stage && number == c->number) {
        ws_token_cancel(c->token);
    }
    return 0;
}

static int run_canceled(void *arg)
{
    canceling *c = arg;
    if (c->before) {
        ws_token_cancel(c->token);
    }
    return line_run(c->pool, c->l);
}

static int run_with_token(canceling *c, const char *shape, size_t bound)
{
    line_make(c->l, shape, bound, 20);
    c->l->hook = cancel_there;
    c->l->user = c;
    assert_int_equal(ws_token_create(&c->token), WS_OK);
    int code = ws_with_token(c->token, run_canceled, c);
    ws_token_release(c->token);
    line_check_stopped(c->l);
    return code;
}

static void check_cancel(ws_pool *pool)
{
    canceling c = {.l = shared_line(), .pool = pool};
    for (c.stage = 0; c.stage < 4; c.stage++) {
        for (size_t bound = 1; bound < 8; bound += 3) {
            for (c.number = 0; c.number < 12; c.number++) {
                assert_int_equal(run_with_token(&c, "SUPS", bound),
                                 WS_ECANCELED);
                /* The item goes no further, and no other one begins. */
                const uint64_t made = test_get(&c.l->made);
                assert_in_range(made, c.number + 1, c.number + bound);
            }
        }
    }
    c.before = true;
    assert_int_equal(run_with_token(&c, "SUPS", 4), WS_ECANCELED);
    assert_int_equal(c.l->args[0].calls, 0);
}

static void canceled_at_each_item_and_stage(void **state)
{
    (void)state;
    test_in_each_pool(check_cancel);
}

/* Nothing is left out: the stream has ended before. */
static int end_and_cancel(ws_pipeline_item *item, void *arg)
{
    (void)item;
    ws_token_cancel(arg);
    return 0;
}

static int run_end_and_cancel(void *arg)
{
    const ws_stage stages[] = {
        {WS_STAGE_SERIAL, end_and_cancel, arg, NULL},
        {WS_STAGE_SERIAL, fail_at_three, NULL, NULL},
    };
    return ws_pipeline(2, stages, 30);
}

static void canceled_after_the_end(void **state)
{
    ws_token *token;
    (void)state;
    assert_int_equal(ws_token_create(&token), WS_OK);
    assert_int_equal(ws_with_token(token, run_end_and_cancel, token), 0);
    ws_token_release(token);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void *cancel_soon(void *arg)
{
    canceling *c = arg;
    test_await(&c->l->made, c->number);
    ws_token_cancel(c->token);
    return NULL;
}

/* By a thread of its own, at any moment. */
static void check_cancel_race(ws_pool *pool)
{
    canceling c = {.l = shared_line(), .pool = pool};
    for (size_t i = ws_test_scale(300); i > 0; i--) {
        line_make(c.l, "SPS", 1 + i % 9, 200);
        c.number = i % 190;
        assert_int_equal(ws_token_create(&c.token), WS_OK);
        pthread_t thread = test_thread(cancel_soon, &c);
        int code = ws_with_token(c.token, run_canceled, &c);
        test_join_thread(thread);
        ws_token_release(c.token);
        line_check_stopped(c.l);
        assert_true(code == WS_ECANCELED || code == 0);
        assert_true(code != 0 || test_get(&c.l->ended) == 200);
    }
}

static void canceled_by_another_thread(void **state)
{
    (void)state;
    test_in_each_pool(check_cancel_race);
}

/* ---- memory ---------------------------------------------------------- */

static test_counter n_allocs;
static test_counter first_bad;
static test_counter last_bad;

static void *alloc_or_not(size_t align, size_t size)
{
    const uint64_t n = test_add(&n_allocs, 1);
    return n >= test_get(&first_bad) && n <= test_get(&last_bad)
               ? NULL
               : wsi_mem_alloc_real(align, size);
}

/* A new pool for each round: no record has been used before. */
static uint64_t run_short_of_memory(unsigned workers, uint64_t from,
                                    uint64_t to)
{
    line *l = shared_line();
    ws_pool *pool = test_pool_near_wrap(workers, WS_WAIT_SUBTREE, 1);
    line_make(l, "SPUSP", 9, 60);
    test_set(&first_bad, from);
    test_set(&last_bad, to);
    test_set(&n_allocs, 0);
    wsi_port_ops.mem_alloc = alloc_or_not;
    const int code = line_run(pool, l);
    test_set(&first_bad, UINT64_MAX);
    const uint64_t n = test_get(&n_allocs);
    if (code == 0) {
        line_check_all(l);
    } else {
        assert_int_equal(code, WS_ENOMEM);
        assert_int_equal(l->args[0].calls, 0);
    }
    test_destroy(pool);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    return n;
}

static void memory_out_at_each_allocation(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        uint64_t n = 1;
        for (uint64_t bad = 0; bad < n; bad++) {
            n = run_short_of_memory(workers, bad, bad);
        }
        assert_true(n >= 1);
        /* From some time on. */
        for (uint64_t bad = 0; bad <= n; bad++) {
            run_short_of_memory(workers, bad, UINT64_MAX - 1);
        }
    }
}

typedef struct {
    uintptr_t low, high;
} stack_use;

static int note_stack(ws_pipeline_item *item, void *arg)
{
    stack_use *use = arg;
    char here;
    const uintptr_t at = (uintptr_t)&here;
    use->low = at < use->low ? at : use->low;
    use->high = at > use->high ? at : use->high;
    item->data = item->number < 5000 ? arg : NULL;
    return 0;
}

static int run_noting_stack(void *arg)
{
    const ws_stage stages[] = {
        {WS_STAGE_SERIAL, note_stack, arg, NULL},
        {WS_STAGE_SERIAL, fail_at_three, NULL, NULL},
    };
    test_set(&first_bad, 0);
    test_set(&last_bad, UINT64_MAX);
    wsi_port_ops.mem_alloc = alloc_or_not;
    int code = ws_pipeline(1, stages, 3000);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    return code;
}

static void stack_stays_flat_without_memory(void **state)
{
    (void)state;
    for (unsigned policy = WS_WAIT_ANY; policy <= WS_WAIT_SUBTREE; policy++) {
        stack_use use = {UINTPTR_MAX, 0};
        ws_pool *pool = test_pool(1, policy);
        assert_int_equal(ws_pool_install(pool, run_noting_stack, &use), 0);
        test_destroy(pool);
#if !defined(TEST_ASAN)
        /* All calls from one frame, or from as many as there are jobs. */
        assert_true(use.high - use.low < 4096);
#endif
    }
}

#if defined(WS_TEST_WRAPS)

/* pipeline.c's own memory, and only the test's thread allocates. */
static uint64_t n_callocs;
static uint64_t bad_calloc = UINT64_MAX;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    if (bad_calloc == UINT64_MAX) {
        return __real_calloc(n, size);
    }
    return n_callocs++ == bad_calloc ? NULL : __real_calloc(n, size);
}

static void no_memory_for_the_pipeline(void **state)
{
    line *l = shared_line();
    ws_pool *pool = NULL;
    (void)state;
    assert_int_equal(ws_pool_global(&pool), WS_OK);
    for (uint64_t bad = 0; bad < 3; bad++) {
        line_make(l, "SPS", 9, 1);
        n_callocs = 0;
        bad_calloc = bad;
        const int code = line_run_here(l);
        bad_calloc = UINT64_MAX;
        assert_int_equal(code, WS_ENOMEM);
        assert_int_equal(l->args[0].calls, 0);
    }
    line_make(l, "SPS", 9, 1);
    n_callocs = 0;
    bad_calloc = UINT64_MAX - 1;
    assert_int_equal(line_run_here(l), 0);
    bad_calloc = UINT64_MAX;
    assert_int_equal(n_callocs, 3);
    line_check_all(l);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

#endif

static void too_many_in_flight(void **state)
{
    line *l = shared_line();
    (void)state;
    line_make(l, "SPS", SIZE_MAX, 1);
    assert_int_equal(line_run_here(l), WS_ENOMEM);
    line_make(l, "SPS", SIZE_MAX / 64, 1);
    assert_int_equal(line_run_here(l), WS_ENOMEM);
    assert_int_equal(test_get(&l->made), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(error_at_each_item_and_stage),
    cmocka_unit_test(parked_items_are_dropped),
    cmocka_unit_test(others_see_the_error_and_the_first_wins),
    cmocka_unit_test(drop_can_be_null),
    cmocka_unit_test(canceled_at_each_item_and_stage),
    cmocka_unit_test(canceled_after_the_end),
    cmocka_unit_test(canceled_by_another_thread),
    cmocka_unit_test(memory_out_at_each_allocation),
    cmocka_unit_test(stack_stays_flat_without_memory),
#if defined(WS_TEST_WRAPS)
    cmocka_unit_test(no_memory_for_the_pipeline),
#endif
    cmocka_unit_test(too_many_in_flight),
};
WS_TEST_MAIN(tests)
