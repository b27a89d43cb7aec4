/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_reduce_errors.c: ws_reduce when a callback fails, when it is canceled,
 * when memory is out and when it is called wrongly.
 */
/* ctest: processors 2 */
#include "support/loops.h"

#include <limits.h>

#define NOWHERE SIZE_MAX

/* What the callbacks do; the accumulator is a count of indices. */
static struct {
    size_t fails_at; /* the index whose fold fails */
    uint64_t combine_fails_at;
    int code;
    ws_token *token; /* canceled by the fold of index cancels_at */
    size_t cancels_at;
    test_counter folds;
    test_counter late; /* folds begun after the failing one ended */
    test_counter failed;
    test_counter combines;
} plan;

static void plan_init(void)
{
    plan.fails_at = NOWHERE;
    plan.combine_fails_at = UINT64_MAX;
    plan.cancels_at = NOWHERE;
    plan.token = NULL;
    test_set(&plan.folds, 0);
    test_set(&plan.late, 0);
    test_set(&plan.failed, 0);
    test_set(&plan.combines, 0);
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
    test_add(&plan.folds, 1);
    test_add(&plan.late, test_get(&plan.failed));
    if (is_in(plan.fails_at, begin, end)) {
        test_set(&plan.failed, 1);
        return plan.code;
    }
    if (is_in(plan.cancels_at, begin, end)) {
        ws_token_cancel(plan.token);
    }
    *(size_t *)acc += end - begin;
    return 0;
}

static int combine(void *acc, void *right, void *arg)
{
    (void)arg;
    *(size_t *)acc += *(size_t *)right;
    return test_add(&plan.combines, 1) == plan.combine_fails_at ? plan.code : 0;
}

static const ws_reducer counter = {sizeof(size_t), no_indices, fold, combine};

static const ws_for_opts all_opts[] = {
    {sizeof(ws_for_opts), 0, 0, 0, NULL},
    {sizeof(ws_for_opts), 0, 1, 0, NULL},
    {sizeof(ws_for_opts), 2, 7, 0, NULL},
    {sizeof(ws_for_opts), SIZE_MAX, 0, 0, NULL},
    {sizeof(ws_for_opts), 0, 0, WS_FOR_FIXED, NULL},
    {sizeof(ws_for_opts), 0, 7, WS_FOR_FIXED, NULL},
    {sizeof(ws_for_opts), 0, SIZE_MAX, WS_FOR_FIXED, NULL},
};

/* ---- codes ----------------------------------------------------------- */

static int fail_at_each_index(void *arg)
{
    static const int codes[] = {1, 100, -1, INT_MAX, INT_MIN};
    const size_t n = *(size_t *)arg;
    for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
        for (size_t at = 0; at < n; at++) {
            size_t result = NOWHERE;
            plan_init();
            plan.fails_at = at + 10;
            plan.code = codes[at % TEST_COUNT(codes)];
            WS_TEST_REQUIRE(ws_reduce(10, 10 + n, &all_opts[i], &counter,
                                      &result, NULL) == plan.code);
            WS_TEST_REQUIRE(result < n);
            WS_TEST_REQUIRE(ws_current_num_workers() > 1 ||
                            test_get(&plan.late) == 0);
        }
    }
    return 0;
}

static void code_of_any_fold_is_returned(void **state)
{
    size_t lengths[] = {1, 2, 31, 50};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        test_everywhere(fail_at_each_index, &lengths[i]);
    }
}

static int fail_each_combine(void *arg)
{
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    opts.flags = *(unsigned *)arg;
    for (size_t n = 2; n <= 20; n += 3) {
        /* n blocks: n - 1 times two are combined. */
        opts.max_grain = 1;
        for (size_t at = 0; at < n - 1; at++) {
            size_t result;
            plan_init();
            plan.combine_fails_at = at;
            plan.code = (int)at + 50;
            WS_TEST_REQUIRE(ws_reduce(0, n, &opts, &counter, &result, NULL) ==
                            plan.code);
            WS_TEST_REQUIRE(result <= n);
        }
    }
    return 0;
}

static void code_of_any_combine_is_returned(void **state)
{
    unsigned flags[] = {0, WS_FOR_FIXED};
    (void)state;
    test_everywhere(fail_each_combine, &flags[0]);
    test_everywhere(fail_each_combine, &flags[1]);
}

/* ---- the end --------------------------------------------------------- */

static test_crowd crowd;

static int fold_in_crowd(size_t begin, size_t end, void *acc, void *arg)
{
    fold(begin, end, acc, arg);
    if (!test_crowd_come(&crowd)) {
        return 0;
    }
    ws_token_cancel(plan.token);
    return plan.code;
}

static const ws_reducer crowded = {sizeof(size_t), no_indices, fold_in_crowd,
                                   combine};
static int outcome;

static int reduce_crowd(void *arg)
{
    const ws_for_opts *opts = arg;
    size_t result;
    outcome = ws_reduce(0, 1000, opts, &crowded, &result, NULL);
    return 0;
}

/* Each worker is in a fold when one of them ends the reduction. */
static void check_end(ws_pool *pool, int code, int expected)
{
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        for (unsigned fixed = 0; fixed <= 1; fixed++) {
            ws_for_opts opts = WS_FOR_OPTS_INIT;
            opts.max_grain = 3;
            opts.flags = fixed ? WS_FOR_FIXED : 0;
            plan_init();
            plan.code = code;
            if (code == 0) {
                assert_int_equal(ws_token_create(&plan.token), WS_OK);
                opts.token = plan.token;
            }
            assert_int_equal(test_crowd_run(&crowd, pool, reduce_crowd, &opts),
                             0);
            assert_int_equal(outcome, expected);
            assert_int_equal(test_get(&plan.folds), ws_pool_num_workers(pool));
            ws_token_release(plan.token);
        }
    }
}

static void check_failure(ws_pool *pool)
{
    check_end(pool, 33, 33);
}

static void check_cancel(ws_pool *pool)
{
    check_end(pool, 0, WS_ECANCELED);
}

static void nothing_begins_after_a_failure(void **state)
{
    (void)state;
    test_in_crowds(check_failure);
}

static void nothing_begins_after_a_cancel(void **state)
{
    (void)state;
    test_in_crowds(check_cancel);
}

/* ---- cancel ---------------------------------------------------------- */

static int reduce_canceled(void *arg)
{
    size_t result = NOWHERE;
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
        for (size_t n = 1; n < 1000; n *= 2) {
            ws_for_opts opts = all_opts[i];
            opts.token = plan.token;
            WS_TEST_REQUIRE(ws_reduce(0, n, &opts, &counter, &result, NULL) ==
                            WS_ECANCELED);
            WS_TEST_REQUIRE(result == 0);
        }
    }
    WS_TEST_REQUIRE(test_get(&plan.folds) == 0);
    return 0;
}

static void canceled_token_leaves_all_out(void **state)
{
    (void)state;
    plan_init();
    assert_int_equal(ws_token_create(&plan.token), WS_OK);
    ws_token_cancel(plan.token);
    test_everywhere(reduce_canceled, NULL);
    ws_token_release(plan.token);
}

static int cancel_and_reduce(void *arg)
{
    ws_token *token = plan.token;
    ws_token_cancel(token);
    plan.token = NULL;
    reduce_canceled(arg);
    plan.token = token;
    return 0;
}

static int reduce_under_token(void *arg)
{
    plan_init();
    WS_TEST_REQUIRE(ws_token_create(&plan.token) == WS_OK);
    WS_TEST_REQUIRE(ws_with_token(plan.token, cancel_and_reduce, arg) == 0);
    ws_token_release(plan.token);
    return 0;
}

static void canceled_caller_leaves_all_out(void **state)
{
    (void)state;
    test_everywhere(reduce_under_token, NULL);
}

static int cancel_at_each_index(void *arg)
{
    const size_t n = 50;
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
        for (size_t at = 0; at < n; at++) {
            ws_for_opts opts = all_opts[i];
            size_t result = NOWHERE;
            plan_init();
            WS_TEST_REQUIRE(ws_token_create(&plan.token) == WS_OK);
            plan.cancels_at = at;
            opts.token = plan.token;
            int code = ws_reduce(0, n, &opts, &counter, &result, NULL);
            WS_TEST_REQUIRE(code == (result < n ? WS_ECANCELED : 0));
            WS_TEST_REQUIRE(result > 0 && result <= n);
            ws_token_release(plan.token);
        }
    }
    return 0;
}

/* And where all were done before it was seen, it is not told. */
static void cancel_in_the_middle_is_told(void **state)
{
    (void)state;
    test_everywhere(cancel_at_each_index, NULL);
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

/* No malloc gives so much; the callbacks use the front only. */
static const ws_reducer huge = {SIZE_MAX / 2 + 1, no_indices, fold, combine};

static int reduce_without_memory(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
        bool fixed = all_opts[i].flags == WS_FOR_FIXED;
        for (size_t n = 0; n < 3000; n = 3 * n + 1) {
            size_t result = NOWHERE;
            plan_init();
            int code = ws_reduce(0, n, &all_opts[i], &huge, &result, NULL);
            if (fixed && n > 1 && n > all_opts[i].max_grain) {
                WS_TEST_REQUIRE(code == WS_ENOMEM && result == 0);
            } else {
                WS_TEST_REQUIRE(code == 0 && result == n);
            }
            WS_TEST_REQUIRE(test_get(&plan.combines) == 0);
        }
    }
    return 0;
}

static void without_memory_one_piece_is_reduced(void **state)
{
    (void)state;
    test_everywhere(reduce_without_memory, NULL);
}

/* ---- wrong arguments ------------------------------------------------- */

static void check_wrong(size_t begin, size_t end, const ws_for_opts *opts,
                        const ws_reducer *r)
{
    size_t result = 4711;
    plan_init();
    WS_TEST_REQUIRE(ws_reduce(begin, end, opts, r, &result, NULL) == WS_EINVAL);
    WS_TEST_REQUIRE(result == 4711);
    WS_TEST_REQUIRE(test_get(&plan.folds) == 0);
}

static int reduce_wrongly(void *arg)
{
    const ws_reducer wrong[] = {
        {0, no_indices, fold, combine},
        {sizeof(size_t), NULL, fold, combine},
        {sizeof(size_t), no_indices, NULL, combine},
        {sizeof(size_t), no_indices, fold, NULL},
    };
    const ws_for_opts opts[] = {
        {0, 0, 0, 0, NULL},
        {sizeof(ws_for_opts) + 8, 0, 0, 0, NULL},
        {sizeof(ws_for_opts), 2, 1, 0, NULL},
        {sizeof(ws_for_opts), 2, 1, WS_FOR_FIXED, NULL},
        {sizeof(ws_for_opts), 0, 0, WS_FOR_STATIC, NULL},
        {sizeof(ws_for_opts), 0, 0, WS_FOR_STATIC | WS_FOR_FIXED, NULL},
        {sizeof(ws_for_opts), 0, 0, 8, NULL},
    };
    (void)arg;
    for (size_t n = 0; n < 100; n += 33) {
        for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
            check_wrong(0, n, NULL, &wrong[i]);
        }
        for (size_t i = 0; i < TEST_COUNT(opts); i++) {
            check_wrong(0, n, &opts[i], &counter);
        }
        check_wrong(n + 1, n, NULL, &counter);
        check_wrong(SIZE_MAX, n, NULL, &counter);
        check_wrong(0, n, NULL, NULL);
        WS_TEST_REQUIRE(ws_reduce(0, n, NULL, &counter, NULL, NULL) ==
                        WS_EINVAL);
    }
    return 0;
}

static void wrong_arguments_touch_nothing(void **state)
{
    (void)state;
    test_everywhere(reduce_wrongly, NULL);
}

/* Behind its size there is nothing to be read. */
static void shorter_options_are_refused_unread(void **state)
{
    size_t *size = malloc(sizeof(size_t));
    (void)state;
    assert_non_null(size);
    *size = sizeof(size_t);
    check_wrong(0, 10, (const ws_for_opts *)(const void *)size, &counter);
    free(size);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(code_of_any_fold_is_returned),
    cmocka_unit_test(code_of_any_combine_is_returned),
    cmocka_unit_test(nothing_begins_after_a_failure),
    cmocka_unit_test(nothing_begins_after_a_cancel),
    cmocka_unit_test(canceled_token_leaves_all_out),
    cmocka_unit_test(canceled_caller_leaves_all_out),
    cmocka_unit_test(cancel_in_the_middle_is_told),
    cmocka_unit_test(without_memory_one_piece_is_reduced),
    cmocka_unit_test(wrong_arguments_touch_nothing),
    cmocka_unit_test(shorter_options_are_refused_unread),
};
WS_TEST_MAIN(tests)
