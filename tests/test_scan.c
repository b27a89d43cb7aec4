/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scan.c: ws_scan and ws_scan_array equal their serial equivalents, also
 * where other workers take part.
 */
/* ctest: processors 2 */
#include "support/loops.h"

enum {
    MOST = 100000,
    LARGE = 300 /* affine maps in a large accumulator */
};

static const size_t lengths[] = {0, 1, 2, 31, 32, 33, 1000, MOST};

static size_t scaled(size_t n)
{
    return n == MOST ? ws_test_scale(MOST) : n;
}

static test_company company;
static test_counter folds; /* indices */
static test_counter scans; /* indices */
static test_counter combines;

static void start_counts(void)
{
    test_company_init(&company);
    test_set(&folds, 0);
    test_set(&scans, 0);
    test_set(&combines, 0);
}

/* ---- the general one ------------------------------------------------- */

/* An accumulator is `width` affine maps, each of another sequence. */
typedef struct {
    size_t width;
    size_t begin;
    bool slow;
    test_affine *out; /* of the last map: after index i, at i - begin */
} job;

static test_affine element(size_t i, size_t k)
{
    return test_affine_of(i * 31 + k);
}

static void add(test_affine *maps, size_t i, const job *j)
{
    for (size_t k = 0; k < j->width; k++) {
        test_affine_then(&maps[k], element(i, k));
    }
}

static void no_map(void *acc, void *arg)
{
    const job *j = arg;
    test_affine *maps = acc;
    WS_TEST_REQUIRE((uintptr_t)acc % _Alignof(max_align_t) == 0);
    for (size_t k = 0; k < j->width; k++) {
        maps[k] = test_affine_none;
    }
}

static int fold(size_t begin, size_t end, void *acc, void *arg)
{
    const job *j = arg;
    WS_TEST_REQUIRE(begin < end);
    if (j->slow) {
        test_await_company(&company);
    }
    test_add(&folds, end - begin);
    for (size_t i = begin; i < end; i++) {
        add(acc, i, j);
    }
    return 0;
}

static int scan(size_t begin, size_t end, void *acc, void *arg)
{
    const job *j = arg;
    test_affine *maps = acc;
    WS_TEST_REQUIRE(begin < end);
    if (j->slow) {
        test_await_company(&company);
    }
    test_add(&scans, end - begin);
    for (size_t i = begin; i < end; i++) {
        add(maps, i, j);
        j->out[i - j->begin] = maps[j->width - 1];
    }
    return 0;
}

static int combine(void *acc, const void *right, void *arg)
{
    const job *j = arg;
    test_affine *maps = acc;
    const test_affine *others = right;
    test_add(&combines, 1);
    for (size_t k = 0; k < j->width; k++) {
        test_affine_then(&maps[k], others[k]);
    }
    return 0;
}

static void check_scan(job *j, size_t n)
{
    static _Alignas(max_align_t) test_affine total[LARGE + 1];
    static test_affine expected[LARGE];
    const ws_scanner s = {j->width * sizeof(test_affine), no_map, fold, combine,
                          scan};
    memset(total, 0xEE, sizeof(total));
    memset(j->out, 0, n * sizeof(*j->out));
    start_counts();
    WS_TEST_REQUIRE(ws_scan(j->begin, j->begin + n, NULL, &s, total, j) == 0);
    WS_TEST_REQUIRE(test_get(&scans) == n);
    WS_TEST_REQUIRE(test_get(&folds) <= n);
    WS_TEST_REQUIRE(total[j->width].a == UINT64_C(0xEEEEEEEEEEEEEEEE));

    no_map(expected, j);
    for (size_t i = 0; i < n; i++) {
        add(expected, j->begin + i, j);
        WS_TEST_REQUIRE(test_affine_equal(j->out[i], expected[j->width - 1]));
    }
    WS_TEST_REQUIRE(memcmp(total, expected, j->width * sizeof(*expected)) == 0);
}

static int scan_ranges(void *arg)
{
    static test_affine out[MOST];
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        size_t n = scaled(lengths[i]);
        job j = {1, 0, false, out};
        check_scan(&j, n);
        j.begin = SIZE_MAX - n;
        check_scan(&j, n);
        j.width = 3;
        check_scan(&j, n);
        /* Slots for all workers do not fit into the frame. */
        j.width = 40;
        check_scan(&j, n < 1000 ? n : 1000);
        j.width = LARGE;
        check_scan(&j, n < 200 ? n : 200);
    }
    return 0;
}

static void prefixes_equal_the_serial_ones(void **state)
{
    (void)state;
    test_everywhere(scan_ranges, NULL);
}

static int scan_in_company(void *arg)
{
    static test_affine out[MOST];
    static const size_t widths[] = {1, 2, 40, LARGE};
    (void)arg;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        for (size_t i = 0; i < TEST_COUNT(widths); i++) {
            job j = {widths[i], 1000 * k, true, out};
            check_scan(&j, widths[i] < 40 ? 20000 : 1000);
            if (ws_current_num_workers() > 1) {
                WS_TEST_REQUIRE(test_get(&company.others) > 0);
                WS_TEST_REQUIRE(test_get(&folds) > 0);
                WS_TEST_REQUIRE(test_get(&combines) > 0);
            }
        }
    }
    return 0;
}

static void prefixes_are_right_where_others_take_part(void **state)
{
    (void)state;
    test_everywhere(scan_in_company, NULL);
}

/* ---- arrays ---------------------------------------------------------- */

static bool slow_op;

/* Of affine maps. */
static void affine_op(void *acc, const void *x, void *arg)
{
    WS_TEST_REQUIRE(arg == &slow_op);
    if (slow_op) {
        test_await_company(&company);
    }
    test_affine_then(acc, *(const test_affine *)x);
}

static void scan_maps(size_t n, bool in_place, int exclusive)
{
    static test_affine in[MOST];
    static test_affine out[MOST + 1];
    test_affine *to = in_place ? in : out;
    test_affine before = test_affine_none;
    test_affine total = {1, 1};
    const ws_prefixes p = {
        .in = in,
        .out = to,
        .n = n,
        .size = sizeof(test_affine),
        .identity = &test_affine_none,
        .op = affine_op,
        .arg = &slow_op,
        .exclusive = exclusive,
    };
    for (size_t i = 0; i < n; i++) {
        in[i] = test_affine_of(i);
    }
    out[n].a = 4711;
    start_counts();
    WS_TEST_REQUIRE(ws_scan_array(&p, NULL, n % 2 != 0 ? NULL : &total) == 0);
    for (size_t i = 0; i < n; i++) {
        test_affine after = before;
        test_affine_then(&after, test_affine_of(i));
        WS_TEST_REQUIRE(test_affine_equal(to[i], exclusive ? before : after));
        before = after;
    }
    WS_TEST_REQUIRE(n % 2 != 0 || test_affine_equal(total, before));
    WS_TEST_REQUIRE(out[n].a == 4711);
}

static int scan_arrays(void *arg)
{
    (void)arg;
    slow_op = false;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        for (int way = 0; way < 4; way++) {
            scan_maps(scaled(lengths[i]), way % 2 != 0, way >= 2 ? -3 : 0);
        }
    }
    return 0;
}

static void prefixes_of_arrays_equal_the_serial_ones(void **state)
{
    (void)state;
    test_everywhere(scan_arrays, NULL);
}

static int scan_arrays_in_company(void *arg)
{
    (void)arg;
    slow_op = true;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        for (int way = 0; way < 4; way++) {
            scan_maps(2000 + k % 2, way % 2 != 0, way >= 2);
            WS_TEST_REQUIRE(ws_current_num_workers() == 1 ||
                            test_get(&company.others) > 0);
        }
    }
    slow_op = false;
    return 0;
}

static void prefixes_of_arrays_are_right_where_others_take_part(void **state)
{
    (void)state;
    test_everywhere(scan_arrays_in_company, NULL);
}

/* Bytes that are added, each for itself. */
static void bytes_op(void *acc, const void *x, void *arg)
{
    unsigned char *bytes = acc;
    const unsigned char *others = x;
    for (size_t k = 0; k < *(size_t *)arg; k++) {
        bytes[k] = (unsigned char)(bytes[k] + others[k]);
    }
}

static int scan_sizes(void *arg)
{
    static const unsigned char zeros[256];
    static unsigned char bytes[1000 * 256];
    size_t sizes[] = {1, 3, 8, 100, 255, 256};
    (void)arg;
    for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
        unsigned char sum[256] = {0};
        unsigned char total[256];
        ws_prefixes p = {bytes, bytes,    1000,      sizes[s],
                         zeros, bytes_op, &sizes[s], 0};
        for (size_t i = 0; i < 1000 * sizes[s]; i++) {
            bytes[i] = (unsigned char)test_hash(i);
        }
        WS_TEST_REQUIRE(ws_scan_array(&p, NULL, total) == 0);
        for (size_t i = 0; i < 1000 * sizes[s]; i++) {
            size_t k = i % sizes[s];
            sum[k] = (unsigned char)(sum[k] + (unsigned char)test_hash(i));
            WS_TEST_REQUIRE(bytes[i] == sum[k]);
        }
        WS_TEST_REQUIRE(memcmp(total, sum, sizes[s]) == 0);
    }
    return 0;
}

static void elements_have_any_size_up_to_256(void **state)
{
    (void)state;
    test_everywhere(scan_sizes, NULL);
}

/* ---- wrong arguments ------------------------------------------------- */

static void never(void *acc, const void *x, void *arg)
{
    (void)acc;
    (void)x;
    (void)arg;
    WS_TEST_REQUIRE(false);
}

static void wrong_arrays_are_refused(void **state)
{
    int in[2] = {1, 2};
    int out[2] = {7, 7};
    int total = 7;
    const int zero = 0;
    const ws_prefixes right = {in, out, 2, sizeof(int), &zero, never, NULL, 0};
    ws_prefixes wrong[7];
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        wrong[i] = right;
    }
    wrong[0].in = NULL;
    wrong[1].out = NULL;
    wrong[2].size = 0;
    wrong[3].size = 257;
    wrong[4].identity = NULL;
    wrong[5].op = NULL;
    wrong[6].size = SIZE_MAX;
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        assert_int_equal(ws_scan_array(&wrong[i], NULL, &total), WS_EINVAL);
    }
    assert_int_equal(ws_scan_array(NULL, NULL, &total), WS_EINVAL);
    for (opts.flags = 1; opts.flags <= 8; opts.flags *= 2) {
        assert_int_equal(ws_scan_array(&right, &opts, &total), WS_EINVAL);
    }
    assert_int_equal(total, 7);
    assert_int_equal(out[0], 7);
}

static void empty_arrays_have_the_identity(void **state)
{
    int total = 7;
    const int zero = 0;
    const ws_prefixes none = {NULL,  NULL,  0,    sizeof(int),
                              &zero, never, NULL, 1};
    (void)state;
    assert_int_equal(ws_scan_array(&none, NULL, &total), 0);
    assert_int_equal(total, 0);
    assert_int_equal(ws_scan_array(&none, NULL, NULL), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(prefixes_equal_the_serial_ones),
    cmocka_unit_test(prefixes_are_right_where_others_take_part),
    cmocka_unit_test(prefixes_of_arrays_equal_the_serial_ones),
    cmocka_unit_test(prefixes_of_arrays_are_right_where_others_take_part),
    cmocka_unit_test(elements_have_any_size_up_to_256),
    cmocka_unit_test(wrong_arrays_are_refused),
    cmocka_unit_test(empty_arrays_have_the_identity),
};
WS_TEST_MAIN(tests)
