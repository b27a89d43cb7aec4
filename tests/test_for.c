/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_for.c: ws_for and ws_for_2d: each index once, in pieces that others can
 * have.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <stdlib.h>

enum {
    SMALL = 5000
};

typedef struct {
    size_t begin; /* the first index, which is ends[0] */
    test_counter ends[SMALL];
    test_counter blocks;
    size_t shortest;
    size_t longest;
} coverage;

static void check_once(coverage *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(test_get(&c->ends[i]), 1);
        test_set(&c->ends[i], 0);
    }
}

static int cover(size_t begin, size_t end, void *arg)
{
    coverage *c = arg;
    size_t n = end - begin;
    WS_TEST_REQUIRE(begin < end);
    WS_TEST_REQUIRE(n <= c->longest && n >= c->shortest);
    test_add(&c->blocks, 1);
    for (size_t i = begin; i < end; i++) {
        test_add(&c->ends[i - c->begin], 1);
    }
    return 0;
}

/* ---- ranges ---------------------------------------------------------- */

static const size_t lengths[] = {0,  1,  2,  3,   7,   31,  32,
                                 33, 64, 65, 100, 257, 1000};
static const size_t grains[] = {0, 1, 2, 7, 64, SIZE_MAX};

static void check_range(size_t begin, size_t n, unsigned flags)
{
    static coverage c;
    for (unsigned lo = 0; lo < 6; lo++) {
        for (unsigned hi = 0; hi < 6; hi++) {
            ws_for_opts o = WS_FOR_OPTS_INIT;
            o.min_grain = grains[lo];
            o.max_grain = grains[hi];
            o.flags = flags;
            c.begin = begin;
            c.longest = o.max_grain != 0 ? o.max_grain : SIZE_MAX;
            c.shortest = o.min_grain < n ? o.min_grain : n;
            if (c.longest / 2 < c.shortest || flags != 0) {
                c.shortest = 1;
            }
            int code = ws_for(begin, begin + n, &o, cover, &c);
            if (o.max_grain != 0 && o.min_grain > o.max_grain) {
                assert_int_equal(code, WS_EINVAL);
            } else {
                assert_int_equal(code, 0);
                check_once(&c, n);
            }
        }
    }
}

static int check_ranges(void *arg)
{
    (void)arg;
    for (unsigned flags = 0; flags <= 3; flags++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            check_range(0, lengths[i], flags);
            check_range(12345, lengths[i], flags);
            check_range(SIZE_MAX - lengths[i], lengths[i], flags);
        }
    }
    return 0;
}

static void check_in_pool(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, check_ranges, NULL), 0);
}

static void each_index_is_visited_once(void **state)
{
    (void)state;
    test_in_each_pool(check_in_pool);
    test_in_pools_of(7, check_in_pool);
}

static void also_from_a_foreign_thread(void **state)
{
    (void)state;
    check_ranges(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static int never(size_t begin, size_t end, void *arg)
{
    (void)begin;
    (void)end;
    (void)arg;
    ws_test_fail(__FILE__, __LINE__, "this must not run");
    return 0;
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    ws_for_opts o = WS_FOR_OPTS_INIT;
    assert_int_equal(ws_for(0, 1, NULL, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_for(1, 0, NULL, never, NULL), WS_EINVAL);
    o.flags = 8;
    assert_int_equal(ws_for(0, 1, &o, never, NULL), WS_EINVAL);
    o.flags = 0;
    o.struct_size--;
    assert_int_equal(ws_for(0, 1, &o, never, NULL), WS_EINVAL);
    assert_int_equal(ws_for(3, 3, NULL, never, NULL), 0);
    assert_int_equal(ws_for_2d(NULL, NULL, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_for_slot(), -1);
}

/* ---- what stays on the caller ---------------------------------------- */

static int same_thread(size_t begin, size_t end, void *arg)
{
    (void)begin;
    (void)end;
    WS_TEST_REQUIRE(pthread_equal(pthread_self(), *(pthread_t *)arg));
    return 0;
}

/* No pool is made for it. */
static void short_range_runs_on_the_caller(void **state)
{
    (void)state;
    pthread_t self = pthread_self();
    ws_for_opts o = WS_FOR_OPTS_INIT;
    ws_pool *pool = NULL;
    o.min_grain = 1000;
    wsi_port_ops.thread_create = NULL; /* nobody may be started */
    assert_int_equal(ws_for(0, 1000, &o, same_thread, &self), 0);
    assert_int_equal(ws_for(0, 1, NULL, same_thread, &self), 0);
    wsi_port_ops.thread_create = pthread_create;
    assert_int_equal(ws_pool_global(&pool), WS_OK);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- pieces are given away ------------------------------------------- */

typedef struct {
    size_t n;
    test_counter done;
} waiting;

/* Index 0 waits for all others. */
static int wait_at_first(size_t begin, size_t end, void *arg)
{
    waiting *w = arg;
    WS_TEST_REQUIRE(end == begin + 1);
    if (begin == 0) {
        test_await(&w->done, w->n - 1);
    }
    test_add(&w->done, 1);
    return 0;
}

static int run_single_indices(void *arg)
{
    waiting *w = arg;
    ws_for_opts o = WS_FOR_OPTS_INIT;
    o.max_grain = 1;
    return ws_for(0, w->n, &o, wait_at_first, w);
}

static void check_single_indices(ws_pool *pool)
{
    for (size_t n = 1; n <= 1000; n = n * 3 + 1) {
        waiting w = {.n = n};
        assert_int_equal(ws_pool_install(pool, run_single_indices, &w), 0);
        assert_int_equal(test_get(&w.done), n);
    }
}

static void single_index_can_be_taken_while_its_neighbour_runs(void **state)
{
    (void)state;
    test_in_pools_of(2, check_single_indices);
    test_in_pools_of(4, check_single_indices);
}

typedef struct {
    test_counter began;
    test_counter helped; /* another thread has begun a block */
    pthread_t caller;
} sharing;

/* Slow until help comes, which has a minute: a block of one index takes twenty
 * times as long as it should. */
static int want_help(size_t begin, size_t end, void *arg)
{
    sharing *s = arg;
    uint64_t until = ws_clock_ns() + 100000;
    test_add(&s->began, end - begin);
    if (!pthread_equal(pthread_self(), s->caller)) {
        test_set(&s->helped, 1);
    }
    while (test_get(&s->helped) == 0 && ws_clock_ns() < until) {
        wsi_cpu_relax();
    }
    return 0;
}

static int share_by_default(void *arg)
{
    sharing *s = arg;
    s->caller = pthread_self();
    return ws_for(0, 1000000, NULL, want_help, s);
}

static void check_default(ws_pool *pool)
{
    for (int i = 0; i < 10; i++) {
        sharing s = {.began = 0};
        assert_int_equal(ws_pool_install(pool, share_by_default, &s), 0);
        assert_int_equal(test_get(&s.began), 1000000);
        assert_int_equal(test_get(&s.helped), 1);
    }
}

static void long_loop_is_shared_by_default(void **state)
{
    (void)state;
    test_in_pools_of(2, check_default);
    test_in_pools_of(4, check_default);
}

static void foreign_loop_is_shared_by_default(void **state)
{
    (void)state;
    sharing s = {.began = 0};
    assert_int_equal(share_by_default(&s), 0);
    assert_int_equal(test_get(&s.helped), 1);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* Two long indices: nobody knows how long, so they are shared at once. */
static int meet(size_t begin, size_t end, void *arg)
{
    waiting *w = arg;
    test_add(&w->done, end - begin);
    test_await(&w->done, 2);
    return 0;
}

static int run_two(void *arg)
{
    return ws_for(0, 2, NULL, meet, arg);
}

static void two_indices_run_at_once(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers += 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool(workers, p);
            test_await_sleep(pool);
            for (int i = 0; i < 20; i++) {
                waiting w = {.n = 2};
                assert_int_equal(ws_pool_install(pool, run_two, &w), 0);
            }
            test_destroy(pool);
        }
    }
}

/* ---- errors and cancellation ----------------------------------------- */

typedef struct {
    size_t bad;
    int code;
    unsigned workers;
    ws_token *token; /* canceled at `bad`, or NULL */
    ws_for_opts opts;
    size_t n;
    test_counter failed;
    test_counter after; /* blocks that began after that */
} failing;

static int fail_at(size_t begin, size_t end, void *arg)
{
    failing *f = arg;
    test_add(&f->after, test_get(&f->failed));
    if (begin <= f->bad && f->bad < end) {
        if (f->token != NULL) {
            ws_token_cancel(f->token);
        }
        test_set(&f->failed, 1);
        return f->code;
    }
    return 0;
}

static int run_failing(void *arg)
{
    failing *f = arg;
    return ws_for(0, f->n, &f->opts, fail_at, f);
}

static void check_errors(ws_pool *pool)
{
    for (unsigned i = 0; i < 4 * 40; i++) {
        failing f = {.code = 17, .n = 40, .bad = i % 40};
        f.opts = (ws_for_opts)WS_FOR_OPTS_INIT;
        f.opts.max_grain = i / 40 % 2;
        f.opts.flags = i / 80 ? WS_FOR_STATIC : 0;
        assert_int_equal(ws_pool_install(pool, run_failing, &f), 17);
        assert_int_equal(test_get(&f.failed), 1);
        /* Others go on until they know of it, which is after it has returned:
         * see canceled_loop_says_so(). */
        if (ws_pool_num_workers(pool) == 1) {
            assert_int_equal(test_get(&f.after), 0);
        }
    }
}

static void first_error_is_returned_and_stops_the_loop(void **state)
{
    (void)state;
    test_in_each_pool(check_errors);
}

static void check_cancel(ws_pool *pool)
{
    for (unsigned i = 0; i < 4 * 40; i++) {
        failing f = {.n = 40, .bad = i % 40};
        f.opts = (ws_for_opts)WS_FOR_OPTS_INIT;
        f.opts.max_grain = 1;
        f.opts.flags = i / 80 ? WS_FOR_STATIC : 0;
        assert_int_equal(ws_token_create(&f.token), WS_OK);
        f.opts.token = f.token;
        int code = ws_pool_install(pool, run_failing, &f);
        /* Nothing was left out if all others had begun. */
        assert_true(code == WS_ECANCELED || (code == 0 && f.bad > 0));
        /* Those that were about to begin. */
        assert_in_range(test_get(&f.after), 0, ws_pool_num_workers(pool) - 1);
        /* It is canceled before it begins now. */
        f.code = 1;
        assert_int_equal(ws_pool_install(pool, run_failing, &f), WS_ECANCELED);
        ws_token_release(f.token);
    }
}

static int cancel_at_once(size_t begin, size_t end, void *arg)
{
    failing *f = arg;
    (void)begin;
    (void)end;
    WS_TEST_REQUIRE(!ws_cancelled());
    ws_token_cancel(f->token);
    return 0;
}

static int run_canceling(void *arg)
{
    failing *f = arg;
    return ws_for(0, 3200, &f->opts, cancel_at_once, f);
}

/* Also while it is young. */
static void first_block_can_cancel_the_loop(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    for (int i = 0; i < 2; i++) {
        failing f = {.opts = WS_FOR_OPTS_INIT};
        assert_int_equal(ws_token_create(&f.token), WS_OK);
        f.opts.token = f.token;
        assert_int_equal(i == 0 ? run_canceling(&f)
                                : ws_pool_install(pool, run_canceling, &f),
                         WS_ECANCELED);
        ws_token_release(f.token);
    }
    test_destroy(pool);
}

static void canceled_loop_says_so(void **state)
{
    (void)state;
    test_in_each_pool(check_cancel);
}

/* ---- nesting, and several at once ------------------------------------ */

enum {
    DEPTH = 10
};

typedef struct {
    unsigned level;
    test_counter *leaves;
} nest;

static int go_down(size_t begin, size_t end, void *arg)
{
    const nest *n = arg;
    nest below = {n->level + 1, n->leaves};
    for (size_t i = begin; i < end; i++) {
        if (n->level == DEPTH) {
            test_add(n->leaves, 1);
        } else if (ws_for(0, 2, NULL, go_down, &below) != 0) {
            return 1;
        }
    }
    return 0;
}

static int run_nested(void *arg)
{
    nest n = {1, arg};
    return ws_for(0, 2, NULL, go_down, &n);
}

static void *nest_from_outside(void *arg)
{
    test_counter leaves = {0};
    for (int i = 0; i < 5; i++) {
        test_set(&leaves, 0);
        WS_TEST_REQUIRE(ws_pool_install(arg, run_nested, &leaves) == 0);
        WS_TEST_REQUIRE(test_get(&leaves) == 1 << DEPTH);
    }
    return NULL;
}

static void check_nested(ws_pool *pool)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = test_thread(nest_from_outside, pool);
    }
    for (int i = 0; i < 4; i++) {
        test_join_thread(threads[i]);
    }
}

static void loops_nest_ten_deep_from_several_threads(void **state)
{
    (void)state;
    test_in_each_pool(check_nested);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_index_is_visited_once),
    cmocka_unit_test(also_from_a_foreign_thread),
    cmocka_unit_test(bad_arguments_are_refused),
    cmocka_unit_test(short_range_runs_on_the_caller),
    cmocka_unit_test(single_index_can_be_taken_while_its_neighbour_runs),
    cmocka_unit_test(long_loop_is_shared_by_default),
    cmocka_unit_test(foreign_loop_is_shared_by_default),
    cmocka_unit_test(two_indices_run_at_once),
    cmocka_unit_test(first_error_is_returned_and_stops_the_loop),
    cmocka_unit_test(first_block_can_cancel_the_loop),
    cmocka_unit_test(canceled_loop_says_so),
    cmocka_unit_test(loops_nest_ten_deep_from_several_threads),
};
WS_TEST_MAIN(tests)
