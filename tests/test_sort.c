/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_sort.c: ws_sort and the unstable function of WS_SORT_DEFINE: elements of
 * all sizes, inputs that are bad for quicksort, comparisons that are no order,
 * the bounds of time and stack, and where it runs.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/sorts.h"

#include <math.h>
#include <stdalign.h>

#include <wsteal/sort_define.h>

/* ---- results --------------------------------------------------------- */

static void sizes(void **state)
{
    (void)state;
    test_sort_sizes(ws_sort);
}

static void check_patterns(ws_pool *pool)
{
    test_sort_patterns(pool, ws_sort);
}

static void patterns(void **state)
{
    (void)state;
    test_in_each_pool(check_patterns);
}

static void check_no_order(ws_pool *pool)
{
    test_sort_no_order(pool, ws_sort);
}

static void inconsistent_comparison(void **state)
{
    (void)state;
    test_in_pools_of(2, check_no_order);
}

static void random_comparison(void **state)
{
    (void)state;
    test_sort_random_order(ws_sort);
}

static void invalid_arguments(void **state)
{
    int one[2] = {2, 1};
    struct test_order o = {4, 0};
    (void)state;
    assert_int_equal(ws_sort(one, 2, 4, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_sort(one, 2, 0, test_compare, &o), WS_EINVAL);
    assert_int_equal(ws_sort(NULL, 2, 4, test_compare, &o), WS_EINVAL);
    assert_int_equal(ws_sort(one, SIZE_MAX / 2, 4, test_compare, &o),
                     WS_EINVAL);
    assert_int_equal(ws_sort_with(NULL, one, 2, NULL), WS_EINVAL);
    assert_int_equal(one[0], 2);
    assert_int_equal(ws_sort(NULL, 0, 4, test_compare, &o), WS_OK);
    assert_int_equal(ws_sort(one, 2, 4, test_compare, &o), WS_OK);
    assert_int_equal(one[0], 1);
}

/* ---- one type -------------------------------------------------------- */

struct triple {
    int key;
    int other[2];
};

struct wide {
    alignas(64) double key;
    int number;
};

struct large {
    char text[200];
    int key;
};

static inline int wide_before(const struct wide *a, const struct wide *b)
{
    WS_TEST_REQUIRE((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
    return a->key < b->key;
}

#define VALUE_LESS(a, b) (*(a) < *(b))
#define KEY_LESS(a, b) ((a)->key < (b)->key)
WS_SORT_DEFINE(sort_doubles, double, VALUE_LESS)
WS_SORT_DEFINE(sort_bytes, unsigned char, VALUE_LESS)
WS_SORT_DEFINE(sort_triples, struct triple, KEY_LESS)
WS_SORT_DEFINE(sort_wide, struct wide, wide_before)
WS_SORT_DEFINE(sort_large, struct large, KEY_LESS)

#define TYPED(type, sort, n, make, before)                                     \
    do {                                                                       \
        type *a =                                                              \
            aligned_alloc(alignof(type) > 16 ? alignof(type) : 16,             \
                          (n) * sizeof(type) + 64 - (n) * sizeof(type) % 64);  \
        uint64_t random = 5;                                                   \
        assert_non_null(a);                                                    \
        memset(a, 0, (n) * sizeof(type));                                      \
        for (size_t i = 0; i < (n); i++) {                                     \
            const int x = (int)(ws_test_random(&random) % 100000);             \
            make;                                                              \
        }                                                                      \
        assert_int_equal(sort(a, (n)), WS_OK);                                 \
        for (size_t i = 1; i < (n); i++) {                                     \
            assert_false(before(&a[i], &a[i - 1]));                            \
        }                                                                      \
        free(a);                                                               \
    } while (0)

static void each_type(void **state)
{
    const size_t n = ws_test_scale(100000) + 100;
    (void)state;
    TYPED(double, sort_doubles, n, a[i] = x, VALUE_LESS);
    TYPED(unsigned char, sort_bytes, n, a[i] = (unsigned char)x, VALUE_LESS);
    TYPED(struct triple, sort_triples, n, a[i].key = x, KEY_LESS);
    TYPED(struct wide, sort_wide, n, a[i].key = x, wide_before);
    TYPED(struct large, sort_large, n, a[i].key = x, KEY_LESS);
    TYPED(struct wide, sort_wide_stable, n, a[i].key = x, wide_before);
    TYPED(struct large, sort_large_stable, n, a[i].key = x, KEY_LESS);
    TYPED(double, sort_doubles_stable, n, a[i] = x, VALUE_LESS);
    TYPED(unsigned char, sort_bytes_stable, n, a[i] = (unsigned char)x,
          VALUE_LESS);
    TYPED(struct triple, sort_triples_stable, n, a[i].key = x, KEY_LESS);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

#define STRING_LESS(a, b) (strcmp(*(a), *(b)) < 0)
WS_SORT_DEFINE(sort_strings, const char *, STRING_LESS)

static void pointers(void **state)
{
    const char *a[] = {"pear", "fig", "apple", "quince", "date"};
    (void)state;
    assert_int_equal(sort_strings(a, 5), WS_OK);
    assert_string_equal(a[0], "apple");
    assert_string_equal(a[4], "quince");
    assert_int_equal(sort_strings(NULL, 0), WS_OK);
    assert_int_equal(sort_strings(NULL, 1), WS_EINVAL);
}

static void not_a_number(void **state)
{
    const size_t n = ws_test_scale(100000) + 100;
    double *a = malloc(n * sizeof(*a));
    uint64_t random = 5;
    double sum = 0;
    size_t nans = 0;
    (void)state;
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        const double x = (double)(ws_test_random(&random) % 1000);
        a[i] = i % 7 == 0 ? NAN : x;
        sum += i % 7 == 0 ? 0 : x;
        nans += i % 7 == 0;
    }
    assert_int_equal(sort_doubles(a, n), WS_OK);
    for (size_t i = 0; i < n; i++) {
        sum -= isnan(a[i]) ? 0 : a[i];
        nans -= (size_t)(isnan(a[i]) != 0);
    }
    assert_true(sum == 0 && nans == 0);
    free(a);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- bounds ---------------------------------------------------------- */

static void comparisons_are_n_log_n(void **state)
{
    const size_t n = ws_test_scale(100000) + 1000;
    ws_pool *pool = test_pool(1, WS_WAIT_SUBTREE);
    (void)state;
    for (size_t size = 4; size <= 100; size += 96) {
        for (enum test_pattern p = 0; p < TEST_PATTERNS; p++) {
            struct test_array t = test_array_make(p, n, size);
            struct test_sort j = {ws_sort, &t, test_compare_count, {size, 0}};
            assert_int_equal(ws_pool_install(pool, test_sort_run, &j), WS_OK);
            test_array_sorted(&t);
            test_array_check(&t);
            const double calls = (double)j.order.calls;
            assert_true(calls < 1.6 * (double)n * test_log2(n));
            if (p == TEST_SORTED || p == TEST_REVERSED || p == TEST_EQUAL) {
                assert_true(calls < 1.1 * (double)n);
            }
        }
    }
    test_destroy(pool);
}

/* McIlroy's adversary (A killer adversary for quicksort, 1999): decides the
 * order while it is asked, so that each pivot turns out to be bad. */
static struct {
    size_t *value; /* of element i; `gas` = not decided yet */
    size_t gas;
    size_t next;
    size_t candidate;
    uint64_t calls;
    uintptr_t stack; /* the lowest address seen */
} adversary;

static int adversary_compare(const void *a, const void *b, void *ctx)
{
    const char here = 0;
    size_t x;
    size_t y;
    (void)ctx;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    adversary.calls++;
    if ((uintptr_t)&here < adversary.stack) {
        adversary.stack = (uintptr_t)&here;
    }
    size_t *v = adversary.value;
    if (v[x] == adversary.gas && v[y] == adversary.gas) {
        v[x == adversary.candidate ? x : y] = adversary.next++;
    }
    if (v[x] == adversary.gas) {
        adversary.candidate = x;
    } else if (v[y] == adversary.gas) {
        adversary.candidate = y;
    }
    return (v[x] > v[y]) - (v[x] < v[y]);
}

struct indices {
    size_t *a;
    size_t n;
    uintptr_t stack;
};

static int sort_indices(void *arg)
{
    struct indices *j = arg;
    const char here = 0;
    adversary.stack = (uintptr_t)&here;
    const int code =
        ws_sort(j->a, j->n, sizeof(*j->a), adversary_compare, NULL);
    j->stack = (uintptr_t)&here;
    return code;
}

static void adversary_gets_heapsort(void **state)
{
    const size_t n = ws_test_scale(100000) + 1000;
    struct indices j = {malloc(n * sizeof(size_t)), n, 0};
    ws_pool *pool = test_pool(1, WS_WAIT_SUBTREE);
    (void)state;
    memset(&adversary, 0, sizeof(adversary));
    adversary.value = malloc(n * sizeof(size_t));
    adversary.gas = n;
    assert_true(j.a != NULL && adversary.value != NULL);
    for (size_t i = 0; i < n; i++) {
        j.a[i] = i;
        adversary.value[i] = n;
    }
    assert_int_equal(ws_pool_install(pool, sort_indices, &j), WS_OK);
    for (size_t i = 1; i < n; i++) {
        assert_true(adversary.value[j.a[i - 1]] <= adversary.value[j.a[i]]);
    }
    assert_true((double)adversary.calls < 5 * (double)n * test_log2(n));
#ifndef TEST_SANITIZER
    assert_true(j.stack - adversary.stack < 4096 + 512 * (size_t)test_log2(n));
#endif
    free(j.a);
    free(adversary.value);
    test_destroy(pool);
}

/* ---- where it runs --------------------------------------------------- */

static void few_elements_start_no_pool(void **state)
{
    struct test_array t = test_array_make(TEST_RANDOM, 1000, 8);
    (void)state;
    test_sort_in(NULL, ws_sort, &t, test_compare);
    test_array_sorted(&t);
    test_array_check(&t);
    /* it would exist */
    assert_int_equal(ws_pool_global_init(NULL), WS_OK);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void few_elements_do_not_fork(void **state)
{
    ws_pool *pool = test_pool(2, WS_WAIT_SUBTREE);
    struct test_array t = test_array_make(TEST_RANDOM, 1000, 8);
    (void)state;
    test_sort_in(pool, ws_sort, &t, test_compare);
    test_array_check(&t);
    const ws_worker_stats totals = test_totals(pool);
    assert_int_equal(totals.steals, 0);
    test_destroy(pool);
}

static void outside_a_pool(void **state)
{
    struct test_array t = test_array_make(TEST_RANDOM, 300000, 8);
    (void)state;
    test_sort_in(NULL, ws_sort, &t, test_compare);
    test_array_sorted(&t);
    test_array_check(&t);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void without_a_pool(void **state)
{
    struct test_array t = test_array_make(TEST_RANDOM, 100000, 8);
    (void)state;
    assert_int_equal(setenv("WSTEAL_NUM_THREADS", "none", 1), 0);
    ws_pool *pool = NULL;
    assert_int_equal(ws_pool_global(&pool), WS_EENV);
    test_sort_in(NULL, ws_sort, &t, test_compare);
    test_array_sorted(&t);
    test_array_check(&t);
    assert_int_equal(unsetenv("WSTEAL_NUM_THREADS"), 0);
}

/* The first partition is shared by the workers above 2^16 elements. */
static void check_shared_split(ws_pool *pool)
{
    const size_t n = ws_test_scale(60000) + 140000;
    for (enum test_pattern p = 0; p < TEST_PATTERNS; p++) {
        struct test_array t = test_array_make(p, n, 4);
        test_sort_in(pool, ws_sort, &t, test_compare);
        test_array_sorted(&t);
        test_array_check(&t);
    }
}

static void shared_split(void **state)
{
    (void)state;
    test_in_pools_of(2, check_shared_split);
    test_in_pools_of(5, check_shared_split);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes),
    cmocka_unit_test(patterns),
    cmocka_unit_test(inconsistent_comparison),
    cmocka_unit_test(random_comparison),
    cmocka_unit_test(invalid_arguments),
    cmocka_unit_test(each_type),
    cmocka_unit_test(pointers),
    cmocka_unit_test(not_a_number),
    cmocka_unit_test(comparisons_are_n_log_n),
    cmocka_unit_test(adversary_gets_heapsort),
    cmocka_unit_test(few_elements_start_no_pool),
    cmocka_unit_test(few_elements_do_not_fork),
    cmocka_unit_test(outside_a_pool),
    cmocka_unit_test(without_a_pool),
    cmocka_unit_test(shared_split),
};
WS_TEST_MAIN(tests)
