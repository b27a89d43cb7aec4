/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_exactly_once.c: every job runs exactly once, whatever queue it went
 * through: trees of joins, scopes and detached jobs over 16 workers, with
 * deques that begin at two slots and indices and events close to their wrap.
 */
/* ctest: processors 2 */
/* ctest: timeout 600 */
#define _GNU_SOURCE 1

#include "support/pools.h"

enum {
    WORKERS = 16
};

/* ---- the tree -------------------------------------------------------- */

/* Node i has the children 2 i and 2 i + 1; the nodes n to 2 n - 1 are leaves
 * with the ids 0 to n - 1.  A node is handed over as its number. */
static size_t n_leaves;
static test_counter *runs;  /* of each leaf */
static test_counter leaves; /* that have run */
static test_counter queued; /* jobs of scopes, detached jobs, installs */
static test_counter joins;
static bool with_joins;

static int run_node(void *arg);
static int run_node_in_scope(struct ws_scope *scope, void *arg);

static void *child(void *node, uintptr_t which)
{
    return (void *)((uintptr_t)node * 2 + which);
}

static void spawn_into(struct ws_scope *scope, void *node)
{
    test_add(&queued, 2);
    for (uintptr_t i = 0; i < 2; i++) {
        WS_TEST_REQUIRE(
            ws_scope_spawn(scope, run_node_in_scope, child(node, i)) == WS_OK);
    }
}

static int spawn_both(struct ws_scope *scope, void *node)
{
    spawn_into(scope, node);
    return 0;
}

static void detach_both(void *node)
{
    test_add(&queued, 2);
    for (uintptr_t i = 0; i < 2; i++) {
        WS_TEST_REQUIRE(ws_spawn(NULL, run_node, child(node, i)) == WS_OK);
    }
}

/* What kind of fork a node is: always the same for the same node. */
static unsigned kind_of(void *node)
{
    uint64_t state = (uintptr_t)node + 1;
    return (unsigned)(ws_test_random(&state) >> 40) % (with_joins ? 6 : 3);
}

static bool run_leaf(void *node)
{
    size_t i = (uintptr_t)node;
    if (i < n_leaves) {
        return false;
    }
    test_add(&runs[i - n_leaves], 1);
    test_add(&leaves, 1);
    return true;
}

static int run_node(void *arg)
{
    if (run_leaf(arg)) {
        return 0;
    }
    switch (kind_of(arg)) {
    case 0:
        detach_both(arg);
        return 0;
    case 1:
    case 2:
        return ws_scope(spawn_both, arg);
    default:
        test_add(&joins, 1);
        return ws_join(run_node, child(arg, 0), run_node, child(arg, 1));
    }
}

static int run_node_in_scope(struct ws_scope *scope, void *arg)
{
    if ((uintptr_t)arg < n_leaves && kind_of(arg) == 1) {
        spawn_into(scope, arg); /* into the same scope */
        return 0;
    }
    return run_node(arg);
}

/* ---- the check ------------------------------------------------------- */

static size_t power_of_two_up_to(size_t n)
{
    size_t power = 1;
    while (power * 2 <= n) {
        power *= 2;
    }
    return power;
}

static ws_pool *prepare(unsigned policy, bool joins_too, size_t n)
{
    with_joins = joins_too;
    n_leaves = power_of_two_up_to(n);
    runs = calloc(n_leaves, sizeof(*runs));
    assert_non_null(runs);
    test_set(&leaves, 0);
    test_set(&queued, 0);
    test_set(&joins, 0);
    return test_pool_near_wrap(WORKERS, policy, 2);
}

static void finish(ws_pool *pool)
{
    test_await(&leaves, n_leaves);
    /* Every leaf has run, so every job has begun, and is counted. */
    ws_worker_stats total = test_totals(pool);
    uint64_t jobs = test_get(&queued);
    assert_true(total.jobs >= jobs);
    assert_true(total.jobs <= jobs + test_get(&joins));
    assert_true(total.steals + total.injected <= total.jobs);
    assert_true(total.forced <= total.steals);
    test_destroy(pool);
    assert_int_equal(test_get(&leaves), n_leaves);
    for (size_t i = 0; i < n_leaves; i++) {
        assert_int_equal(test_get(&runs[i]), 1);
    }
    free(runs);
}

static void run_tree(unsigned policy, bool joins_too, size_t n)
{
    ws_pool *pool = prepare(policy, joins_too, n);
    test_add(&queued, 1);
    assert_int_equal(ws_pool_install(pool, run_node, (void *)1), 0);
    finish(pool);
}

static size_t ids(void)
{
    return ws_test_scale((size_t)1 << 20);
}

static void stress_any(void **state)
{
    (void)state;
    run_tree(WS_WAIT_ANY, true, ids() / 2);
}

static void stress_subtree(void **state)
{
    (void)state;
    run_tree(WS_WAIT_SUBTREE, true, ids() / 2);
}

/* Without joins each job is one of a queue: the sum is exact. */
static void stats_conserve(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        run_tree(p, false, ids() / 8);
    }
}

/* ---- from many sides at once ----------------------------------------- */

enum {
    FEEDERS = 4
};

typedef struct {
    ws_pool *pool;
    uintptr_t first; /* of the nodes to bring in */
    uintptr_t n;
} feeder;

static void *feed(void *arg)
{
    const feeder *f = arg;
    for (uintptr_t i = 0; i < f->n; i++) {
        void *node = (void *)(f->first + i);
        test_add(&queued, 1);
        int code = i % 2 == 0 ? ws_spawn(f->pool, run_node, node)
                              : ws_pool_install(f->pool, run_node, node);
        WS_TEST_REQUIRE(code == 0);
    }
    return NULL;
}

static void stress_from_foreign_threads(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        pthread_t threads[FEEDERS];
        feeder feeders[FEEDERS];
        ws_pool *pool = prepare(p, true, ids() / 8);
        uintptr_t share = n_leaves / 16; /* nodes of four levels */
        for (uintptr_t i = 0; i < FEEDERS; i++) {
            feeders[i] =
                (feeder){pool, share + i * share / FEEDERS, share / FEEDERS};
            threads[i] = test_thread(feed, &feeders[i]);
        }
        for (int i = 0; i < FEEDERS; i++) {
            test_join_thread(threads[i]);
        }
        finish(pool);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stress_any),
    cmocka_unit_test(stress_subtree),
    cmocka_unit_test(stats_conserve),
    cmocka_unit_test(stress_from_foreign_threads),
};
WS_TEST_MAIN(tests)
