/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_reduce.c: what ws_reduce computes: the same as the serial program, in
 * every place, with every option and every size of accumulator.
 */
/* ctest: processors 2 */
#include "support/loops.h"

static test_counter folded;
static test_counter identities;
static test_counter combines;

static void start_counts(void)
{
    test_set(&folded, 0);
    test_set(&identities, 0);
    test_set(&combines, 0);
}

/* n indices, each once; and each accumulator but the result's was combined. */
static bool counts_are_right(size_t n)
{
    return test_get(&folded) == n &&
           test_get(&identities) == test_get(&combines) + 1;
}

static bool is_aligned(const void *p)
{
    return (uintptr_t)p % _Alignof(max_align_t) == 0;
}

/* ---- order ----------------------------------------------------------- */

static void affine_identity(void *acc, void *arg)
{
    (void)arg;
    test_add(&identities, 1);
    *(test_affine *)acc = test_affine_none;
}

static int affine_fold(size_t begin, size_t end, void *acc, void *arg)
{
    (void)arg;
    test_add(&folded, end - begin);
    test_affine_then(acc, test_affine_range(begin, end));
    return 0;
}

static int affine_combine(void *acc, void *right, void *arg)
{
    (void)arg;
    test_add(&combines, 1);
    test_affine_then(acc, *(test_affine *)right);
    /* It is not used any more. */
    memset(right, 0xA5, sizeof(test_affine));
    return 0;
}

static const ws_reducer affine = {sizeof(test_affine), affine_identity,
                                  affine_fold, affine_combine};

static const ws_for_opts all_opts[] = {
    {sizeof(ws_for_opts), 0, 0, 0, NULL},
    {sizeof(ws_for_opts), 0, 1, 0, NULL},
    {sizeof(ws_for_opts), 1, 7, 0, NULL},
    {sizeof(ws_for_opts), 3, 3, WS_FOR_SLOTS, NULL},
    {sizeof(ws_for_opts), 40, 0, 0, NULL},
    {sizeof(ws_for_opts), SIZE_MAX, SIZE_MAX, 0, NULL},
    {sizeof(ws_for_opts), 0, 0, WS_FOR_FIXED, NULL},
    {sizeof(ws_for_opts), 0, 1, WS_FOR_FIXED, NULL},
    {sizeof(ws_for_opts), 2, 7, WS_FOR_FIXED, NULL},
    {sizeof(ws_for_opts), 0, SIZE_MAX, WS_FOR_FIXED | WS_FOR_SLOTS, NULL},
};

static void reduce_range(size_t begin, size_t n)
{
    test_affine expected = test_affine_range(begin, begin + n);
    for (size_t i = 0; i <= TEST_COUNT(all_opts); i++) {
        test_affine result = {99, 99};
        const ws_for_opts *opts = i > 0 ? &all_opts[i - 1] : NULL;
        start_counts();
        WS_TEST_REQUIRE(
            ws_reduce(begin, begin + n, opts, &affine, &result, NULL) == 0);
        WS_TEST_REQUIRE(test_affine_equal(result, expected));
        WS_TEST_REQUIRE(counts_are_right(n));
    }
}

static int reduce_ranges(void *arg)
{
    const size_t lengths[] = {0,  1,  2,    3,    31,
                              32, 33, 1000, 4097, ws_test_scale(100000)};
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        reduce_range(0, lengths[i]);
        reduce_range(5, lengths[i]);
        reduce_range(SIZE_MAX - lengths[i], lengths[i]);
    }
    return 0;
}

static void the_order_of_indices_is_kept(void **state)
{
    (void)state;
    test_everywhere(reduce_ranges, NULL);
}

/* ---- merging --------------------------------------------------------- */

static test_company company;

static int fold_in_company(size_t begin, size_t end, void *acc, void *arg)
{
    test_await_company(&company);
    return affine_fold(begin, end, acc, arg);
}

static int reduce_in_company(void *arg)
{
    const ws_for_opts *opts = arg;
    const ws_reducer r = {sizeof(test_affine), affine_identity, fold_in_company,
                          affine_combine};
    const size_t n = 2000;
    for (size_t i = ws_test_scale(40); i > 0; i--) {
        test_affine result;
        start_counts();
        test_company_init(&company);
        WS_TEST_REQUIRE(ws_reduce(7, 7 + n, opts, &r, &result, NULL) == 0);
        WS_TEST_REQUIRE(test_affine_equal(result, test_affine_range(7, 7 + n)));
        WS_TEST_REQUIRE(counts_are_right(n));
        if (ws_current_num_workers() > 1) {
            WS_TEST_REQUIRE(test_get(&company.others) > 0);
            WS_TEST_REQUIRE(test_get(&combines) > 0);
        }
    }
    return 0;
}

static void pieces_that_moved_are_merged_in_order(void **state)
{
    ws_for_opts opts[] = {WS_FOR_OPTS_INIT, WS_FOR_OPTS_INIT, WS_FOR_OPTS_INIT};
    (void)state;
    opts[1].max_grain = 50;
    opts[2].max_grain = 50;
    opts[2].flags = WS_FOR_FIXED;
    for (size_t i = 0; i < TEST_COUNT(opts); i++) {
        test_everywhere(reduce_in_company, &opts[i]);
    }
}

/* ---- sizes ----------------------------------------------------------- */

/* Each byte is a map x -> a x + b modulo 16, as a << 4 | b. */
static unsigned then(unsigned f, unsigned g)
{
    unsigned a = (g >> 4) * (f >> 4) % 16;
    unsigned b = ((g >> 4) * (f % 16) + g % 16) % 16;
    return a << 4 | b;
}

static unsigned byte_of(size_t i, size_t k)
{
    return (unsigned)test_hash(i * 5003 + k) % 256 | 0x10;
}

static void bytes_identity(void *acc, void *arg)
{
    WS_TEST_REQUIRE(is_aligned(acc));
    test_add(&identities, 1);
    memset(acc, 0x10, *(size_t *)arg);
}

static int bytes_fold(size_t begin, size_t end, void *acc, void *arg)
{
    unsigned char *bytes = acc;
    test_add(&folded, end - begin);
    for (size_t i = begin; i < end; i++) {
        for (size_t k = 0; k < *(size_t *)arg; k++) {
            bytes[k] = (unsigned char)then(bytes[k], byte_of(i, k));
        }
    }
    return 0;
}

static int bytes_combine(void *acc, void *right, void *arg)
{
    unsigned char *bytes = acc;
    const unsigned char *others = right;
    WS_TEST_REQUIRE(is_aligned(right));
    test_add(&combines, 1);
    for (size_t k = 0; k < *(size_t *)arg; k++) {
        bytes[k] = (unsigned char)then(bytes[k], others[k]);
    }
    return 0;
}

#define LARGEST 5000

static void reduce_bytes(size_t n, size_t size)
{
    static _Alignas(max_align_t) unsigned char expected[LARGEST];
    static _Alignas(max_align_t) unsigned char result[LARGEST + 1];
    const ws_reducer r = {size, bytes_identity, bytes_fold, bytes_combine};
    bytes_identity(expected, &size);
    bytes_fold(0, n, expected, &size);
    for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
        result[size] = 0xEE;
        start_counts();
        WS_TEST_REQUIRE(ws_reduce(0, n, &all_opts[i], &r, result, &size) == 0);
        WS_TEST_REQUIRE(memcmp(result, expected, size) == 0);
        WS_TEST_REQUIRE(result[size] == 0xEE);
        WS_TEST_REQUIRE(counts_are_right(n));
    }
}

static int reduce_sizes(void *arg)
{
    static const size_t sizes[] = {1, 8, 255, 256, 257, LARGEST};
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(sizes); i++) {
        reduce_bytes(0, sizes[i]);
        reduce_bytes(1, sizes[i]);
        reduce_bytes(2, sizes[i]);
        reduce_bytes(33, sizes[i]);
        reduce_bytes(ws_test_scale(400), sizes[i]);
    }
    return 0;
}

static void accumulators_have_any_size(void **state)
{
    (void)state;
    test_everywhere(reduce_sizes, NULL);
}

/* ---- slots ----------------------------------------------------------- */

static test_counter slots_in_use[64];

static int fold_with_slot(size_t begin, size_t end, void *acc, void *arg)
{
    int slot = ws_for_slot();
    WS_TEST_REQUIRE(slot >= 0 && slot < 64);
    WS_TEST_REQUIRE((unsigned)slot < ws_worker_slots());
    WS_TEST_REQUIRE(test_add(&slots_in_use[slot], 1) == 0);
    affine_fold(begin, end, acc, arg);
    wsi_thread_yield();
    test_set(&slots_in_use[slot], 0);
    return 0;
}

static int reduce_with_slots(void *arg)
{
    const ws_reducer r = {sizeof(test_affine), affine_identity, fold_with_slot,
                          affine_combine};
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    test_affine result;
    opts.max_grain = 5;
    opts.flags = WS_FOR_SLOTS | *(unsigned *)arg;
    WS_TEST_REQUIRE(ws_reduce(0, 500, &opts, &r, &result, NULL) == 0);
    WS_TEST_REQUIRE(test_affine_equal(result, test_affine_range(0, 500)));
    WS_TEST_REQUIRE(ws_for_slot() == -1);
    return 0;
}

static void folds_have_slots(void **state)
{
    unsigned flags = 0;
    (void)state;
    test_everywhere(reduce_with_slots, &flags);
}

static void folds_of_a_fixed_division_have_slots(void **state)
{
    unsigned flags = WS_FOR_FIXED;
    (void)state;
    test_everywhere(reduce_with_slots, &flags);
}

/* ---- nested, and many at once ---------------------------------------- */

enum {
    DEPTH = 10
};

typedef struct {
    size_t path; /* a bit for each level above */
    unsigned depth;
    const ws_for_opts *opts;
} level;

static int fold_level(size_t begin, size_t end, void *acc, void *arg);

static const ws_reducer nested = {sizeof(test_affine), affine_identity,
                                  fold_level, affine_combine};

static int fold_level(size_t begin, size_t end, void *acc, void *arg)
{
    const level *l = arg;
    int code = 0;
    for (size_t i = begin; code == 0 && i < end; i++) {
        level next = {2 * l->path + i, l->depth + 1, l->opts};
        test_affine inner = test_affine_of(next.path);
        if (next.depth < DEPTH) {
            code = ws_reduce(0, 2, l->opts, &nested, &inner, &next);
        }
        test_affine_then(acc, inner);
    }
    return code;
}

static int reduce_nested(void *arg)
{
    const size_t leaves = (size_t)1 << DEPTH;
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
        level top = {0, 0, &all_opts[i]};
        test_affine result;
        WS_TEST_REQUIRE(ws_reduce(0, 2, top.opts, &nested, &result, &top) == 0);
        WS_TEST_REQUIRE(
            test_affine_equal(result, test_affine_range(0, leaves)));
    }
    return 0;
}

static void reductions_are_nested(void **state)
{
    (void)state;
    test_everywhere(reduce_nested, NULL);
}

static void *reduce_often(void *arg)
{
    const size_t n = 3000;
    const test_affine expected = test_affine_range(0, n);
    (void)arg;
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
            test_affine result;
            WS_TEST_REQUIRE(
                ws_reduce(0, n, &all_opts[i], &affine, &result, NULL) == 0);
            WS_TEST_REQUIRE(test_affine_equal(result, expected));
        }
    }
    return NULL;
}

static int reduce_in_threads(void *arg)
{
    pthread_t threads[5];
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        threads[i] = test_thread(reduce_often, NULL);
    }
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        test_join_thread(threads[i]);
    }
    return 0;
}

static void foreign_threads_reduce_at_once(void **state)
{
    (void)state;
    test_outside(reduce_in_threads, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_order_of_indices_is_kept),
    cmocka_unit_test(pieces_that_moved_are_merged_in_order),
    cmocka_unit_test(accumulators_have_any_size),
    cmocka_unit_test(folds_have_slots),
    cmocka_unit_test(folds_of_a_fixed_division_have_slots),
    cmocka_unit_test(reductions_are_nested),
    cmocka_unit_test(foreign_threads_reduce_at_once),
};
WS_TEST_MAIN(tests)
