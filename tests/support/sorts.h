/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sorts.h: what the tests of sorts share: inputs of every pattern, elements of
 * every size that know their key and where they came from, comparisons that are
 * no order, and guards around the array.
 */
#ifndef WS_TESTS_SUPPORT_SORTS_H
#define WS_TESTS_SUPPORT_SORTS_H

#include "support/pools.h"

/* ---- inputs ---------------------------------------------------------- */

enum test_pattern {
    TEST_RANDOM,
    TEST_SORTED,
    TEST_REVERSED,
    TEST_EQUAL,
    TEST_FEW,
    TEST_ORGAN_PIPE,
    TEST_PIPE_KILLER,
    TEST_SAW,
    TEST_ALMOST,
    TEST_APPENDED,
    TEST_PATTERNS
};

/* Key i of n; the patterns that use it advance *random. */
static inline uint32_t test_key(enum test_pattern pattern, size_t i, size_t n,
                                uint64_t *random)
{
    switch (pattern) {
    case TEST_SORTED:
        return (uint32_t)i;
    case TEST_REVERSED:
        return (uint32_t)(n - i);
    case TEST_EQUAL:
        return 7;
    case TEST_FEW:
        return (uint32_t)(ws_test_random(random) % 5);
    case TEST_ORGAN_PIPE:
        return (uint32_t)(i < n / 2 ? i : n - i);
    case TEST_PIPE_KILLER:
        /* bad for the median of the first, the middle and the last */
        return (uint32_t)(i >= n / 2   ? 2 * (i - n / 2)
                          : i % 2 != 0 ? n - n / 2 + i
                                       : i);
    case TEST_SAW:
        return (uint32_t)(i % 100);
    case TEST_ALMOST:
        return (uint32_t)(ws_test_random(random) % 50 == 0
                              ? ws_test_random(random) % (n + 1)
                              : i);
    case TEST_APPENDED:
        return (uint32_t)(i < n - n / 10 ? i : ws_test_random(random) % n);
    case TEST_RANDOM:
    case TEST_PATTERNS:
    default:
        return (uint32_t)(ws_test_random(random) >> 32);
    }
}

/* ---- elements of any size -------------------------------------------- */

#define TEST_GUARD 128

/* An array between two guards.  Byte k of an element is a function of its first
 * four bytes, the key, so that a torn element shows. */
struct test_array {
    unsigned char *memory;
    unsigned char *a;
    size_t n;
    size_t size;
    uint64_t sum; /* of the elements, in any order */
};

/* The key of an element, lowest byte first: as much of it as there is room
 * for. */
static inline uint32_t test_key_of(const void *element, size_t size)
{
    const unsigned char *bytes = element;
    uint32_t key = 0;
    for (size_t k = 0; k < size && k < sizeof(key); k++) {
        key |= (uint32_t)bytes[k] << 8 * k;
    }
    return key;
}

static inline uint64_t test_sum(const struct test_array *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t key = test_key_of(t->a + i * t->size, t->size);
        sum += (key + 1) * (key + 1) * 0x9e3779b97f4a7c15;
    }
    return sum;
}

static inline struct test_array test_array_make(enum test_pattern pattern,
                                                size_t n, size_t size)
{
    struct test_array t = {NULL, NULL, n, size, 0};
    uint64_t random = 1 + n * 131 + size;
    t.memory = malloc(n * size + 2 * (size_t)TEST_GUARD);
    WS_TEST_REQUIRE(t.memory != NULL);
    memset(t.memory, 0xA5, n * size + 2 * (size_t)TEST_GUARD);
    t.a = t.memory + TEST_GUARD;
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = test_key(pattern, i, n, &random);
        for (size_t k = 0; k < size; k++) {
            t.a[i * size + k] =
                (unsigned char)(k < 4 ? key >> 8 * k : key * 31 + k);
        }
    }
    t.sum = test_sum(&t);
    return t;
}

/* Nothing was lost, torn or written beside the array; frees it. */
static inline void test_array_check(struct test_array *t)
{
    for (size_t i = 0; i < TEST_GUARD; i++) {
        WS_TEST_REQUIRE(t->memory[i] == 0xA5);
        WS_TEST_REQUIRE(t->a[t->n * t->size + i] == 0xA5);
    }
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t key = test_key_of(t->a + i * t->size, t->size);
        for (size_t k = 4; k < t->size; k++) {
            WS_TEST_REQUIRE(t->a[i * t->size + k] ==
                            (unsigned char)(key * 31 + k));
        }
    }
    WS_TEST_REQUIRE(test_sum(t) == t->sum);
    free(t->memory);
}

static inline void test_array_sorted(const struct test_array *t)
{
    for (size_t i = 1; i < t->n; i++) {
        WS_TEST_REQUIRE(test_key_of(t->a + (i - 1) * t->size, t->size) <=
                        test_key_of(t->a + i * t->size, t->size));
    }
}

/* ---- comparisons; the context is a test_order ------------------------ */

struct test_order {
    size_t size;
    uint64_t calls; /* counted by those that say so: on one thread only */
};

static inline int test_compare(const void *a, const void *b, void *ctx)
{
    const struct test_order *o = ctx;
    const uint32_t x = test_key_of(a, o->size);
    const uint32_t y = test_key_of(b, o->size);
    return (x > y) - (x < y);
}

static inline int test_compare_count(const void *a, const void *b, void *ctx)
{
    ((struct test_order *)ctx)->calls++;
    return test_compare(a, b, ctx);
}

/* No order at all, but the same answer for the same pair. */
static inline int test_compare_hash(const void *a, const void *b, void *ctx)
{
    const struct test_order *o = ctx;
    uint64_t h = test_key_of(a, o->size) * (uint64_t)0x9e3779b97f4a7c15;
    h = (h ^ (h >> 29) ^ test_key_of(b, o->size)) * 0xbf58476d1ce4e5b9;
    return (int)(h >> 62) - 1;
}

/* Another answer at each call. */
static inline int test_compare_random(const void *a, const void *b, void *ctx)
{
    struct test_order *o = ctx;
    (void)a;
    (void)b;
    return (int)(ws_test_random(&o->calls) % 3) - 1;
}

static inline int test_compare_less(const void *a, const void *b, void *ctx)
{
    (void)a;
    (void)b;
    (void)ctx;
    return -1;
}

static inline int test_compare_greater(const void *a, const void *b, void *ctx)
{
    return -test_compare_less(a, b, ctx);
}

static inline int test_compare_less_or_equal(const void *a, const void *b,
                                             void *ctx)
{
    return test_compare(a, b, ctx) <= 0 ? -1 : 1;
}

typedef int (*test_sort_fn)(void *base, size_t n, size_t size,
                            ws_compare_fn compare, void *ctx);

/* The bits of n: log2(n) + 1, rounded down. */
static inline double test_log2(size_t n)
{
    double bits = 0;
    for (; n > 0; n /= 2) {
        bits++;
    }
    return bits;
}

/* ---- in a pool ------------------------------------------------------- */

struct test_sort {
    test_sort_fn sort;
    struct test_array *t;
    ws_compare_fn compare;
    struct test_order order;
};

static inline int test_sort_run(void *arg)
{
    struct test_sort *j = arg;
    return j->sort(j->t->a, j->t->n, j->t->size, j->compare, &j->order);
}

/* Sorts in `pool`, or on the caller. */
static inline void test_sort_in(ws_pool *pool, test_sort_fn sort,
                                struct test_array *t, ws_compare_fn compare)
{
    struct test_sort j = {sort, t, compare, {t->size, 1}};
    WS_TEST_REQUIRE((pool != NULL ? ws_pool_install(pool, test_sort_run, &j)
                                  : test_sort_run(&j)) == WS_OK);
}

/* ---- what holds for both sorts --------------------------------------- */

static inline void test_sort_sizes(test_sort_fn sort)
{
    static const size_t sizes[] = {1,  2,  3,  4,  5,  8,   12,  16,
                                   24, 32, 40, 64, 65, 100, 300, 5000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (size_t n = 0; n < (sizes[k] > 100 ? 70 : 200); n++) {
            for (enum test_pattern p = 0; p < TEST_PATTERNS; p += 1 + n / 50) {
                struct test_array t = test_array_make(p, n, sizes[k]);
                test_sort_in(NULL, sort, &t, test_compare);
                test_array_sorted(&t);
                test_array_check(&t);
            }
        }
    }
}

static inline void test_sort_patterns(ws_pool *pool, test_sort_fn sort)
{
    static const size_t sizes[] = {4, 8, 12, 16, 100};
    const size_t n = ws_test_scale(10000) + 4321;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (enum test_pattern p = 0; p < TEST_PATTERNS; p++) {
            struct test_array t = test_array_make(p, n, sizes[k]);
            test_sort_in(pool, sort, &t, test_compare);
            test_array_sorted(&t);
            test_array_check(&t);
        }
    }
}

/* Every comparison ends and keeps the elements. */
static inline void test_sort_no_order(ws_pool *pool, test_sort_fn sort)
{
    static const ws_compare_fn shared[] = {test_compare_hash, test_compare_less,
                                           test_compare_greater,
                                           test_compare_less_or_equal};
    static const size_t sizes[] = {4, 8, 12, 24, 100};
    const size_t large = ws_test_scale(10000) + 5000;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (size_t c = 0; c < sizeof(shared) / sizeof(shared[0]); c++) {
            for (enum test_pattern p = TEST_RANDOM; p <= TEST_FEW; p++) {
                struct test_array t = test_array_make(p, large, sizes[k]);
                test_sort_in(pool, sort, &t, shared[c]);
                test_array_check(&t);
            }
        }
    }
}

/* The same for one that keeps a state, on one thread, at every length. */
static inline void test_sort_random_order(test_sort_fn sort)
{
    static const size_t sizes[] = {4, 8, 12, 100};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (size_t n = 0; n < 600; n += 1 + n / 40) {
            struct test_array t = test_array_make(TEST_RANDOM, n, sizes[k]);
            test_sort_in(NULL, sort, &t, test_compare_random);
            test_array_check(&t);
        }
    }
}

#endif
