/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * totals.c: counts, sums, and the smallest and largest of an array: reductions
 * that come ready-made.
 *
 * Layer: par.
 */
#include <wsteal/reduce.h>

#include <stdbool.h>

/* Of the sums: a few microseconds. */
#define LEAF 8192

static int reduce(size_t n, bool fixed, const ws_reducer *r, void *result,
                  void *arg)
{
    ws_for_opts o = WS_FOR_OPTS_INIT;
    if (fixed) {
        o.flags = WS_FOR_FIXED;
        o.max_grain = LEAF;
    }
    return ws_reduce(0, n, &o, r, result, arg);
}

/* ---- counting -------------------------------------------------------- */

typedef struct {
    ws_test_fn test;
    void *arg;
} counting;

static void no_count(void *acc, void *arg)
{
    (void)arg;
    *(size_t *)acc = 0;
}

static int count_some(size_t begin, size_t end, void *acc, void *arg)
{
    const counting *c = arg;
    size_t n = 0;
    for (size_t i = begin; i < end; i++) {
        n += c->test(i, c->arg) != 0;
    }
    *(size_t *)acc += n;
    return 0;
}

static int add_counts(void *acc, void *right, void *arg)
{
    (void)arg;
    *(size_t *)acc += *(const size_t *)right;
    return 0;
}

int ws_count(size_t begin, size_t end, const ws_for_opts *opts, ws_test_fn test,
             void *arg, size_t *count)
{
    static const ws_reducer counter = {sizeof(size_t), no_count, count_some,
                                       add_counts};
    counting c = {test, arg};
    size_t n;
    if (test == NULL || count == NULL) {
        return WS_EINVAL;
    }
    int code = ws_reduce(begin, end, opts, &counter, &n, &c);
    if (code == 0) {
        *count = n;
    }
    return code;
}

/* ---- sums and extremes, one set per type ----------------------------- */

/* For integers the sum is made of unsigned ones, which wrap around. */
#define SUM(name, type, sum_type)                                              \
    static void no_##name(void *acc, void *arg)                                \
    {                                                                          \
        (void)arg;                                                             \
        *(sum_type *)acc = 0;                                                  \
    }                                                                          \
    static int some_##name(size_t begin, size_t end, void *acc, void *arg)     \
    {                                                                          \
        const type *a = arg;                                                   \
        sum_type sum = *(const sum_type *)acc;                                 \
        for (size_t i = begin; i < end; i++) {                                 \
            sum += (sum_type)a[i];                                             \
        }                                                                      \
        *(sum_type *)acc = sum;                                                \
        return 0;                                                              \
    }                                                                          \
    static int add_##name(void *acc, void *right, void *arg)                   \
    {                                                                          \
        (void)arg;                                                             \
        *(sum_type *)acc += *(const sum_type *)right;                          \
        return 0;                                                              \
    }                                                                          \
    int ws_##name(const type *a, size_t n, type *sum)                          \
    {                                                                          \
        static const ws_reducer adder = {sizeof(sum_type), no_##name,          \
                                         some_##name, add_##name};             \
        sum_type total;                                                        \
        if (sum == NULL || (a == NULL && n > 0)) {                             \
            return WS_EINVAL;                                                  \
        }                                                                      \
        int code = reduce(n, true, &adder, &total, (void *)(uintptr_t)a);      \
        if (code == 0) {                                                       \
            *sum = (type)total;                                                \
        }                                                                      \
        return code;                                                           \
    }

SUM(sum_double, double, double)
SUM(sum_int64, int64_t, uint64_t)

/* The accumulator is an index, NONE at first. */
#define NONE SIZE_MAX

static void no_index(void *acc, void *arg)
{
    (void)arg;
    *(size_t *)acc = NONE;
}

/* `before(x, y)`: x is to be preferred; of equal ones the first is. */
#define EXTREME(name, type, before)                                            \
    static int some_##name(size_t begin, size_t end, void *acc, void *arg)     \
    {                                                                          \
        const type *a = arg;                                                   \
        size_t best = *(const size_t *)acc;                                    \
        for (size_t i = begin; i < end; i++) {                                 \
            if (best == NONE || before(a[i], a[best])) {                       \
                best = i;                                                      \
            }                                                                  \
        }                                                                      \
        *(size_t *)acc = best;                                                 \
        return 0;                                                              \
    }                                                                          \
    static int better_##name(void *acc, void *right, void *arg)                \
    {                                                                          \
        const type *a = arg;                                                   \
        size_t *best = acc;                                                    \
        size_t other = *(const size_t *)right;                                 \
        if (other != NONE && (*best == NONE || before(a[other], a[*best]))) {  \
            *best = other;                                                     \
        }                                                                      \
        return 0;                                                              \
    }                                                                          \
    int ws_##name(const type *a, size_t n, size_t *at)                         \
    {                                                                          \
        static const ws_reducer finder = {sizeof(size_t), no_index,            \
                                          some_##name, better_##name};         \
        size_t best;                                                           \
        if (at == NULL || (a == NULL && n > 0)) {                              \
            return WS_EINVAL;                                                  \
        }                                                                      \
        int code = reduce(n, false, &finder, &best, (void *)(uintptr_t)a);     \
        if (code == 0) {                                                       \
            *at = n > 0 ? best : 0;                                            \
        }                                                                      \
        return code;                                                           \
    }

/* NaN is equal to nothing, itself included: it comes after all others. */
#define SMALLER(x, y) ((x) < (y) || ((y) != (y) && (x) == (x)))
#define LARGER(x, y) ((x) > (y) || ((y) != (y) && (x) == (x)))
#define LESS(x, y) ((x) < (y))
#define MORE(x, y) ((x) > (y))

EXTREME(min_double, double, SMALLER)
EXTREME(max_double, double, LARGER)
EXTREME(min_int64, int64_t, LESS)
EXTREME(max_int64, int64_t, MORE)
