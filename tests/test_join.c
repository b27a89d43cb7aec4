/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_join.c: ws_join and ws_join_context: results, errors, where the halves
 * run, depth, no memory, and the life of the second half's frame.
 *
 * The first ten cases are rayon-core's join tests.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

/* ---- sort ------------------------------------------------------------ */

typedef struct {
    uint64_t *items;
    size_t n;
} slice;

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

static size_t partition(slice s)
{
    uint64_t pivot = s.items[s.n - 1];
    size_t kept = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.items[i] <= pivot) {
            uint64_t swap = s.items[i];
            s.items[i] = s.items[kept];
            s.items[kept++] = swap;
        }
    }
    return kept - 1;
}

static int quicksort(void *arg)
{
    const slice *s = arg;
    if (s->n <= 1) {
        return 0;
    }
    size_t middle = partition(*s);
    slice left = {s->items, middle};
    slice right = {s->items + middle + 1, s->n - middle - 1};
    return ws_join(quicksort, &left, quicksort, &right);
}

enum {
    SORTED = 6000
};

static void sorts(ws_pool *pool)
{
    static uint64_t items[SORTED];
    static uint64_t expected[SORTED];
    uint64_t random = 7;
    slice all = {items, SORTED};
    for (size_t i = 0; i < SORTED; i++) {
        items[i] = expected[i] = ws_test_random(&random);
    }
    qsort(expected, SORTED, sizeof(expected[0]), compare);
    int code =
        pool != NULL ? ws_pool_install(pool, quicksort, &all) : quicksort(&all);
    assert_int_equal(code, 0);
    assert_memory_equal(items, expected, sizeof(items));
}

static void sort(void **state)
{
    (void)state;
    sorts(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void sort_in_pool(void **state)
{
    (void)state;
    test_in_each_pool(sorts);
}

/* ---- errors ---------------------------------------------------------- */

typedef struct {
    int code;
    test_counter runs;
} job;

static int run_job(void *arg)
{
    job *j = arg;
    test_add(&j->runs, 1);
    return j->code;
}

typedef struct {
    job a;
    job b;
} jobs;

static int join_jobs(void *arg)
{
    jobs *both = arg;
    return ws_join(run_job, &both->a, run_job, &both->b);
}

static void check_codes(ws_pool *pool, int a, int b, int expected)
{
    jobs both = {{.code = a}, {.code = b}};
    int code = pool != NULL ? ws_pool_install(pool, join_jobs, &both)
                            : join_jobs(&both);
    assert_int_equal(code, expected);
    assert_int_equal(test_get(&both.a.runs), 1);
    assert_int_equal(test_get(&both.b.runs), 1);
}

static void check_propagate_a(ws_pool *pool)
{
    check_codes(pool, 5, 0, 5);
}

static void check_propagate_b(ws_pool *pool)
{
    check_codes(pool, 0, 6, 6);
}

static void check_propagate_both(ws_pool *pool)
{
    check_codes(pool, 5, 6, 5);
    check_codes(pool, -5, 6, -5);
    check_codes(pool, 0, 0, 0);
}

static void propagate_a(void **state)
{
    (void)state;
    test_in_each_pool(check_propagate_a);
}

static void propagate_b(void **state)
{
    (void)state;
    test_in_each_pool(check_propagate_b);
}

static void propagate_both(void **state)
{
    (void)state;
    test_in_each_pool(check_propagate_both);
}

static void b_still_executes(void **state)
{
    (void)state;
    /* check_codes() counts the runs */
    test_in_each_pool(check_propagate_a);
}

static void join_outside_any_pool(void **state)
{
    (void)state;
    check_propagate_a(NULL);
    check_propagate_b(NULL);
    check_propagate_both(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- context --------------------------------------------------------- */

typedef struct {
    ws_ctx a;
    ws_ctx b;
    test_counter here; /* of the two, how many have come */
    uint64_t meeting;  /* each waits for so many */
} pair;

static int note_a(const ws_ctx *ctx, void *arg)
{
    pair *p = arg;
    p->a = *ctx;
    test_add(&p->here, 1);
    test_await(&p->here, p->meeting);
    return ws_current_index() == ctx->worker_index ? 0 : 1;
}

static int note_b(const ws_ctx *ctx, void *arg)
{
    pair *p = arg;
    p->b = *ctx;
    test_add(&p->here, 1);
    test_await(&p->here, p->meeting);
    return ws_current_index() == ctx->worker_index ? 0 : 1;
}

static int join_pair(void *arg)
{
    return ws_join_context(note_a, arg, note_b, arg);
}

static void join_context_both(void **state)
{
    (void)state;
    pair p = {.meeting = 0};
    assert_int_equal(join_pair(&p), 0);
    assert_int_equal(p.a.migrated, 1);
    assert_int_equal(p.b.migrated, 1);
    assert_true(p.a.worker_index >= 0);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void check_neither(ws_pool *pool)
{
    pair p = {.meeting = 0};
    assert_int_equal(ws_pool_install(pool, join_pair, &p), 0);
    assert_int_equal(p.a.migrated, 0);
    assert_int_equal(p.b.migrated, 0);
    assert_int_equal(p.a.worker_index, 0);
    assert_int_equal(p.b.worker_index, 0);
}

static void join_context_neither(void **state)
{
    (void)state;
    test_in_pools_of(1, check_neither);
}

/* The two wait for each other: they overlap, or the case hangs. */
static void check_second(ws_pool *pool)
{
    for (size_t i = ws_test_scale(2000); i > 0; i--) {
        pair p = {.meeting = 2};
        assert_int_equal(ws_pool_install(pool, join_pair, &p), 0);
        assert_int_equal(p.a.migrated, 0);
        assert_int_equal(p.b.migrated, 1);
        assert_int_not_equal(p.a.worker_index, p.b.worker_index);
    }
}

static void join_context_second(void **state)
{
    (void)state;
    test_in_pools_of(2, check_second);
}

static void halves_overlap_with_more_workers(void **state)
{
    (void)state;
    test_in_pools_of(4, check_second);
}

/* A pool that is just being born must not run the two one after the other:
 * with halves that wait for each other that would be a hang. */
static void halves_overlap_in_a_new_pool(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(300); i > 0; i--) {
        ws_pool *pool = test_pool(2, i % 2 + WS_WAIT_ANY);
        pair p = {.meeting = 2};
        assert_int_equal(ws_pool_install(pool, join_pair, &p), 0);
        test_destroy(pool);
    }
}

/* ---- many, and deep -------------------------------------------------- */

static void join_counter_overflow(void **state)
{
    (void)state;
    const size_t rounds = ws_test_scale(50000);
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool_near_wrap(2, p, 0);
        jobs both = {{.code = 0}, {.code = 0}};
        for (size_t i = 0; i < rounds; i++) {
            assert_int_equal(ws_pool_install(pool, join_jobs, &both), 0);
        }
        assert_int_equal(test_get(&both.a.runs), rounds);
        assert_int_equal(test_get(&both.b.runs), rounds);
        test_destroy(pool);
    }
}

typedef struct {
    size_t left;
    test_counter *leaves;
} level;

static int leaf(void *arg)
{
    const level *l = arg;
    test_add(l->leaves, 1);
    return 0;
}

static int deepen_a(void *arg)
{
    const level *l = arg;
    level next = {l->left - 1, l->leaves};
    return l->left == 0 ? leaf(arg) : ws_join(deepen_a, &next, leaf, &next);
}

static int deepen_b(void *arg)
{
    const level *l = arg;
    level next = {l->left - 1, l->leaves};
    return l->left == 0 ? leaf(arg) : ws_join(leaf, &next, deepen_b, &next);
}

static void check_deep(ws_pool *pool)
{
    const size_t depth = ws_test_scale(10000);
    test_counter leaves = {0};
    level top = {depth, &leaves};
    assert_int_equal(ws_pool_install(pool, deepen_a, &top), 0);
    assert_int_equal(test_get(&leaves), depth + 1);
    assert_int_equal(ws_pool_install(pool, deepen_b, &top), 0);
    assert_int_equal(test_get(&leaves), 2 * depth + 2);
}

static void nested_to_a_great_depth(void **state)
{
    (void)state;
    test_in_each_pool(check_deep);
}

/* ---- no memory ------------------------------------------------------- */

static test_counter memory_is_out;

static void *alloc_if_any(size_t align, size_t size)
{
    return test_get(&memory_is_out) != 0 ? NULL
                                         : wsi_mem_alloc_real(align, size);
}

static void join_without_memory_is_serial(void **state)
{
    (void)state;
    const size_t depth = ws_test_scale(2000);
    wsi_port_ops.mem_alloc = alloc_if_any;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool_near_wrap(workers, p, 2);
            test_counter leaves = {0};
            level top = {depth, &leaves};
            test_set(&memory_is_out, 1);
            assert_int_equal(ws_pool_install(pool, deepen_a, &top), 0);
            assert_int_equal(test_get(&leaves), depth + 1);
            sorts(pool);
            test_set(&memory_is_out, 0);
            sorts(pool);
            test_destroy(pool);
        }
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void join_without_a_pool_is_serial(void **state)
{
    (void)state;
    pair p = {.meeting = 0};
    wsi_port_ops.mem_alloc = alloc_if_any;
    test_set(&memory_is_out, 1);
    check_propagate_both(NULL);
    sorts(NULL);
    assert_int_equal(join_pair(&p), 0);
    assert_int_equal(p.a.migrated, 0);
    assert_int_equal(p.b.migrated, 0);
    assert_int_equal(p.a.worker_index, -1);
    test_set(&memory_is_out, 0);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* ---- the frame is dead once the latch is set ------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter b_runs;
    test_counter held;     /* the setter stands between set and wake */
    test_counter returned; /* the waiter has left and reused its stack */
} dead_frame;

static dead_frame *dead;
static _Thread_local bool hold_me;

/* Lets the waiter go for another reason, and waits until it is gone. */
static void hold_setter(wsi_point point, void *latch)
{
    (void)latch;
    if (point != WSI_POINT_LATCH_SET || !hold_me) {
        return;
    }
    hold_me = false;
    test_set(&dead->held, 1);
    wsi_sleep_wake(&dead->pool->sleep, 0);
    test_await(&dead->returned, 1);
}

static int until_b_runs(void *arg)
{
    dead_frame *d = arg;
    test_await(&d->b_runs, 1);
    return 0;
}

static int set_while_a_sleeps(void *arg)
{
    dead_frame *d = arg;
    test_set(&d->b_runs, 1);
    test_await_sleep_of(d->pool, 0);
    hold_me = true;
    return 0;
}

static int join_at_worker_0(void *arg)
{
    dead_frame *d = arg;
    int code = ws_join(until_b_runs, d, set_while_a_sleeps, d);
    test_reuse_stack();
    return code;
}

/* The waiter has to be worker 0; either of two may get the job. */
static int from_worker_0(void *arg)
{
    dead_frame *d = arg;
    if (ws_current_index() != 0) {
        return 1;
    }
    int code = join_at_worker_0(d);
    test_reuse_stack();
    return code;
}

static void stolen_half_is_not_touched_after_its_latch(void **state)
{
    (void)state;
    wsi_port_ops.at_point = hold_setter;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        for (size_t round = ws_test_scale(40); round > 0; round--) {
            dead_frame d = {.pool = test_pool(2, p)};
            dead = &d;
            while (ws_pool_install(d.pool, from_worker_0, &d) != 0) {
            }
            assert_int_equal(test_get(&d.held), 1);
            /* The setter goes on while its pool is being destroyed. */
            test_set(&d.returned, 1);
            test_destroy(d.pool);
        }
    }
    wsi_port_ops.at_point = NULL;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sort),
    cmocka_unit_test(sort_in_pool),
    cmocka_unit_test(propagate_a),
    cmocka_unit_test(propagate_b),
    cmocka_unit_test(propagate_both),
    cmocka_unit_test(b_still_executes),
    cmocka_unit_test(join_context_both),
    cmocka_unit_test(join_context_neither),
    cmocka_unit_test(join_context_second),
    cmocka_unit_test(join_counter_overflow),
    cmocka_unit_test(join_outside_any_pool),
    cmocka_unit_test(halves_overlap_with_more_workers),
    cmocka_unit_test(halves_overlap_in_a_new_pool),
    cmocka_unit_test(nested_to_a_great_depth),
    cmocka_unit_test(join_without_memory_is_serial),
    cmocka_unit_test(join_without_a_pool_is_serial),
    cmocka_unit_test(stolen_half_is_not_touched_after_its_latch),
};
WS_TEST_MAIN(tests)
