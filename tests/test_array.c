/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_array.c: ws_map, ws_filter and ws_pack.
 */
/* ctest: processors 2 */
#include "support/loops.h"

enum {
    MOST = 100000,
    LARGEST = 100
};

static unsigned char in[MOST * 8];
static unsigned char out[MOST * 8 + 1];
static unsigned char expected[MOST * 8];
static unsigned char flags[MOST];

static const size_t lengths[] = {0, 1, 2, 31, 32, 33, 500, 1000};
static const size_t sizes[] = {1, 3, 8, LARGEST};

static const ws_for_opts all_opts[] = {
    {sizeof(ws_for_opts), 0, 0, 0, NULL},
    {sizeof(ws_for_opts), 0, 1, 0, NULL},
    {sizeof(ws_for_opts), 2, 7, WS_FOR_SLOTS, NULL},
    {sizeof(ws_for_opts), 40, 0, WS_FOR_FIXED, NULL},
    {sizeof(ws_for_opts), SIZE_MAX, SIZE_MAX, 0, NULL},
};

static void fill(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        in[i] = (unsigned char)test_hash(i);
    }
}

/* ---- map ------------------------------------------------------------- */

typedef struct {
    uint32_t low;
    uint32_t high;
    uint64_t more;
} wide;

static int widen(const void *from, void *to, void *arg)
{
    uint32_t x = *(const uint32_t *)from;
    wide *w = to;
    w->low = x;
    w->high = ~x;
    w->more = x * *(uint64_t *)arg;
    return 0;
}

static int map_wider(void *arg)
{
    static uint32_t narrow[1000];
    static wide wides[1000 + 1];
    uint64_t factor = UINT64_C(1) << 33 | 7;
    (void)arg;
    for (size_t i = 0; i < 1000; i++) {
        narrow[i] = (uint32_t)test_hash(i);
    }
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        for (size_t k = 0; k <= TEST_COUNT(all_opts); k++) {
            size_t n = lengths[i];
            memset(wides, 0xEE, sizeof(wides));
            WS_TEST_REQUIRE(
                ws_map(narrow, sizeof(*narrow), wides, sizeof(*wides), n,
                       k > 0 ? &all_opts[k - 1] : NULL, widen, &factor) == 0);
            for (size_t j = 0; j < n; j++) {
                WS_TEST_REQUIRE(wides[j].low == narrow[j]);
                WS_TEST_REQUIRE(wides[j].high == ~narrow[j]);
                WS_TEST_REQUIRE(wides[j].more == narrow[j] * factor);
            }
            WS_TEST_REQUIRE(wides[n].low == 0xEEEEEEEE);
        }
    }
    return 0;
}

static void elements_are_mapped_to_larger_ones(void **state)
{
    (void)state;
    test_everywhere(map_wider, NULL);
}

static test_company company;
static test_counter calls;

static int invert(const void *from, void *to, void *arg)
{
    test_add(&calls, 1);
    if (arg != NULL) {
        test_await_company(arg);
    }
    *(unsigned char *)to = (unsigned char)~*(const unsigned char *)from;
    return 0;
}

static int map_in_place(void *arg)
{
    const size_t n = 5000;
    const ws_for_opts opts = WS_FOR_OPTS_INIT;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        fill(n);
        test_set(&calls, 0);
        test_company_init(&company);
        WS_TEST_REQUIRE(ws_map(in, 1, in, 1, n, &opts, invert, arg) == 0);
        for (size_t i = 0; i < n; i++) {
            WS_TEST_REQUIRE(in[i] == (unsigned char)~test_hash(i));
        }
        WS_TEST_REQUIRE(test_get(&calls) == n);
        WS_TEST_REQUIRE(arg == NULL || ws_current_num_workers() == 1 ||
                        test_get(&company.others) > 0);
    }
    return 0;
}

static void elements_are_mapped_in_place(void **state)
{
    (void)state;
    test_everywhere(map_in_place, NULL);
    test_everywhere(map_in_place, &company);
}

static int fail_at_200(const void *from, void *to, void *arg)
{
    (void)to;
    (void)arg;
    return from == in + 200 ? 17 : 0;
}

static int map_wrongly(void *arg)
{
    ws_for_opts wrong = {1, 0, 0, 0, NULL};
    (void)arg;
    test_set(&calls, 0);
    WS_TEST_REQUIRE(ws_map(NULL, 1, out, 1, 1, NULL, invert, NULL) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_map(in, 1, NULL, 1, 1, NULL, invert, NULL) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_map(in, 1, out, 1, 1, NULL, NULL, NULL) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_map(in, 1, out, 1, 1, &wrong, invert, NULL) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_map(NULL, 1, NULL, 1, 0, NULL, invert, NULL) == 0);
    WS_TEST_REQUIRE(test_get(&calls) == 0);
    WS_TEST_REQUIRE(ws_map(in, 1, out, 1, 500, NULL, fail_at_200, NULL) == 17);
    return 0;
}

static void failing_and_wrong_maps_say_so(void **state)
{
    (void)state;
    test_everywhere(map_wrongly, NULL);
}

/* ---- filter ---------------------------------------------------------- */

/* Which ones of n elements are kept: some patterns. */
static bool is_kept(size_t i, size_t n, unsigned pattern)
{
    switch (pattern) {
    case 0:
        return false;
    case 1:
        return true;
    case 2:
        return i % 2 == 0;
    case 3:
        return i >= n / 2;
    case 4:
        return i < n / 2 || i == n - 1;
    default:
        return test_hash(i * pattern) % pattern == 0;
    }
}

enum {
    PATTERNS = 8
};

typedef struct {
    size_t size;
    const unsigned char *array;
    test_company *company;
} keeping;

static int keep_flagged(const void *element, void *arg)
{
    const keeping *k = arg;
    test_add(&calls, 1);
    if (k->company != NULL) {
        test_await_company(k->company);
    }
    return flags[(size_t)((const unsigned char *)element - k->array) / k->size];
}

/* Fills `in` and `flags`, and `expected` with what is kept: how many. */
static size_t prepare(size_t n, size_t size, unsigned pattern)
{
    size_t kept = 0;
    fill(n * size);
    for (size_t i = 0; i < n; i++) {
        flags[i] = is_kept(i, n, pattern) ? (unsigned char)(i % 255 + 1) : 0;
        if (flags[i] != 0) {
            memcpy(expected + kept * size, in + i * size, size);
            kept++;
        }
    }
    return kept;
}

static void filter(size_t n, size_t size, unsigned pattern,
                   const ws_for_opts *opts, test_company *with)
{
    const size_t kept = prepare(n, size, pattern);
    keeping k = {size, in, with};
    for (unsigned way = 0; way < 4; way++) {
        size_t got = 4711;
        unsigned char *to = way < 2 ? out : in;
        test_set(&calls, 0);
        if (with != NULL) {
            test_company_init(with);
        }
        out[n * size] = 0xEE;
        WS_TEST_REQUIRE((way % 2 == 0
                             ? ws_pack(in, to, n, size, opts, flags, &got)
                             : ws_filter(in, to, n, size, opts, keep_flagged,
                                         &k, &got)) == 0);
        WS_TEST_REQUIRE(got == kept);
        WS_TEST_REQUIRE(memcmp(to, expected, kept * size) == 0);
        WS_TEST_REQUIRE(out[n * size] == 0xEE);
        WS_TEST_REQUIRE(test_get(&calls) == (way % 2 == 0 ? 0 : n));
        WS_TEST_REQUIRE(with == NULL || way % 2 == 0 ||
                        ws_current_num_workers() == 1 ||
                        test_get(&with->others) > 0);
        if (way >= 2) {
            fill(n * size);
        }
    }
}

static int filter_all(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
            for (unsigned p = 0; p < PATTERNS; p++) {
                filter(lengths[i], sizes[s], p, NULL, NULL);
                filter(lengths[i], sizes[s], p,
                       &all_opts[(i + s + p) % TEST_COUNT(all_opts)], NULL);
            }
        }
    }
    for (unsigned p = 0; p < PATTERNS; p++) {
        filter(ws_test_scale(MOST), 8, p, &all_opts[p % 3], NULL);
    }
    return 0;
}

static void kept_ones_are_in_front_in_their_order(void **state)
{
    (void)state;
    test_everywhere(filter_all, NULL);
}

static int filter_in_company(void *arg)
{
    (void)arg;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        for (unsigned p = 0; p < PATTERNS; p++) {
            filter(2000, sizes[(p + k) % TEST_COUNT(sizes)], p,
                   k % 2 == 0 ? NULL : &all_opts[2], &company);
        }
    }
    return 0;
}

static void pieces_that_moved_are_put_together(void **state)
{
    (void)state;
    test_everywhere(filter_in_company, NULL);
}

/* ---- wrong, canceled ------------------------------------------------- */

static int keep_all(const void *element, void *arg)
{
    (void)element;
    (void)arg;
    test_add(&calls, 1);
    return 1;
}

static int filter_wrongly(void *arg)
{
    const ws_for_opts wrong[] = {
        {0, 0, 0, 0, NULL},
        {sizeof(ws_for_opts), 3, 2, 0, NULL},
        {sizeof(ws_for_opts), 0, 0, WS_FOR_STATIC, NULL},
        {sizeof(ws_for_opts), 0, 0, 8, NULL},
    };
    size_t kept = 4711;
    (void)arg;
    test_set(&calls, 0);
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        WS_TEST_REQUIRE(ws_filter(in, out, 9, 1, &wrong[i], keep_all, NULL,
                                  &kept) == WS_EINVAL);
        WS_TEST_REQUIRE(ws_pack(in, out, 9, 1, &wrong[i], flags, &kept) ==
                        WS_EINVAL);
    }
    WS_TEST_REQUIRE(ws_filter(in, out, 9, 1, NULL, NULL, NULL, &kept) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_filter(in, out, 9, 0, NULL, keep_all, NULL, &kept) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_filter(NULL, out, 9, 1, NULL, keep_all, NULL, &kept) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_filter(in, NULL, 9, 1, NULL, keep_all, NULL, &kept) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_filter(in, out, 9, 1, NULL, keep_all, NULL, NULL) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_pack(in, out, 9, 1, NULL, NULL, &kept) == WS_EINVAL);
    WS_TEST_REQUIRE(ws_pack(in, out, 9, 1, NULL, flags, NULL) == WS_EINVAL);
    WS_TEST_REQUIRE(kept == 4711);
    WS_TEST_REQUIRE(test_get(&calls) == 0);
    return 0;
}

static void wrong_arguments_touch_nothing(void **state)
{
    (void)state;
    test_everywhere(filter_wrongly, NULL);
}

static int filter_nothing(void *arg)
{
    size_t kept = 4711;
    (void)arg;
    WS_TEST_REQUIRE(ws_filter(NULL, NULL, 0, 1, NULL, keep_all, NULL, &kept) ==
                    0);
    WS_TEST_REQUIRE(kept == 0);
    kept = 4711;
    WS_TEST_REQUIRE(ws_pack(NULL, NULL, 0, 1, NULL, NULL, &kept) == 0);
    WS_TEST_REQUIRE(kept == 0);
    return 0;
}

static void of_no_elements_none_are_kept(void **state)
{
    (void)state;
    test_everywhere(filter_nothing, NULL);
}

static int keep_and_cancel(const void *element, void *arg)
{
    if (element == in + 500) {
        ws_token_cancel(arg);
    }
    return 1;
}

static int filter_canceled(void *arg)
{
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    size_t kept = 4711;
    (void)arg;
    WS_TEST_REQUIRE(ws_token_create(&opts.token) == WS_OK);
    opts.max_grain = 10;
    WS_TEST_REQUIRE(ws_filter(in, out, MOST, 1, &opts, keep_and_cancel,
                              opts.token, &kept) == WS_ECANCELED);
    WS_TEST_REQUIRE(ws_pack(in, out, 9, 1, &opts, flags, &kept) ==
                    WS_ECANCELED);
    WS_TEST_REQUIRE(kept == 4711);
    ws_token_release(opts.token);
    return 0;
}

/* With one worker, or another one could have all the rest done before. */
static void check_canceled(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, filter_canceled, NULL), 0);
}

static void canceled_filter_says_so(void **state)
{
    (void)state;
    test_in_pools_of(1, check_canceled);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(elements_are_mapped_to_larger_ones),
    cmocka_unit_test(elements_are_mapped_in_place),
    cmocka_unit_test(failing_and_wrong_maps_say_so),
    cmocka_unit_test(kept_ones_are_in_front_in_their_order),
    cmocka_unit_test(pieces_that_moved_are_put_together),
    cmocka_unit_test(wrong_arguments_touch_nothing),
    cmocka_unit_test(of_no_elements_none_are_kept),
    cmocka_unit_test(canceled_filter_says_so),
};
WS_TEST_MAIN(tests)
