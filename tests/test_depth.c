/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_depth.c: how deep jobs run on top of each other: large trees and pools
 * that install into each other, on small stacks, with both wait policies.
 */
#include "support/pools.h"

#define STACK_SIZE ((size_t)256 * 1024)
/* A sanitizer's frames are several times as large. */
#ifdef TEST_SANITIZER
#define SMALL_STACK (8 * STACK_SIZE)
#else
#define SMALL_STACK STACK_SIZE
#endif

static ws_pool *small_pool(unsigned workers, unsigned policy,
                           unsigned max_depth)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.wait_policy = policy;
    config.stack_size = SMALL_STACK;
    config.max_depth = max_depth;
    return test_pool_with(&config);
}

/* ---- trees ----------------------------------------------------------- */

typedef struct {
    size_t leaves;
    size_t counted;
} tree;

static int count_by_joins(void *arg)
{
    tree *t = arg;
    if (t->leaves <= 1) {
        t->counted = t->leaves;
        return 0;
    }
    /* Not in the middle: the depth is log(n) to the base 3/2. */
    tree a = {(t->leaves + 2) / 3, 0};
    tree b = {t->leaves - a.leaves, 0};
    int code = ws_join(count_by_joins, &a, count_by_joins, &b);
    t->counted = a.counted + b.counted;
    return code;
}

typedef struct {
    test_counter *sum;
    size_t leaves;
} branch;

static int count_by_scope(struct ws_scope *scope, void *arg)
{
    branch *b = arg;
    while (b->leaves > 1) {
        branch half = {b->sum, (b->leaves + 2) / 3};
        b->leaves -= half.leaves;
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, count_by_scope, &half,
                                            sizeof(half)) == WS_OK);
    }
    test_add(b->sum, b->leaves);
    return 0;
}

static void check_trees(ws_pool *pool)
{
    const size_t leaves = ws_test_scale(1000000);
    tree t = {leaves, 0};
    test_counter sum = {0};
    branch b = {&sum, leaves};
    assert_int_equal(ws_pool_install(pool, count_by_joins, &t), 0);
    assert_int_equal(t.counted, leaves);
    assert_int_equal(ws_scope_in(pool, 0, count_by_scope, &b), 0);
    assert_int_equal(test_get(&sum), leaves);
}

static void trees_of_a_million_leaves(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = small_pool(workers, p, 0);
            check_trees(pool);
            /* 64 is the cap; each of them may leapfrog down the tree. */
            assert_in_range(test_totals(pool).max_depth, 1, 128);
            test_destroy(pool);
        }
    }
}

/* ---- two pools ------------------------------------------------------- */

typedef struct {
    ws_pool *home;
    ws_pool *other;
    test_counter done;
} visit;

static int leaf(void *arg)
{
    test_add(arg, 1);
    return 0;
}

static int visit_other(void *arg)
{
    visit *v = arg;
    return ws_pool_install(v->other, leaf, &v->done);
}

static int scope_visit_other(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return visit_other(arg);
}

static int spawn_visits(struct ws_scope *scope, void *arg)
{
    for (size_t i = ws_test_scale(25000); i > 0; i--) {
        ws_scope_spawn(scope, scope_visit_other, arg);
    }
    return 0;
}

static void *visit_from_scope(void *arg)
{
    visit *v = arg;
    WS_TEST_REQUIRE(ws_scope_in(v->home, 0, spawn_visits, v) == 0);
    return NULL;
}

/* Each of many jobs of one pool installs into the other, and the other way
 * round at the same time. */
static void check_visits(unsigned workers, unsigned policy)
{
    visit sides[2];
    for (int i = 0; i < 2; i++) {
        sides[i].home = small_pool(workers, policy, 0);
        test_set(&sides[i].done, 0);
    }
    sides[0].other = sides[1].home;
    sides[1].other = sides[0].home;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        threads[i] = test_thread(visit_from_scope, &sides[i]);
    }
    for (int i = 0; i < 2; i++) {
        test_join_thread(threads[i]);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(test_get(&sides[i].done), ws_test_scale(25000));
        assert_in_range(test_totals(sides[i].home).max_depth, 1, 200);
        test_destroy(sides[i].home);
    }
}

static void pools_that_install_into_each_other(void **state)
{
    (void)state;
    check_visits(1, WS_WAIT_SUBTREE);
    check_visits(2, WS_WAIT_SUBTREE);
    check_visits(1, WS_WAIT_ANY);
    check_visits(2, WS_WAIT_ANY);
}

/* ---- the cap --------------------------------------------------------- */

static int nest(void *arg)
{
    test_counter *deepest = arg;
    while (ws_yield_local() == WS_YIELD_EXECUTED) {
    }
    test_add(deepest, 1);
    return 0;
}

static int spawn_nests(void *arg)
{
    for (int i = 0; i < 500; i++) {
        WS_TEST_REQUIRE(ws_spawn(NULL, nest, arg) == WS_OK);
    }
    return 0;
}

static void yields_nest_to_the_cap(void **state)
{
    (void)state;
    for (unsigned cap = 1; cap <= 16; cap *= 4) {
        test_counter sum = {0};
        ws_pool *pool = small_pool(1, WS_WAIT_DEFAULT, cap);
        assert_int_equal(ws_pool_install(pool, spawn_nests, &sum), 0);
        test_await(&sum, 500);
        assert_int_equal(test_totals(pool).max_depth, cap);
        test_destroy(pool);
    }
}

/* The array escapes, so that it is there. */
__attribute__((noinline)) static void touch(volatile char *frame, size_t size)
{
    for (size_t i = 0; i < size; i += 512) {
        frame[i] = 1;
    }
}

/* Uses so much stack that the cap of 1,000 is not what stops it.  The address
 * sanitizer would put the frame elsewhere. */
__attribute__((no_sanitize_address)) static int nest_on_stack(void *arg)
{
    volatile char frame[4096];
    touch(frame, sizeof(frame));
    while (ws_yield_local() == WS_YIELD_EXECUTED) {
    }
    touch(frame, sizeof(frame));
    test_add(arg, (uint64_t)frame[0]);
    return 0;
}

static int spawn_on_stack(void *arg)
{
    for (int i = 0; i < 500; i++) {
        WS_TEST_REQUIRE(ws_spawn(NULL, nest_on_stack, arg) == WS_OK);
    }
    return 0;
}

static void yields_leave_half_of_the_stack(void **state)
{
    (void)state;
    test_counter sum = {0};
    ws_pool *pool = small_pool(1, WS_WAIT_DEFAULT, 1000);
    assert_int_equal(ws_pool_install(pool, spawn_on_stack, &sum), 0);
    test_await(&sum, 500);
    assert_in_range(test_totals(pool).max_depth, 2, SMALL_STACK / 2 / 4096 + 1);
    test_destroy(pool);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(trees_of_a_million_leaves),
    cmocka_unit_test(pools_that_install_into_each_other),
    cmocka_unit_test(yields_nest_to_the_cap),
    cmocka_unit_test(yields_leave_half_of_the_stack),
};
WS_TEST_MAIN(tests)
