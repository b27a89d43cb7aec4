/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_spliter.c: spliters reach every unit once, and are divided when somebody
 * is hungry.
 */
/* ctest: processors 2 */
#include "support/trees.h"

/* ---- counting -------------------------------------------------------- */

static void check_counts(ws_pool *pool)
{
    static const size_t units[][2] = {{0, 0}, {1, 1}, {16, 64}, {5, 5}};
    for (kind k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < 8; i++) {
            walk w = {.pool = pool, .kind = k, .seed = 99, .large = i % 2};
            w.min_units = units[i / 2][0];
            w.max_units = units[i / 2][1];
            check_count(&w);
        }
    }
}

static void counts_equal_serial_ones(void **state)
{
    (void)state;
    test_in_each_pool(check_counts);
}

static void check_random(ws_pool *pool)
{
    uint64_t random = 5;
    for (size_t i = ws_test_scale(300); i > 0; i--) {
        walk w = {.pool = pool, .kind = RANDOM};
        w.seed = ws_test_random(&random);
        check_count(&w);
    }
}

static void random_trees_are_counted(void **state)
{
    (void)state;
    test_in_each_pool(check_random);
}

static int nest(void *arg, const node *n, uint64_t index)
{
    walk *w = arg;
    (void)n;
    if (index % 500 == 7) {
        walk inner = {.kind = COMB, .at = w->at - 1};
        inner.hook = inner.at > 0 ? nest : NULL;
        inner.pool = index % 1000 == 7 ? w->pool : NULL;
        check_count(&inner);
    }
    return 0;
}

static void check_nested(ws_pool *pool)
{
    walk w = {.pool = pool, .kind = CHAIN_THEN_BUSH, .hook = nest, .at = 2};
    check_count(&w);
}

static void nested_runs_are_counted(void **state)
{
    (void)state;
    test_in_each_pool(check_nested);
}

static int run_counted(void *arg)
{
    check_count(arg);
    return 0;
}

static void *run_thread(void *arg)
{
    check_count(arg);
    return NULL;
}

static void check_callers(ws_pool *pool)
{
    ws_pool *other = test_pool(1, WS_WAIT_DEFAULT);
    walk w[4];
    pthread_t threads[3];
    for (int i = 0; i < 4; i++) {
        w[i] = (walk){.pool = pool, .kind = COMB};
    }
    for (int i = 0; i < 3; i++) {
        threads[i] = test_thread(run_thread, &w[i]);
    }
    assert_int_equal(ws_pool_install(other, run_counted, &w[3]), 0);
    for (int i = 0; i < 3; i++) {
        test_join_thread(threads[i]);
    }
    test_destroy(other);
}

static void many_threads_run_at_once(void **state)
{
    (void)state;
    test_in_each_pool(check_callers);
}

/* ---- dividing -------------------------------------------------------- */

/* Nodes with siblings wait until another worker has come. */
static int await_other(void *arg, const node *n, uint64_t index)
{
    walk *w = arg;
    (void)index;
    if ((n->kind == CHAIN && n->n == 1) || (n->kind == BUSH && n->n < 9)) {
        test_await(&w->others, 1);
    }
    return 0;
}

static void check_divided(ws_pool *pool)
{
    static const kind kinds[] = {STAR, LATE, CHAIN_THEN_BUSH};
    for (int i = 0; i < 3; i++) {
        walk w = {.pool = pool, .kind = kinds[i], .hook = await_other};
        w.max_units = 1;
        check_count(&w);
        assert_true(w.stats.splits > 0);
        assert_true(test_get(&w.others) > 0);
    }
}

static void hungry_worker_gets_a_half(void **state)
{
    (void)state;
    test_in_pools_of(2, check_divided);
    test_in_pools_of(4, check_divided);
}

/* Who first comes to the tips of the bush has divided on its way as often as it
 * may unasked, and waits until the others have nothing to do. */
static int await_hunger(void *arg, const node *n, uint64_t index)
{
    walk *w = arg;
    (void)index;
    if (n->kind == BUSH && n->n == 2 && test_add(&w->phase, 1) == 0) {
        while (ws_hungry() != 1) {
            wsi_thread_yield();
        }
        w->at = test_get(&w->made);
    }
    return 0;
}

static void check_late(ws_pool *pool)
{
    walk w = {.pool = pool, .kind = CHAIN_THEN_BUSH, .hook = await_hunger};
    w.max_units = 1;
    check_count(&w);
    assert_true(test_get(&w.made) > w.at);
}

static void late_hunger_is_fed(void **state)
{
    (void)state;
    test_in_pools_of(2, check_late);
    test_in_pools_of(4, check_late);
}

static void one_worker_hardly_divides(void **state)
{
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
        walk w = {.pool = pool, .kind = k, .seed = 99};
        check_count(&w);
        /* It may have asked itself, before it slept. */
        assert_in_range(w.stats.splits, 0, 1);
        test_destroy(pool);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_equal_serial_ones),
    cmocka_unit_test(random_trees_are_counted),
    cmocka_unit_test(nested_runs_are_counted),
    cmocka_unit_test(many_threads_run_at_once),
    cmocka_unit_test(hungry_worker_gets_a_half),
    cmocka_unit_test(late_hunger_is_fed),
    cmocka_unit_test(one_worker_hardly_divides),
};
WS_TEST_MAIN(tests)
