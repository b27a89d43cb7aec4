/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_reduce_fixed.c: WS_FOR_FIXED: a range is divided in the same way in
 * every run, so that sums of floating point numbers are the same bit by bit.
 */
/* ctest: processors 2 */
#include "support/loops.h"

enum {
    N = 5001
};

static double numbers[N];
static const size_t grains[] = {0, 1, 7, 1000, SIZE_MAX};
static double sums[TEST_COUNT(grains)];
static uint32_t leaves[TEST_COUNT(grains)][N]; /* where that of i begins */
static uint32_t seen[N];

static void fill(void)
{
    uint64_t random = 3;
    for (size_t i = 0; i < N; i++) {
        int64_t n = (int64_t)ws_test_random(&random);
        numbers[i] = (double)n / (double)((uint64_t)1 << i % 60);
    }
}

static void no_sum(void *acc, void *arg)
{
    (void)arg;
    *(double *)acc = 0;
}

static int add_some(size_t begin, size_t end, void *acc, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end; i++) {
        *(double *)acc += numbers[i];
        seen[i] = (uint32_t)begin;
    }
    return 0;
}

static int add_right(void *acc, void *right, void *arg)
{
    (void)arg;
    *(double *)acc += *(double *)right;
    return 0;
}

static const ws_reducer adder = {sizeof(double), no_sum, add_some, add_right};

static ws_for_opts fixed_opts(size_t grain)
{
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    opts.flags = WS_FOR_FIXED;
    opts.max_grain = grain;
    return opts;
}

static int sum_first(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(grains); i++) {
        ws_for_opts opts = fixed_opts(grains[i]);
        WS_TEST_REQUIRE(ws_reduce(0, N, &opts, &adder, &sums[i], NULL) == 0);
        memcpy(leaves[i], seen, sizeof(seen));
    }
    return 0;
}

/* What all others are compared with. */
static void sum_in_one_worker(void)
{
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    fill();
    assert_int_equal(ws_pool_install(pool, sum_first, NULL), 0);
    test_destroy(pool);
}

static int sum_again(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(grains); i++) {
        ws_for_opts opts = fixed_opts(grains[i]);
        double sum = -1;
        memset(seen, 0xFF, sizeof(seen));
        WS_TEST_REQUIRE(ws_reduce(0, N, &opts, &adder, &sum, NULL) == 0);
        WS_TEST_REQUIRE(memcmp(&sum, &sums[i], sizeof(sum)) == 0);
        WS_TEST_REQUIRE(memcmp(seen, leaves[i], sizeof(seen)) == 0);
    }
    return 0;
}

/* Of the ranges that no option forbids. */
static void check_leaves(void)
{
    for (size_t i = 0; i < TEST_COUNT(grains); i++) {
        size_t longest = 0;
        for (size_t k = 0; k < N; k++) {
            size_t length = k - leaves[i][k] + 1;
            longest = length > longest ? length : longest;
        }
        /* Of 0: a 1024th of the range, rounded up. */
        size_t expected = grains[i] == 0  ? (N - 1) / 1024 + 1
                          : grains[i] < N ? grains[i]
                                          : N;
        assert_int_equal(longest, expected);
    }
}

static void sums_are_the_same_with_any_number_of_workers(void **state)
{
    static const unsigned workers[] = {1, 2, 3, 4, 5, 8, 13, 21, 34, 64};
    (void)state;
    sum_in_one_worker();
    check_leaves();
    for (size_t i = 0; i < TEST_COUNT(workers); i++) {
        ws_pool *pool = test_pool(workers[i], WS_WAIT_DEFAULT);
        for (size_t k = ws_test_scale(40); k > 0; k--) {
            assert_int_equal(ws_pool_install(pool, sum_again, NULL), 0);
        }
        test_destroy(pool);
    }
    /* Otherwise nothing was compared. */
    assert_true(sums[0] != sums[1] || sums[1] != sums[4]);
}

static void sums_are_the_same_outside(void **state)
{
    (void)state;
    sum_in_one_worker();
    test_everywhere(sum_again, NULL);
}

static int add_with_min(void *arg)
{
    ws_for_opts opts = fixed_opts(7);
    double sum;
    (void)arg;
    for (opts.min_grain = 0; opts.min_grain <= 7; opts.min_grain++) {
        WS_TEST_REQUIRE(ws_reduce(0, N, &opts, &adder, &sum, NULL) == 0);
        WS_TEST_REQUIRE(memcmp(&sum, &sums[2], sizeof(sum)) == 0);
    }
    return 0;
}

static void min_grain_changes_no_sum(void **state)
{
    (void)state;
    sum_in_one_worker();
    test_everywhere(add_with_min, NULL);
}

/* ---- ws_sum_double --------------------------------------------------- */

enum {
    MANY = 100000
};

typedef struct {
    double *a;
    size_t n;
    double sum;
} summing;

static int sum_first_array(void *arg)
{
    summing *s = arg;
    return ws_sum_double(s->a, s->n, &s->sum);
}

static int sum_array(void *arg)
{
    const summing *s = arg;
    double sum = -1;
    WS_TEST_REQUIRE(ws_sum_double(s->a, s->n, &sum) == 0);
    WS_TEST_REQUIRE(memcmp(&sum, &s->sum, sizeof(sum)) == 0);
    return 0;
}

static void sums_of_arrays_are_the_same_everywhere(void **state)
{
    static const size_t lengths[] = {0, 1, 8191, 8192, 8193, MANY};
    uint64_t random = 5;
    ws_pool *one = test_pool(1, WS_WAIT_DEFAULT);
    summing s = {.a = test_malloc(MANY * sizeof(double))};
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        s.a[i] = (double)(int64_t)ws_test_random(&random) / (double)(i + 1);
    }
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        s.n = lengths[i];
        assert_int_equal(ws_pool_install(one, sum_first_array, &s), 0);
        test_everywhere(sum_array, &s);
    }
    test_free(s.a);
    test_destroy(one);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_are_the_same_with_any_number_of_workers),
    cmocka_unit_test(sums_are_the_same_outside),
    cmocka_unit_test(min_grain_changes_no_sum),
    cmocka_unit_test(sums_of_arrays_are_the_same_everywhere),
};
WS_TEST_MAIN(tests)
