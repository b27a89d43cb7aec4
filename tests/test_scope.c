/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope.c: ws_scope and ws_scope_spawn: all jobs end before the scope
 * does, errors, order on one worker, stack depth, jobs from other threads and
 * pools, no memory, bad arguments.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

static int in_pool(ws_pool *pool, ws_fn fn, void *arg)
{
    return pool != NULL ? ws_pool_install(pool, fn, arg) : fn(arg);
}

/* ---- a scope as a table: what it spawns, what comes back ------------- */

typedef struct {
    test_counter sum;
    int spawn[4];  /* codes of jobs to spawn before the body's step */
    int n;         /* how many */
    int body_code; /* what the body returns */
    int depth;     /* spawn the jobs that many spawns down */
    bool inner;    /* in a scope of their own inside a job */
} table;

typedef struct {
    table *t;
    int code;
    int depth;
} entry;

static int spawn_entry(struct ws_scope *scope, entry *e);

static int inner_body(struct ws_scope *scope, void *arg)
{
    return spawn_entry(scope, arg);
}

static int run_entry(struct ws_scope *scope, void *arg)
{
    entry *e = arg;
    if (e->depth > 0) {
        e->depth--;
        return e->t->inner ? ws_scope(inner_body, e) : spawn_entry(scope, e);
    }
    test_add(&e->t->sum, 1);
    return e->code;
}

static int spawn_entry(struct ws_scope *scope, entry *e)
{
    WS_TEST_REQUIRE(ws_scope_spawn(scope, run_entry, e) == WS_OK);
    return 0;
}

typedef struct {
    table *t;
    entry entries[4];
} opened;

static int table_body(struct ws_scope *scope, void *arg)
{
    opened *o = arg;
    for (int i = 0; i < o->t->n; i++) {
        o->entries[i] = (entry){o->t, o->t->spawn[i], o->t->depth};
        spawn_entry(scope, &o->entries[i]);
    }
    test_add(&o->t->sum, 100);
    return o->t->body_code;
}

static int open_table(void *arg)
{
    opened o = {.t = arg};
    return ws_scope(table_body, &o);
}

static void check_table(ws_pool *pool, table t, int expected)
{
    assert_int_equal(in_pool(pool, open_table, &t), expected);
    assert_int_equal(test_get(&t.sum), 100 + t.n);
}

static void check_empty(ws_pool *pool)
{
    check_table(pool, (table){.n = 0}, 0);
}

static void check_result(ws_pool *pool)
{
    check_table(pool, (table){.body_code = 22}, 22);
}

static void check_two(ws_pool *pool)
{
    check_table(pool, (table){.n = 2}, 0);
}

static void check_scope_error(ws_pool *pool)
{
    check_table(pool, (table){.n = 1, .body_code = 3}, 3);
    check_table(pool, (table){.n = 1, .spawn = {4}, .body_code = 3}, 3);
}

static void check_spawn_error(ws_pool *pool)
{
    check_table(pool, (table){.n = 1, .spawn = {4}}, 4);
    check_table(pool, (table){.n = 3, .spawn = {0, -4, 0}}, -4);
}

static void check_nested_spawn_error(ws_pool *pool)
{
    check_table(pool, (table){.n = 1, .spawn = {4}, .depth = 3}, 4);
}

static void check_nested_scope_error(ws_pool *pool)
{
    check_table(pool, (table){.n = 1, .spawn = {4}, .depth = 3, .inner = true},
                4);
}

static void check_failing_job_first(ws_pool *pool)
{
    check_table(pool, (table){.n = 2, .spawn = {4, 0}}, 4);
}

static void check_failing_job_second(ws_pool *pool)
{
    check_table(pool, (table){.n = 2, .spawn = {0, 4}}, 4);
}

#define TABLE_CASE(name, check)                                                \
    static void name(void **state)                                             \
    {                                                                          \
        (void)state;                                                           \
        test_in_each_pool(check);                                              \
    }

TABLE_CASE(scope_empty, check_empty)
TABLE_CASE(scope_result, check_result)
TABLE_CASE(scope_two, check_two)
TABLE_CASE(propagate_scope, check_scope_error)
TABLE_CASE(propagate_spawn, check_spawn_error)
TABLE_CASE(propagate_nested_spawn, check_nested_spawn_error)
TABLE_CASE(propagate_nested_scope_spawn, check_nested_scope_error)
TABLE_CASE(propagate_still_execute_1, check_failing_job_first)
TABLE_CASE(propagate_still_execute_2, check_failing_job_second)
TABLE_CASE(propagate_still_execute_3, check_scope_error)
TABLE_CASE(propagate_still_execute_4, check_spawn_error)

static void scope_outside_any_pool(void **state)
{
    (void)state;
    check_two(NULL);
    check_scope_error(NULL);
    check_nested_scope_error(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- trees ----------------------------------------------------------- */

typedef struct {
    test_counter *leaves;
    unsigned depth;
} branch;

typedef struct node {
    struct node *child[2];
    test_counter visits;
} node;

static int visit(struct ws_scope *scope, void *arg)
{
    node *n = arg;
    test_add(&n->visits, 1);
    for (int i = 0; i < 2; i++) {
        if (n->child[i] != NULL) {
            ws_scope_spawn(scope, visit, n->child[i]);
        }
    }
    return 0;
}

/* A tree with every third branch missing, from the memory at *next. */
static node *grow(node **next, unsigned depth, uint64_t *random)
{
    node *n = (*next)++;
    for (int i = 0; i < 2; i++) {
        bool grows = depth > 0 && ws_test_random(random) % 3 != 0;
        n->child[i] = grows ? grow(next, depth - 1, random) : NULL;
    }
    return n;
}

static int visit_all(void *arg)
{
    return ws_scope(visit, arg);
}

static void check_tree(ws_pool *pool)
{
    enum {
        DEPTH = 12
    };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        node *nodes = calloc((size_t)2 << DEPTH, sizeof(node));
        node *next = nodes;
        assert_non_null(nodes);
        assert_int_equal(
            ws_pool_install(pool, visit_all, grow(&next, DEPTH, &random)), 0);
        for (node *n = nodes; n < next; n++) {
            assert_int_equal(test_get(&n->visits), 1);
        }
        free(nodes);
    }
}

TABLE_CASE(update_tree, check_tree)

static int divide(struct ws_scope *scope, void *arg)
{
    /* By value in the pointer's target, which lives in the job's parent. */
    branch *b = arg;
    if (b->depth == 0) {
        test_add(b->leaves, 1);
        return 0;
    }
    b[1].depth = b->depth - 1;
    b[1].leaves = b->leaves;
    size_t half = (size_t)1 << (b->depth - 1);
    b[half] = b[1];
    ws_scope_spawn(scope, divide, &b[half]);
    b->depth--;
    return divide(scope, b);
}

static int divide_all(void *arg)
{
    return ws_scope(divide, arg);
}

static void check_divide(ws_pool *pool)
{
    static branch branches[1024];
    test_counter leaves = {0};
    branches[0] = (branch){&leaves, 10};
    assert_int_equal(ws_pool_install(pool, divide_all, branches), 0);
    assert_int_equal(test_get(&leaves), 1024);
}

TABLE_CASE(scope_divide_and_conquer, check_divide)

/* ---- stack ----------------------------------------------------------- */

typedef struct {
    uintptr_t base;
    uintptr_t deepest;
    unsigned left;
} chain;

static uintptr_t here(void)
{
    return (uintptr_t)__builtin_frame_address(0);
}

static int link_on(struct ws_scope *scope, void *arg)
{
    chain *c = arg;
    uintptr_t depth = c->base - here();
    c->deepest = depth > c->deepest ? depth : c->deepest;
    return c->left-- > 0 ? ws_scope_spawn(scope, link_on, c) : 0;
}

static int start_chain(struct ws_scope *scope, void *arg)
{
    return ws_scope_spawn(scope, link_on, arg);
}

static int measure_chain(void *arg)
{
    chain *c = arg;
    c->base = here();
    return ws_scope(start_chain, c);
}

static void check_stack(ws_pool *pool)
{
    chain few = {.left = 5};
    chain many = {.left = 500};
    assert_int_equal(ws_pool_install(pool, measure_chain, &few), 0);
    assert_int_equal(ws_pool_install(pool, measure_chain, &many), 0);
    assert_in_range(many.deepest, few.deepest * 9 / 10, few.deepest * 11 / 10);
}

static void linear_stack_growth(void **state)
{
    (void)state;
    test_in_pools_of(1, check_stack);
}

/* ---- no memory ------------------------------------------------------- */

static test_counter memory_is_out;

static void *alloc_if_any(size_t align, size_t size)
{
    return test_get(&memory_is_out) != 0 ? NULL
                                         : wsi_mem_alloc_real(align, size);
}

typedef struct {
    pthread_t caller;
    uint64_t runs;
    bool elsewhere;
} inline_runs;

static int note_thread(struct ws_scope *scope, void *arg)
{
    inline_runs *r = arg;
    (void)scope;
    r->runs++;
    r->elsewhere |= !pthread_equal(pthread_self(), r->caller);
    return 9;
}

static int spawn_without_memory(struct ws_scope *scope, void *arg)
{
    inline_runs *r = arg;
    r->caller = pthread_self();
    test_set(&memory_is_out, 1);
    for (uint64_t i = 0; i < 100; i++) {
        WS_TEST_REQUIRE(r->runs == i);
        WS_TEST_REQUIRE(ws_scope_spawn(scope, note_thread, r) == WS_OK);
    }
    test_set(&memory_is_out, 0);
    return 0;
}

static int open_without_memory(void *arg)
{
    return ws_scope(spawn_without_memory, arg);
}

static void check_inline(ws_pool *pool)
{
    inline_runs r = {.runs = 0};
    assert_int_equal(ws_pool_install(pool, open_without_memory, &r), 9);
    assert_int_equal(r.runs, 100);
    assert_false(r.elsewhere);
}

static void spawn_without_memory_runs_at_once(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_if_any;
    test_in_each_pool(check_inline);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* The record can be had, the larger deque cannot. */
static int spawn_into_full_deque(struct ws_scope *scope, void *arg)
{
    test_counter *sum = arg;
    static entry entries[64];
    static table t;
    t = (table){.n = 0};
    test_set(&memory_is_out, 0);
    for (int i = 0; i < 64; i++) {
        entries[i] = (entry){&t, 0, 0};
        spawn_entry(scope, &entries[i]);
        test_set(&memory_is_out, 1);
    }
    test_set(sum, 64);
    return 0;
}

static int open_full_deque(void *arg)
{
    test_counter sum = {0};
    (void)arg;
    int code = ws_scope(spawn_into_full_deque, &sum);
    test_set(&memory_is_out, 0);
    return code + (test_get(&sum) == 64 ? 0 : 1);
}

static void spawn_into_a_deque_that_cannot_grow(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_if_any;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool_near_wrap(workers, p, 2);
            assert_int_equal(ws_pool_install(pool, open_full_deque, NULL), 0);
            test_destroy(pool);
        }
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void scope_without_a_pool_is_serial(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_if_any;
    test_set(&memory_is_out, 1);
    check_two(NULL);
    check_spawn_error(NULL);
    check_nested_scope_error(NULL);
    test_set(&memory_is_out, 0);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* ---- bad arguments --------------------------------------------------- */

static int bad_spawns(struct ws_scope *scope, void *arg)
{
    return arg != NULL && ws_scope_spawn(scope, NULL, arg) == WS_EINVAL &&
                   ws_scope_spawn(NULL, bad_spawns, arg) == WS_EINVAL &&
                   ws_scope_spawn(NULL, NULL, NULL) == WS_EINVAL
               ? 0
               : 1;
}

static int open_bad(void *arg)
{
    return ws_scope(NULL, arg) == WS_EINVAL ? ws_scope(bad_spawns, arg) : 1;
}

static void check_bad(ws_pool *pool)
{
    int dummy = 0;
    assert_int_equal(in_pool(pool, open_bad, &dummy), 0);
    assert_int_equal(test_totals(pool).jobs, 1);
}

TABLE_CASE(bad_arguments_change_nothing, check_bad)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(scope_empty),
    cmocka_unit_test(scope_result),
    cmocka_unit_test(scope_two),
    cmocka_unit_test(scope_divide_and_conquer),
    cmocka_unit_test(update_tree),
    cmocka_unit_test(linear_stack_growth),
    cmocka_unit_test(propagate_scope),
    cmocka_unit_test(propagate_spawn),
    cmocka_unit_test(propagate_nested_spawn),
    cmocka_unit_test(propagate_nested_scope_spawn),
    cmocka_unit_test(propagate_still_execute_1),
    cmocka_unit_test(propagate_still_execute_2),
    cmocka_unit_test(propagate_still_execute_3),
    cmocka_unit_test(propagate_still_execute_4),
    cmocka_unit_test(scope_outside_any_pool),
    cmocka_unit_test(spawn_without_memory_runs_at_once),
    cmocka_unit_test(spawn_into_a_deque_that_cannot_grow),
    cmocka_unit_test(scope_without_a_pool_is_serial),
    cmocka_unit_test(bad_arguments_change_nothing),
};
WS_TEST_MAIN(tests)
