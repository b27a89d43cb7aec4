/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_totals.c: counts, sums, and the smallest and the largest of an array.
 */
/* ctest: processors 2 */
#include "support/loops.h"

#include <math.h>

enum {
    MOST = 100000
};

static double doubles[MOST];
static int64_t integers[MOST];

static const size_t lengths[] = {0,  1,    2,    31,   32,   33,
                                 70, 1000, 8191, 8192, 8193, MOST};

/* ---- counting -------------------------------------------------------- */

static size_t base;
static test_counter asked;

static int is_third(size_t index, void *arg)
{
    WS_TEST_REQUIRE(arg == &base);
    test_add(&asked, 1);
    /* Any number but 0 is yes. */
    return (index - base) % 3 == 0 ? -5 : 0;
}

static int count_thirds(void *arg)
{
    ws_for_opts opts[] = {WS_FOR_OPTS_INIT, WS_FOR_OPTS_INIT, WS_FOR_OPTS_INIT};
    (void)arg;
    opts[1].max_grain = 7;
    opts[2].flags = WS_FOR_FIXED;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        for (size_t k = 0; k <= TEST_COUNT(opts); k++) {
            size_t n = lengths[i];
            size_t count = 4711;
            base = k % 2 != 0 ? SIZE_MAX - n : 0;
            test_set(&asked, 0);
            WS_TEST_REQUIRE(ws_count(base, base + n,
                                     k > 0 ? &opts[k - 1] : NULL, is_third,
                                     &base, &count) == 0);
            WS_TEST_REQUIRE(count == (n + 2) / 3);
            WS_TEST_REQUIRE(test_get(&asked) == n);
        }
    }
    return 0;
}

static void each_index_is_asked_once(void **state)
{
    (void)state;
    test_everywhere(count_thirds, NULL);
}

static test_company company;

static int is_third_in_company(size_t index, void *arg)
{
    test_await_company(&company);
    return is_third(index, arg);
}

static int count_in_company(void *arg)
{
    (void)arg;
    base = 0;
    for (size_t k = ws_test_scale(100); k > 0; k--) {
        size_t count;
        test_company_init(&company);
        WS_TEST_REQUIRE(
            ws_count(0, 1000, NULL, is_third_in_company, &base, &count) == 0);
        WS_TEST_REQUIRE(count == 334);
        WS_TEST_REQUIRE(ws_current_num_workers() == 1 ||
                        test_get(&company.others) > 0);
    }
    return 0;
}

static void counts_of_pieces_are_added(void **state)
{
    (void)state;
    test_everywhere(count_in_company, NULL);
}

static void wrong_counts_touch_nothing(void **state)
{
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    size_t count = 4711;
    (void)state;
    test_set(&asked, 0);
    opts.flags = WS_FOR_STATIC;
    assert_int_equal(ws_count(0, 9, &opts, is_third, &base, &count), WS_EINVAL);
    assert_int_equal(ws_count(9, 8, NULL, is_third, &base, &count), WS_EINVAL);
    assert_int_equal(ws_count(0, 9, NULL, NULL, &base, &count), WS_EINVAL);
    assert_int_equal(ws_count(0, 9, NULL, is_third, &base, NULL), WS_EINVAL);
    assert_int_equal(ws_token_create(&opts.token), WS_OK);
    ws_token_cancel(opts.token);
    opts.flags = 0;
    assert_int_equal(ws_count(0, 9, &opts, is_third, &base, &count),
                     WS_ECANCELED);
    ws_token_release(opts.token);
    assert_int_equal(count, 4711);
    assert_int_equal(test_get(&asked), 0);
}

/* ---- sums ------------------------------------------------------------ */

static int sum_all(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        size_t n = lengths[i];
        uint64_t expected = 0;
        int64_t sum = 4711;
        double total = 4711;
        for (size_t k = 0; k < n; k++) {
            expected += (uint64_t)integers[k];
        }
        WS_TEST_REQUIRE(ws_sum_int64(integers, n, &sum) == 0);
        WS_TEST_REQUIRE((uint64_t)sum == expected);
        WS_TEST_REQUIRE(ws_sum_double(doubles, n, &total) == 0);
        /* Of whole numbers, so it is exact. */
        WS_TEST_REQUIRE(total == (double)n * 3);
    }
    return 0;
}

static void sums_equal_the_serial_ones_and_wrap(void **state)
{
    uint64_t random = 9;
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        integers[i] = (int64_t)ws_test_random(&random);
        doubles[i] = 3;
    }
    integers[0] = INT64_MAX;
    integers[1] = INT64_MAX;
    test_everywhere(sum_all, NULL);
    for (size_t i = 0; i < MOST; i++) {
        integers[i] = INT64_MIN;
    }
    test_everywhere(sum_all, NULL);
}

static int sum_special(void *arg)
{
    double sum;
    (void)arg;
    for (size_t i = 0; i < MOST; i++) {
        doubles[i] = 1;
    }
    doubles[MOST / 2] = INFINITY;
    WS_TEST_REQUIRE(ws_sum_double(doubles, MOST, &sum) == 0);
    WS_TEST_REQUIRE(isinf(sum) && sum > 0);
    doubles[MOST - 1] = -INFINITY;
    WS_TEST_REQUIRE(ws_sum_double(doubles, MOST, &sum) == 0);
    WS_TEST_REQUIRE(isnan(sum));
    doubles[MOST - 1] = NAN;
    WS_TEST_REQUIRE(ws_sum_double(doubles, MOST, &sum) == 0);
    WS_TEST_REQUIRE(isnan(sum));
    return 0;
}

static void sums_of_special_numbers_are_special(void **state)
{
    (void)state;
    test_everywhere(sum_special, NULL);
}

/* ---- extremes -------------------------------------------------------- */

/* What the header says, in the plainest way. */
static size_t extreme_double(size_t n, bool largest)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        bool nan = isnan(doubles[i]);
        bool best_nan = isnan(doubles[best]);
        bool better =
            largest ? doubles[i] > doubles[best] : doubles[i] < doubles[best];
        /* The smallest and the largest are numbers, if there is one. */
        if ((best_nan && !nan) || (!best_nan && !nan && better)) {
            best = i;
        }
    }
    return best;
}

static size_t extreme_integer(size_t n, bool largest)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        if (largest ? integers[i] > integers[best]
                    : integers[i] < integers[best]) {
            best = i;
        }
    }
    return best;
}

static int find_extremes(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        size_t n = lengths[i];
        size_t at = 4711;
        WS_TEST_REQUIRE(ws_min_double(doubles, n, &at) == 0);
        WS_TEST_REQUIRE(at == extreme_double(n, false));
        WS_TEST_REQUIRE(ws_max_double(doubles, n, &at) == 0);
        WS_TEST_REQUIRE(at == extreme_double(n, true));
        WS_TEST_REQUIRE(ws_min_int64(integers, n, &at) == 0);
        WS_TEST_REQUIRE(at == extreme_integer(n, false));
        WS_TEST_REQUIRE(ws_max_int64(integers, n, &at) == 0);
        WS_TEST_REQUIRE(at == extreme_integer(n, true));
    }
    return 0;
}

static void fill(uint64_t kinds, bool with_nan)
{
    uint64_t random = kinds + 1;
    for (size_t i = 0; i < MOST; i++) {
        int64_t x = (int64_t)(ws_test_random(&random) % kinds);
        integers[i] = x - (int64_t)(kinds / 2);
        doubles[i] = with_nan && x % 3 == 0 ? NAN : (double)integers[i];
    }
}

static void first_of_equal_ones_is_taken(void **state)
{
    (void)state;
    for (uint64_t kinds = 1; kinds <= 4; kinds++) {
        fill(kinds, false);
        test_everywhere(find_extremes, NULL);
    }
    fill(UINT32_MAX, false);
    test_everywhere(find_extremes, NULL);
}

static void nan_is_the_last_choice(void **state)
{
    (void)state;
    for (uint64_t kinds = 1; kinds <= 8; kinds++) {
        fill(kinds, true);
        test_everywhere(find_extremes, NULL);
    }
}

static void limits_and_signed_zeros_are_compared(void **state)
{
    (void)state;
    fill(1000, false);
    integers[40] = INT64_MIN;
    integers[41] = INT64_MIN;
    integers[60] = INT64_MAX;
    integers[MOST - 1] = INT64_MAX;
    doubles[40] = -INFINITY;
    doubles[50] = INFINITY;
    test_everywhere(find_extremes, NULL);
    for (size_t i = 0; i < MOST; i++) {
        /* Equal, so that the first one is meant. */
        doubles[i] = i % 2 != 0 ? 0.0 : -0.0;
    }
    test_everywhere(find_extremes, NULL);
}

/* Each place of the only one, so each piece has it once. */
static int find_the_only_one(void *arg)
{
    (void)arg;
    for (size_t at = 0; at < MOST; at += MOST / 50 + 1) {
        size_t got[4];
        doubles[at] = -1;
        integers[at] = -1;
        WS_TEST_REQUIRE(ws_min_double(doubles, MOST, &got[0]) == 0);
        WS_TEST_REQUIRE(ws_min_int64(integers, MOST, &got[1]) == 0);
        doubles[at] = 1;
        integers[at] = 1;
        WS_TEST_REQUIRE(ws_max_double(doubles, MOST, &got[2]) == 0);
        WS_TEST_REQUIRE(ws_max_int64(integers, MOST, &got[3]) == 0);
        doubles[at] = 0;
        integers[at] = 0;
        for (size_t i = 0; i < TEST_COUNT(got); i++) {
            WS_TEST_REQUIRE(got[i] == at);
        }
    }
    return 0;
}

static void only_one_is_found_wherever_it_is(void **state)
{
    (void)state;
    fill(1, false);
    test_everywhere(find_the_only_one, NULL);
}

/* ---- wrong, empty, canceled ------------------------------------------ */

static int call_each(const double *d, const int64_t *i, size_t n, int expected)
{
    double total = 4711;
    int64_t sum = 4711;
    size_t at = 4711;
    WS_TEST_REQUIRE(ws_sum_double(d, n, &total) == expected);
    WS_TEST_REQUIRE(ws_sum_int64(i, n, &sum) == expected);
    WS_TEST_REQUIRE(total == (expected == 0 ? 0 : 4711));
    WS_TEST_REQUIRE(sum == (expected == 0 ? 0 : 4711));
    WS_TEST_REQUIRE(ws_min_double(d, n, &at) == expected);
    WS_TEST_REQUIRE(at == (expected == 0 ? 0 : 4711));
    WS_TEST_REQUIRE(ws_max_double(d, n, &at) == expected);
    WS_TEST_REQUIRE(ws_min_int64(i, n, &at) == expected);
    WS_TEST_REQUIRE(ws_max_int64(i, n, &at) == expected);
    WS_TEST_REQUIRE(at == (expected == 0 ? 0 : 4711));
    return 0;
}

static int call_empty(void *arg)
{
    (void)arg;
    return call_each(NULL, NULL, 0, 0);
}

static void empty_arrays_have_totals(void **state)
{
    (void)state;
    test_everywhere(call_empty, NULL);
}

static int call_canceled(void *arg)
{
    ws_token_cancel(arg);
    call_each(doubles, integers, 1, WS_ECANCELED);
    call_each(doubles, integers, 50, WS_ECANCELED);
    return call_each(doubles, integers, MOST, WS_ECANCELED);
}

static int call_under_token(void *arg)
{
    ws_token *token = NULL;
    (void)arg;
    WS_TEST_REQUIRE(ws_token_create(&token) == WS_OK);
    WS_TEST_REQUIRE(ws_with_token(token, call_canceled, token) == 0);
    ws_token_release(token);
    return 0;
}

static void canceled_totals_are_not_set(void **state)
{
    (void)state;
    test_everywhere(call_under_token, NULL);
}

static void wrong_arguments_touch_nothing(void **state)
{
    (void)state;
    call_each(NULL, NULL, 1, WS_EINVAL);
    assert_int_equal(ws_sum_double(doubles, 1, NULL), WS_EINVAL);
    assert_int_equal(ws_sum_int64(integers, 1, NULL), WS_EINVAL);
    assert_int_equal(ws_min_double(doubles, 1, NULL), WS_EINVAL);
    assert_int_equal(ws_max_double(doubles, 1, NULL), WS_EINVAL);
    assert_int_equal(ws_min_int64(integers, 0, NULL), WS_EINVAL);
    assert_int_equal(ws_max_int64(integers, 0, NULL), WS_EINVAL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_index_is_asked_once),
    cmocka_unit_test(counts_of_pieces_are_added),
    cmocka_unit_test(wrong_counts_touch_nothing),
    cmocka_unit_test(sums_equal_the_serial_ones_and_wrap),
    cmocka_unit_test(sums_of_special_numbers_are_special),
    cmocka_unit_test(first_of_equal_ones_is_taken),
    cmocka_unit_test(nan_is_the_last_choice),
    cmocka_unit_test(limits_and_signed_zeros_are_compared),
    cmocka_unit_test(only_one_is_found_wherever_it_is),
    cmocka_unit_test(empty_arrays_have_totals),
    cmocka_unit_test(canceled_totals_are_not_set),
    cmocka_unit_test(wrong_arguments_touch_nothing),
};
WS_TEST_MAIN(tests)
