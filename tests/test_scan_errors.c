/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scan_errors.c: ws_scan when a callback fails, when it is canceled, when
 * memory is out, when it is called wrongly, nested or by many at once.
 */
/* ctest: processors 2 */
#include "support/loops.h"

#define NOWHERE SIZE_MAX

enum {
    N = 2000
};

/* What the callbacks do; an accumulator is a count of indices. */
static struct {
    bool slow;
    size_t scan_fails_at; /* the index */
    size_t cancels_at;    /* likewise */
    bool folds_fail;
    bool combines_fail;
    bool spread_fails; /* scans that begin after a combine() */
    ws_token *token;
    test_counter scans; /* indices */
    test_counter folds;
    test_counter combines;
    test_counter failed;
    test_counter late;
} plan;

static test_company company;

static void plan_init(void)
{
    memset(&plan, 0, sizeof(plan));
    plan.scan_fails_at = NOWHERE;
    plan.cancels_at = NOWHERE;
    test_company_init(&company);
}

static void begin_callback(void)
{
    if (plan.slow) {
        test_await_company(&company);
    }
    test_add(&plan.late, test_get(&plan.failed));
}

static int end_with(int code)
{
    test_set(&plan.failed, 1);
    return code;
}

static bool is_in(size_t at, size_t begin, size_t end)
{
    return begin <= at && at < end;
}

static void no_indices(void *acc, void *arg)
{
    (void)arg;
    *(size_t *)acc = 0;
}

static int fold(size_t begin, size_t end, void *acc, void *arg)
{
    (void)arg;
    begin_callback();
    test_add(&plan.folds, 1);
    *(size_t *)acc += end - begin;
    return plan.folds_fail ? end_with(21) : 0;
}

static int combine(void *acc, const void *right, void *arg)
{
    (void)arg;
    test_add(&plan.late, test_get(&plan.failed));
    test_add(&plan.combines, 1);
    *(size_t *)acc += *(const size_t *)right;
    return plan.combines_fail ? end_with(22) : 0;
}

/* `arg` is the begin of the range, so acc must stand at i - arg. */
static int scan(size_t begin, size_t end, void *acc, void *arg)
{
    size_t *done = acc;
    begin_callback();
    WS_TEST_REQUIRE(*done == begin - *(size_t *)arg);
    if (plan.spread_fails && test_get(&plan.combines) > 0) {
        return end_with(23);
    }
    if (is_in(plan.scan_fails_at, begin, end)) {
        return end_with((int)(plan.scan_fails_at - *(size_t *)arg) + 1);
    }
    if (is_in(plan.cancels_at, begin, end)) {
        ws_token_cancel(plan.token);
    }
    test_add(&plan.scans, end - begin);
    *done += end - begin;
    return 0;
}

static const ws_scanner counter = {sizeof(size_t), no_indices, fold, combine,
                                   scan};

static int scan_n(size_t n, const ws_for_opts *opts)
{
    size_t begin = 10;
    size_t total = NOWHERE;
    int code = ws_scan(begin, begin + n, opts, &counter, &total, &begin);
    WS_TEST_REQUIRE(code != 0 || total == n);
    return code;
}

/* ---- codes ----------------------------------------------------------- */

static int fail_at_each_index(void *arg)
{
    static const size_t lengths[] = {1, 2, 31, 50};
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        for (size_t at = 0; at < lengths[i]; at++) {
            plan_init();
            plan.scan_fails_at = 10 + at;
            WS_TEST_REQUIRE(scan_n(lengths[i], NULL) == (int)at + 1);
            /* Others may have scanned what is behind it. */
            WS_TEST_REQUIRE(test_get(&plan.scans) < lengths[i]);
            WS_TEST_REQUIRE(ws_current_num_workers() > 1 ||
                            test_get(&plan.late) == 0);
        }
    }
    return 0;
}

static void code_of_any_scan_is_returned(void **state)
{
    (void)state;
    test_everywhere(fail_at_each_index, NULL);
}

static int fail_in_company(void *arg)
{
    (void)arg;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        plan_init();
        plan.slow = true;
        plan.scan_fails_at = 10 + k * (N / 20) - 1;
        WS_TEST_REQUIRE(scan_n(N, NULL) == (int)(k * (N / 20)));
        WS_TEST_REQUIRE(test_get(&plan.scans) < N);
    }
    return 0;
}

static void code_of_any_scan_is_returned_from_a_round(void **state)
{
    (void)state;
    test_everywhere(fail_in_company, NULL);
}

/* With one worker there is no round. */
static int fail_rounds(void *arg)
{
    bool alone = ws_current_num_workers() == 1;
    (void)arg;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        plan_init();
        plan.slow = true;
        plan.folds_fail = true;
        WS_TEST_REQUIRE(scan_n(N, NULL) == (alone ? 0 : 21));
        WS_TEST_REQUIRE(test_get(&plan.combines) == 0);
        WS_TEST_REQUIRE(alone || test_get(&plan.folds) > 0);

        plan_init();
        plan.slow = true;
        plan.combines_fail = true;
        WS_TEST_REQUIRE(scan_n(N, NULL) == (alone ? 0 : 22));
        WS_TEST_REQUIRE(test_get(&plan.combines) == (alone ? 0 : 1));
        WS_TEST_REQUIRE(test_get(&plan.late) == 0);

        plan_init();
        plan.slow = true;
        plan.spread_fails = true;
        WS_TEST_REQUIRE(scan_n(N, NULL) == (alone ? 0 : 23));
        WS_TEST_REQUIRE(test_get(&plan.scans) <= (alone ? N : N - 1));
    }
    return 0;
}

static void codes_of_rounds_are_returned(void **state)
{
    (void)state;
    test_everywhere(fail_rounds, NULL);
}

/* ---- cancel ---------------------------------------------------------- */

static int scan_canceled(void *arg)
{
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    size_t begin = 0;
    opts.token = arg;
    for (size_t n = 1; n < 3000; n *= 3) {
        size_t total = NOWHERE;
        plan_init();
        WS_TEST_REQUIRE(ws_scan(begin, n, &opts, &counter, &total, &begin) ==
                        WS_ECANCELED);
        WS_TEST_REQUIRE(total == 0);
        WS_TEST_REQUIRE(test_get(&plan.scans) == 0);
    }
    return 0;
}

static void canceled_token_leaves_all_out(void **state)
{
    ws_token *token = NULL;
    (void)state;
    assert_int_equal(ws_token_create(&token), WS_OK);
    ws_token_cancel(token);
    test_everywhere(scan_canceled, token);
    ws_token_release(token);
}

static int cancel_and_scan(void *arg)
{
    ws_token_cancel(arg);
    return scan_canceled(NULL);
}

static int scan_under_token(void *arg)
{
    ws_token *token = NULL;
    (void)arg;
    WS_TEST_REQUIRE(ws_token_create(&token) == WS_OK);
    WS_TEST_REQUIRE(ws_with_token(token, cancel_and_scan, token) == 0);
    ws_token_release(token);
    return 0;
}

static void canceled_caller_leaves_all_out(void **state)
{
    (void)state;
    test_everywhere(scan_under_token, NULL);
}

static int cancel_in_the_middle(void *arg)
{
    for (size_t at = 0; at < N; at += 10 * (21 - ws_test_scale(20))) {
        ws_for_opts opts = WS_FOR_OPTS_INIT;
        plan_init();
        WS_TEST_REQUIRE(ws_token_create(&plan.token) == WS_OK);
        plan.slow = arg != NULL;
        plan.cancels_at = 10 + at;
        opts.token = plan.token;
        int code = scan_n(N, &opts);
        WS_TEST_REQUIRE(code == (test_get(&plan.scans) < N ? WS_ECANCELED : 0));
        WS_TEST_REQUIRE(ws_token_is_cancelled(plan.token) == 1);
        ws_token_release(plan.token);
    }
    return 0;
}

/* And where all were done before it was seen, it is not told. */
static void cancel_in_the_middle_is_told(void **state)
{
    (void)state;
    test_everywhere(cancel_in_the_middle, NULL);
    test_everywhere(cancel_in_the_middle, &plan);
}

/* ---- memory ---------------------------------------------------------- */

#ifdef TEST_SANITIZER
/* A sanitizer's malloc would end the program. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static int scan_without_memory(void *arg)
{
    const size_t sizes[] = {SIZE_MAX / 2 + 1, SIZE_MAX / 8, SIZE_MAX / 32};
    /* A small address space has room for the others. */
    const size_t n_sizes = sizeof(size_t) > 4 ? TEST_COUNT(sizes) : 1;
    (void)arg;
    for (size_t i = 0; i < n_sizes; i++) {
        for (size_t n = 0; n < 3000; n = 3 * n + 1) {
            ws_scanner s = counter;
            size_t begin = 0;
            size_t total = NOWHERE;
            /* No malloc gives so much; the callbacks use the front only. */
            s.size = sizes[i];
            plan_init();
            WS_TEST_REQUIRE(ws_scan(0, n, NULL, &s, &total, &begin) == 0);
            WS_TEST_REQUIRE(total == n && test_get(&plan.scans) == n);
            WS_TEST_REQUIRE(test_get(&plan.folds) == 0);
        }
    }
    return 0;
}

static void without_memory_the_scan_is_serial(void **state)
{
    (void)state;
    test_everywhere(scan_without_memory, NULL);
}

/* ---- nested, and many at once ---------------------------------------- */

static int scan_nested(size_t begin, size_t end, void *acc, void *arg);

static int fold_nested(size_t begin, size_t end, void *acc, void *arg)
{
    (void)arg;
    *(size_t *)acc += end - begin;
    return 0;
}

static const ws_scanner nested = {sizeof(size_t), no_indices, fold_nested,
                                  combine, scan_nested};

/* `arg` is the depth. */
static int scan_nested(size_t begin, size_t end, void *acc, void *arg)
{
    size_t next = *(size_t *)arg + 1;
    size_t *done = acc;
    WS_TEST_REQUIRE(*done == begin);
    for (size_t i = begin; next < 8 && i < end; i++) {
        size_t total = NOWHERE;
        WS_TEST_REQUIRE(ws_scan(0, 3, NULL, &nested, &total, &next) == 0);
        WS_TEST_REQUIRE(total == 3);
    }
    *done += end - begin;
    return 0;
}

static int scan_deep(void *arg)
{
    size_t depth = 0;
    size_t total = NOWHERE;
    (void)arg;
    plan_init();
    WS_TEST_REQUIRE(ws_scan(0, 3, NULL, &nested, &total, &depth) == 0);
    WS_TEST_REQUIRE(total == 3);
    return 0;
}

static void scans_are_nested(void **state)
{
    (void)state;
    test_everywhere(scan_deep, NULL);
}

static void *scan_often(void *arg)
{
    (void)arg;
    for (size_t k = ws_test_scale(100); k > 0; k--) {
        WS_TEST_REQUIRE(scan_n(30 + 100 * k, NULL) == 0);
    }
    return NULL;
}

static int scan_in_threads(void *arg)
{
    pthread_t threads[5];
    (void)arg;
    plan_init();
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        threads[i] = test_thread(scan_often, NULL);
    }
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        test_join_thread(threads[i]);
    }
    return 0;
}

static void foreign_threads_scan_at_once(void **state)
{
    (void)state;
    test_outside(scan_in_threads, NULL);
}

/* ---- wrong arguments ------------------------------------------------- */

static void check_wrong(size_t begin, size_t end, const ws_for_opts *opts,
                        const ws_scanner *s)
{
    size_t total = 4711;
    size_t from = begin;
    WS_TEST_REQUIRE(ws_scan(begin, end, opts, s, &total, &from) == WS_EINVAL);
    WS_TEST_REQUIRE(total == 4711);
}

static void wrong_arguments_touch_nothing(void **state)
{
    const ws_scanner wrong[] = {
        {0, no_indices, fold, combine, scan},
        {sizeof(size_t), NULL, fold, combine, scan},
        {sizeof(size_t), no_indices, NULL, combine, scan},
        {sizeof(size_t), no_indices, fold, NULL, scan},
        {sizeof(size_t), no_indices, fold, combine, NULL},
    };
    const ws_for_opts opts[] = {
        {0, 0, 0, 0, NULL},
        {sizeof(ws_for_opts), 3, 2, 0, NULL},
        {sizeof(ws_for_opts), 0, 0, WS_FOR_STATIC, NULL},
        {sizeof(ws_for_opts), 0, 0, WS_FOR_SLOTS, NULL},
        {sizeof(ws_for_opts), 0, 0, WS_FOR_FIXED, NULL},
        {sizeof(ws_for_opts), 0, 0, 8, NULL},
    };
    (void)state;
    plan_init();
    for (size_t n = 0; n < 100; n += 33) {
        for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
            check_wrong(0, n, NULL, &wrong[i]);
        }
        for (size_t i = 0; i < TEST_COUNT(opts); i++) {
            check_wrong(0, n, &opts[i], &counter);
        }
        check_wrong(n + 1, n, NULL, &counter);
        check_wrong(0, n, NULL, NULL);
        assert_int_equal(ws_scan(0, n, NULL, &counter, NULL, NULL), WS_EINVAL);
    }
    assert_int_equal(test_get(&plan.scans), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(code_of_any_scan_is_returned),
    cmocka_unit_test(code_of_any_scan_is_returned_from_a_round),
    cmocka_unit_test(codes_of_rounds_are_returned),
    cmocka_unit_test(canceled_token_leaves_all_out),
    cmocka_unit_test(canceled_caller_leaves_all_out),
    cmocka_unit_test(cancel_in_the_middle_is_told),
    cmocka_unit_test(without_memory_the_scan_is_serial),
    cmocka_unit_test(scans_are_nested),
    cmocka_unit_test(foreign_threads_scan_at_once),
    cmocka_unit_test(wrong_arguments_touch_nothing),
};
WS_TEST_MAIN(tests)
