/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_find.c: ws_find_first and ws_find_any.
 */
/* ctest: processors 2 */
#include "support/loops.h"

#define NOWHERE SIZE_MAX
#define MOST 2000

typedef int (*find_verb)(size_t begin, size_t end, const ws_for_opts *opts,
                         ws_find_fn find, void *arg, size_t *at);

static const find_verb verbs[] = {ws_find_first, ws_find_any};

/* Index i of the range is wanted if wanted[i - base] is not 0. */
static size_t base;
static unsigned char wanted[MOST];
static size_t fails_at;
static test_counter looks[MOST];
static test_counter blocks;

static const ws_for_opts all_opts[] = {
    {sizeof(ws_for_opts), 0, 0, 0, NULL},
    {sizeof(ws_for_opts), 0, 1, 0, NULL},
    {sizeof(ws_for_opts), 2, 7, WS_FOR_SLOTS, NULL},
    {sizeof(ws_for_opts), 40, 0, 0, NULL},
    {sizeof(ws_for_opts), SIZE_MAX, SIZE_MAX, 0, NULL},
    {sizeof(ws_for_opts), 0, 0, WS_FOR_STATIC, NULL},
    {sizeof(ws_for_opts), 0, 3, WS_FOR_STATIC, NULL},
    {sizeof(ws_for_opts), 0, 7, WS_FOR_FIXED, NULL},
};

static void start(size_t from)
{
    base = from;
    fails_at = NOWHERE;
    memset(wanted, 0, sizeof(wanted));
    test_set(&blocks, 0);
    for (size_t i = 0; i < MOST; i++) {
        test_set(&looks[i], 0);
    }
}

static int look(size_t begin, size_t end, size_t *at, void *arg)
{
    (void)arg;
    WS_TEST_REQUIRE(begin < end);
    WS_TEST_REQUIRE(*at == end);
    test_add(&blocks, 1);
    for (size_t i = begin; i < end; i++) {
        WS_TEST_REQUIRE(test_add(&looks[i - base], 1) == 0);
        if (i == fails_at) {
            return (int)(i - base) + 1;
        }
        if (wanted[i - base]) {
            *at = i;
            return 0;
        }
    }
    return 0;
}

/* All before the first one was looked at. */
static void require_looks_before(size_t at)
{
    for (size_t i = base; i < at; i++) {
        WS_TEST_REQUIRE(test_get(&looks[i - base]) == 1);
    }
}

/* ---- one, or none ---------------------------------------------------- */

static void find_one(size_t from, size_t n, size_t position)
{
    for (size_t v = 0; v < TEST_COUNT(verbs); v++) {
        for (size_t i = 0; i <= TEST_COUNT(all_opts); i++) {
            const ws_for_opts *opts = i > 0 ? &all_opts[i - 1] : NULL;
            size_t at = 4711;
            start(from);
            wanted[position] = 1;
            WS_TEST_REQUIRE(verbs[v](from, from + n, opts, look, NULL, &at) ==
                            0);
            WS_TEST_REQUIRE(at == from + (position < n ? position : n));
            if (v == 0 || position >= n) {
                require_looks_before(at);
            }
        }
    }
}

static int find_each(void *arg)
{
    static const size_t lengths[] = {0, 1, 2, 31, 32, 70};
    const size_t step = ws_test_scale(20) < 20 ? 7 : 1;
    (void)arg;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        size_t n = lengths[i];
        for (size_t position = 0; position < n; position += step) {
            find_one(0, n, position);
            find_one(SIZE_MAX - n, n, position);
        }
        find_one(0, n, n);
        find_one(SIZE_MAX - n, n, n);
        find_one(3, n, n + 1);
    }
    find_one(0, MOST, MOST - 1);
    find_one(0, MOST - 1, MOST - 1);
    return 0;
}

static void one_is_found_wherever_it_is(void **state)
{
    (void)state;
    test_everywhere(find_each, NULL);
}

/* ---- several --------------------------------------------------------- */

static size_t least_wanted(size_t n)
{
    size_t i = 0;
    while (i < n && !wanted[i]) {
        i++;
    }
    return i;
}

static void find_of_several(uint64_t *random, const ws_for_opts *opts)
{
    size_t n = (size_t)(ws_test_random(random) % (MOST + 1));
    size_t at = 4711;
    start(0);
    for (unsigned k = (unsigned)(ws_test_random(random) % 6); k > 0 && n > 0;
         k--) {
        wanted[ws_test_random(random) % n] = 1;
    }
    size_t least = least_wanted(n);
    WS_TEST_REQUIRE(ws_find_first(0, n, opts, look, NULL, &at) == 0);
    WS_TEST_REQUIRE(at == least);
    require_looks_before(at);
    for (size_t i = 0; i < MOST; i++) {
        test_set(&looks[i], 0);
    }
    WS_TEST_REQUIRE(ws_find_any(0, n, opts, look, NULL, &at) == 0);
    WS_TEST_REQUIRE(least < n ? at < n && wanted[at] : at == n);
}

static int find_often(void *arg)
{
    uint64_t random = 11;
    (void)arg;
    for (size_t k = ws_test_scale(100); k > 0; k--) {
        for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
            find_of_several(&random, &all_opts[i]);
        }
    }
    return 0;
}

static void first_is_the_least_and_any_is_one_of_them(void **state)
{
    (void)state;
    test_everywhere(find_often, NULL);
}

static test_company company;

static int look_in_company(size_t begin, size_t end, size_t *at, void *arg)
{
    test_await_company(&company);
    return look(begin, end, at, arg);
}

/* Pieces that moved away find theirs first. */
static int find_in_company(void *arg)
{
    (void)arg;
    for (size_t k = ws_test_scale(40); k > 0; k--) {
        size_t at = 4711;
        start(0);
        test_company_init(&company);
        wanted[MOST - 1] = 1;
        wanted[MOST / 2 + 3] = 1;
        wanted[MOST / 2 - 3] = 1;
        WS_TEST_REQUIRE(
            ws_find_first(0, MOST, NULL, look_in_company, NULL, &at) == 0);
        WS_TEST_REQUIRE(at == MOST / 2 - 3);
        require_looks_before(at);
        WS_TEST_REQUIRE(ws_current_num_workers() == 1 ||
                        test_get(&company.others) > 0);
    }
    return 0;
}

static void first_is_the_least_where_pieces_moved(void **state)
{
    (void)state;
    test_everywhere(find_in_company, NULL);
}

/* ---- the end --------------------------------------------------------- */

static int stop_early(void *arg)
{
    (void)arg;
    for (size_t v = 0; v < TEST_COUNT(verbs); v++) {
        for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
            size_t at;
            start(0);
            wanted[0] = 1;
            WS_TEST_REQUIRE(verbs[v](0, MOST, &all_opts[i], look, NULL, &at) ==
                            0);
            WS_TEST_REQUIRE(at == 0);
            WS_TEST_REQUIRE(test_get(&blocks) == 1);
        }
    }
    return 0;
}

static void check_early_stop(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, stop_early, NULL), 0);
}

static void one_worker_stops_at_the_first_block(void **state)
{
    (void)state;
    test_in_pools_of(1, check_early_stop);
}

static test_crowd crowd;
static size_t found;
static find_verb verb;

/* The one that acts finds its first index, the others find nothing. */
static int look_in_crowd(size_t begin, size_t end, size_t *at, void *arg)
{
    look(begin, end, at, arg);
    if (test_crowd_come(&crowd)) {
        found = begin;
        *at = begin;
    }
    return 0;
}

static int find_in_crowd(void *arg)
{
    ws_for_opts opts = WS_FOR_OPTS_INIT;
    size_t at = 4711;
    (void)arg;
    opts.max_grain = 1;
    WS_TEST_REQUIRE(verb(0, MOST, &opts, look_in_crowd, NULL, &at) == 0);
    WS_TEST_REQUIRE(at == found);
    return 0;
}

static void check_crowd(ws_pool *pool)
{
    for (size_t k = ws_test_scale(20); k > 0; k--) {
        start(0);
        assert_int_equal(test_crowd_run(&crowd, pool, find_in_crowd, NULL), 0);
        if (verb == ws_find_any) {
            assert_int_equal(test_get(&blocks), ws_pool_num_workers(pool));
            continue;
        }
        /* What lies before it, all of it, and who else was there already. */
        require_looks_before(found);
        assert_in_range(test_get(&blocks), found + 1,
                        found + ws_pool_num_workers(pool));
    }
}

static void nothing_begins_after_any_is_found(void **state)
{
    (void)state;
    verb = ws_find_any;
    test_in_crowds(check_crowd);
}

static void nothing_begins_behind_the_first(void **state)
{
    (void)state;
    verb = ws_find_first;
    test_in_crowds(check_crowd);
}

/* ---- errors ---------------------------------------------------------- */

static int fail_at_each_index(void *arg)
{
    const size_t n = 50;
    (void)arg;
    for (size_t v = 0; v < TEST_COUNT(verbs); v++) {
        for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
            for (size_t k = 0; k < n; k += ws_test_scale(20) < 20 ? 7 : 1) {
                size_t at = 4711;
                start(5);
                fails_at = 5 + k;
                WS_TEST_REQUIRE(verbs[v](5, 5 + n, &all_opts[i], look, NULL,
                                         &at) == (int)k + 1);
                WS_TEST_REQUIRE(at == 4711);
            }
        }
    }
    return 0;
}

static void code_of_any_index_is_returned(void **state)
{
    (void)state;
    test_everywhere(fail_at_each_index, NULL);
}

static int find_canceled(void *arg)
{
    for (size_t v = 0; v < TEST_COUNT(verbs); v++) {
        for (size_t i = 0; i < TEST_COUNT(all_opts); i++) {
            ws_for_opts opts = all_opts[i];
            size_t at = 4711;
            opts.token = arg;
            start(0);
            wanted[0] = 1;
            WS_TEST_REQUIRE(verbs[v](0, 100, &opts, look, NULL, &at) ==
                            WS_ECANCELED);
            WS_TEST_REQUIRE(at == 4711);
            WS_TEST_REQUIRE(test_get(&blocks) == 0);
        }
    }
    return 0;
}

static void canceled_search_looks_nowhere(void **state)
{
    ws_token *token = NULL;
    (void)state;
    assert_int_equal(ws_token_create(&token), WS_OK);
    ws_token_cancel(token);
    test_everywhere(find_canceled, token);
    ws_token_release(token);
}

static int find_wrongly(void *arg)
{
    ws_for_opts wrong[] = {
        {0, 0, 0, 0, NULL},
        {sizeof(ws_for_opts), 3, 2, 0, NULL},
        {sizeof(ws_for_opts), 0, 0, 64, NULL},
    };
    (void)arg;
    start(0);
    wanted[0] = 1;
    for (size_t v = 0; v < TEST_COUNT(verbs); v++) {
        size_t at = 4711;
        for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
            WS_TEST_REQUIRE(verbs[v](0, 9, &wrong[i], look, NULL, &at) ==
                            WS_EINVAL);
        }
        WS_TEST_REQUIRE(verbs[v](9, 8, NULL, look, NULL, &at) == WS_EINVAL);
        WS_TEST_REQUIRE(verbs[v](0, 9, NULL, NULL, NULL, &at) == WS_EINVAL);
        WS_TEST_REQUIRE(verbs[v](0, 9, NULL, look, NULL, NULL) == WS_EINVAL);
        WS_TEST_REQUIRE(at == 4711);
    }
    WS_TEST_REQUIRE(test_get(&blocks) == 0);
    return 0;
}

static void wrong_arguments_touch_nothing(void **state)
{
    (void)state;
    test_everywhere(find_wrongly, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_is_found_wherever_it_is),
    cmocka_unit_test(first_is_the_least_and_any_is_one_of_them),
    cmocka_unit_test(first_is_the_least_where_pieces_moved),
    cmocka_unit_test(one_worker_stops_at_the_first_block),
    cmocka_unit_test(nothing_begins_after_any_is_found),
    cmocka_unit_test(nothing_begins_behind_the_first),
    cmocka_unit_test(code_of_any_index_is_returned),
    cmocka_unit_test(canceled_search_looks_nowhere),
    cmocka_unit_test(wrong_arguments_touch_nothing),
};
WS_TEST_MAIN(tests)
