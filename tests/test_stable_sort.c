/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_stable_sort.c: ws_stable_sort and the stable function of WS_SORT_DEFINE:
 * the order of equal elements, with and without memory, and what test_sort.c
 * checks of the other one.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/sorts.h"

#include "par/sort.h"

/* ---- without memory -------------------------------------------------- */

struct item {
    uint32_t key;
    uint32_t number; /* where it stood */
};

struct large_item {
    struct item item;
    char text[120];
};

#define KEY_LESS(a, b) ((a)->key < (b)->key)
#define ITEM_LESS(a, b) ((a)->item.key < (b)->item.key)
WS_SORT_DEFINE(sort_items, struct item, KEY_LESS)
WS_SORT_DEFINE(sort_large_items, struct large_item, ITEM_LESS)

/* ws_stable_sort_with() where memory is out. */
static int sort_in_place(const ws_sort_kernel *kernel, void *base, size_t n)
{
    struct wsi_sorter s;
    const int code = wsi_sort_begin(&s, kernel, base, n, NULL);
    if (code == 1) {
        wsi_stable_sort(&s, base, NULL);
    }
    return code < 0 ? code : WS_OK;
}

static int sort_items_in_place(struct item *a, size_t n)
{
    return sort_in_place(&sort_items_kernel_, a, n);
}

static int sort_large_items_in_place(struct large_item *a, size_t n)
{
    return sort_in_place(&sort_large_items_kernel_, a, n);
}

/* ---- stability ------------------------------------------------------- */

static void check_order(const struct item *before, const struct item *item)
{
    WS_TEST_REQUIRE(before->key < item->key || (before->key == item->key &&
                                                before->number < item->number));
}

static void check_items(int (*sort)(struct item *a, size_t n), size_t n)
{
    for (enum test_pattern p = 0; p < TEST_PATTERNS; p++) {
        struct item *a = malloc((n + 1) * sizeof(*a));
        uint64_t random = 3;
        assert_non_null(a);
        for (size_t i = 0; i < n; i++) {
            a[i].key = test_key(p, i, n, &random) %
                       (p == TEST_RANDOM ? (uint32_t)n / 4 + 1 : UINT32_MAX);
            a[i].number = (uint32_t)i;
        }
        WS_TEST_REQUIRE(sort(a, n) == WS_OK);
        for (size_t i = 1; i < n; i++) {
            check_order(&a[i - 1], &a[i]);
        }
        free(a);
    }
}

static void check_large(int (*sort)(struct large_item *a, size_t n), size_t n)
{
    for (enum test_pattern p = 0; p < TEST_PATTERNS; p++) {
        struct large_item *a = calloc(n + 1, sizeof(*a));
        uint64_t random = 3;
        assert_non_null(a);
        for (size_t i = 0; i < n; i++) {
            a[i].item.key = test_key(p, i, n, &random);
            a[i].item.number = (uint32_t)i;
        }
        WS_TEST_REQUIRE(sort(a, n) == WS_OK);
        for (size_t i = 1; i < n; i++) {
            check_order(&a[i - 1].item, &a[i].item);
        }
        free(a);
    }
}

static void equal_elements_keep_their_order(void **state)
{
    (void)state;
    for (size_t n = 0; n < 1000; n += 1 + n / 16) {
        check_items(sort_items_stable, n);
        check_large(sort_large_items_stable, n);
    }
}

static void in_place_without_memory(void **state)
{
    (void)state;
    for (size_t n = 0; n < 1000; n += 1 + n / 16) {
        check_items(sort_items_in_place, n);
        check_large(sort_large_items_in_place, n);
    }
}

static int sort_many(void *arg)
{
    const size_t n = ws_test_scale(50000) + 10000;
    (void)arg;
    check_items(sort_items_stable, n);
    check_items(sort_items_in_place, n);
    check_large(sort_large_items_stable, n / 8);
    return 0;
}

static void check_many(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, sort_many, NULL), WS_OK);
}

static void in_each_pool(void **state)
{
    (void)state;
    test_in_each_pool(check_many);
}

static void outside_a_pool(void **state)
{
    (void)state;
    assert_int_equal(sort_many(NULL), 0);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- as test_sort.c -------------------------------------------------- */

/* ws_stable_sort() where memory is out, for elements of four bytes or more. */
static int less_by_key(const void *a, const void *b, void *ctx)
{
    const struct test_sort *j = ctx;
    return j->compare(a, b, (void *)(uintptr_t)&j->order) < 0;
}

static void sizes(void **state)
{
    (void)state;
    test_sort_sizes(ws_stable_sort);
}

static void check_patterns(ws_pool *pool)
{
    test_sort_patterns(pool, ws_stable_sort);
}

static void patterns(void **state)
{
    (void)state;
    test_in_each_pool(check_patterns);
}

static void check_no_order(ws_pool *pool)
{
    test_sort_no_order(pool, ws_stable_sort);
}

static void inconsistent_comparison(void **state)
{
    (void)state;
    test_in_pools_of(2, check_no_order);
}

static void random_comparison(void **state)
{
    (void)state;
    test_sort_random_order(ws_stable_sort);
}

/* An inconsistent comparison in place. */
static void inconsistent_in_place(void **state)
{
    static const ws_compare_fn orders[] = {
        test_compare_hash, test_compare_less, test_compare_greater,
        test_compare_less_or_equal, test_compare_random};
    ws_sort_kernel kernel = sort_items_kernel_;
    (void)state;
    kernel.less = less_by_key;
    for (size_t c = 0; c < sizeof(orders) / sizeof(orders[0]); c++) {
        for (size_t n = 2; n < 5000; n += 1 + n / 4) {
            struct test_array t = test_array_make(TEST_RANDOM, n, 8);
            struct test_sort j = {NULL, &t, orders[c], {8, 1}};
            struct wsi_sorter s;
            assert_int_equal(wsi_sort_begin(&s, &kernel, t.a, n, &j), 1);
            struct wsi_sort_range all = {&s, (char *)t.a, n};
            assert_int_equal(wsi_sort_in_place(&all), 0);
            test_array_check(&t);
        }
    }
}

static void invalid_arguments(void **state)
{
    int two[2] = {2, 1};
    struct test_order o = {4, 0};
    (void)state;
    assert_int_equal(ws_stable_sort(two, 2, 4, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_stable_sort(two, 2, 0, test_compare, &o), WS_EINVAL);
    assert_int_equal(ws_stable_sort(NULL, 2, 4, test_compare, &o), WS_EINVAL);
    assert_int_equal(ws_stable_sort(two, SIZE_MAX / 2, 4, test_compare, &o),
                     WS_EINVAL);
    assert_int_equal(ws_stable_sort_with(NULL, two, 2, NULL), WS_EINVAL);
    assert_int_equal(two[0], 2);
    assert_int_equal(ws_stable_sort(NULL, 0, 4, test_compare, &o), WS_OK);
    assert_int_equal(ws_stable_sort(two, 2, 4, test_compare, &o), WS_OK);
    assert_int_equal(two[0], 1);
}

static void comparisons_are_n_log_n(void **state)
{
    const size_t n = ws_test_scale(100000) + 1000;
    ws_pool *pool = test_pool(1, WS_WAIT_SUBTREE);
    (void)state;
    for (size_t size = 4; size <= 100; size += 96) {
        for (enum test_pattern p = 0; p < TEST_PATTERNS; p++) {
            struct test_array t = test_array_make(p, n, size);
            struct test_sort j = {
                ws_stable_sort, &t, test_compare_count, {size, 0}};
            assert_int_equal(ws_pool_install(pool, test_sort_run, &j), WS_OK);
            test_array_sorted(&t);
            test_array_check(&t);
            assert_true((double)j.order.calls < 1.2 * (double)n * test_log2(n));
        }
    }
    test_destroy(pool);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_elements_keep_their_order),
    cmocka_unit_test(in_place_without_memory),
    cmocka_unit_test(in_each_pool),
    cmocka_unit_test(outside_a_pool),
    cmocka_unit_test(sizes),
    cmocka_unit_test(patterns),
    cmocka_unit_test(inconsistent_comparison),
    cmocka_unit_test(random_comparison),
    cmocka_unit_test(inconsistent_in_place),
    cmocka_unit_test(invalid_arguments),
    cmocka_unit_test(comparisons_are_n_log_n),
};
WS_TEST_MAIN(tests)
