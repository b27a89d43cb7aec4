/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_spawn.c: ws_spawn: detached jobs run, in order on one worker, are
 * waited for by ws_pool_destroy(), and their errors are counted.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

typedef struct {
    ws_pool *pool;
    ws_pool *target; /* where to spawn; NULL = the current pool */
    test_counter runs;
    test_counter go;
    test_counter index; /* of the worker that ran it last */
    int code;
} job;

static int run_job(void *arg)
{
    job *j = arg;
    test_set(&j->index, (uint64_t)ws_current_index());
    test_add(&j->runs, 1);
    return j->code;
}

static int spawn_job(void *arg)
{
    job *j = arg;
    return ws_spawn(j->target, run_job, j);
}

/* ---- it runs --------------------------------------------------------- */

static void check_in_worker(ws_pool *pool)
{
    job j = {.pool = pool};
    assert_int_equal(ws_pool_install(pool, spawn_job, &j), WS_OK);
    test_await(&j.runs, 1);
    assert_true(test_get(&j.index) < ws_pool_num_workers(pool));
}

static void spawn_then_join_in_worker(void **state)
{
    (void)state;
    test_in_each_pool(check_in_worker);
}

static void check_outside(ws_pool *pool)
{
    job j = {.pool = pool, .target = pool};
    assert_int_equal(spawn_job(&j), WS_OK);
    test_await(&j.runs, 1);
    assert_true(test_get(&j.index) < ws_pool_num_workers(pool));
}

static void spawn_then_join_outside_worker(void **state)
{
    (void)state;
    test_in_each_pool(check_outside);
}

static int note_pool(void *arg)
{
    job *j = arg;
    j->code = (int)ws_current_num_workers();
    test_add(&j->runs, 1);
    return 0;
}

static int spawn_note(void *arg)
{
    job *j = arg;
    return ws_spawn(j->target, note_pool, j);
}

static void no_pool_means_the_current_one(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(3, WS_WAIT_ANY);
    ws_pool *global = NULL;
    job inside = {.target = NULL};
    job outside = {.target = NULL};
    assert_int_equal(ws_pool_install(pool, spawn_note, &inside), WS_OK);
    test_await(&inside.runs, 1);
    assert_int_equal(inside.code, 3);

    assert_int_equal(spawn_note(&outside), WS_OK);
    test_await(&outside.runs, 1);
    assert_int_equal(ws_pool_global(&global), WS_OK);
    assert_int_equal(outside.code, ws_pool_num_workers(global));
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    test_destroy(pool);
}

static void check_other_pool(ws_pool *pool)
{
    ws_pool *other = test_pool(3, WS_WAIT_ANY);
    job j = {.target = other};
    assert_int_equal(ws_pool_install(pool, spawn_note, &j), WS_OK);
    test_await(&j.runs, 1);
    assert_int_equal(j.code, 3);
    test_destroy(other);
}

static void spawn_into_another_pool(void **state)
{
    (void)state;
    test_in_each_pool(check_other_pool);
}

/* ---- the end of the pool --------------------------------------------- */

static int spawn_when_told(void *arg)
{
    job *j = arg;
    test_add(&j->runs, 1);
    test_await(&j->go, 1);
    return ws_spawn(NULL, run_job, j);
}

static void termination_while_things_are_executing(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(500); i > 0; i--) {
        unsigned policy = i % 2 == 0 ? WS_WAIT_ANY : WS_WAIT_SUBTREE;
        job j = {.pool = test_pool(1 + (unsigned)i % 3, policy)};
        assert_int_equal(ws_spawn(j.pool, spawn_when_told, &j), WS_OK);
        test_await(&j.runs, 1);
        test_set(&j.go, 1);
        test_destroy(j.pool);
        assert_int_equal(test_get(&j.runs), 2);
    }
}

static test_counter leaves;

static int spawn_more(void *arg)
{
    uintptr_t depth = (uintptr_t)arg;
    if (depth == 0) {
        test_add(&leaves, 1);
        return 0;
    }
    WS_TEST_REQUIRE(ws_spawn(NULL, spawn_more, (void *)(depth - 1)) == 0);
    WS_TEST_REQUIRE(ws_spawn(NULL, spawn_more, (void *)(depth - 1)) == 0);
    return 0;
}

static void destroy_runs_what_spawns_spawn(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool_near_wrap(workers, p, 2);
            test_set(&leaves, 0);
            assert_int_equal(ws_spawn(pool, spawn_more, (void *)12), WS_OK);
            test_destroy(pool);
            assert_int_equal(test_get(&leaves), 1 << 12);
        }
    }
}

static void destroy_at_once_runs_everything(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(500); i > 0; i--) {
        job j = {.pool = test_pool(1 + (unsigned)i % 4, WS_WAIT_ANY)};
        for (int k = 0; k < 10; k++) {
            assert_int_equal(ws_spawn(j.pool, run_job, &j), WS_OK);
        }
        test_destroy(j.pool);
        assert_int_equal(test_get(&j.runs), 10);
    }
}

/* ---- order on one worker --------------------------------------------- */

typedef struct {
    ws_pool *pool;
    int seen[128];
    int n;
} record;

typedef struct {
    record *r;
    int value;
} step;

static int note_step(void *arg)
{
    const step *s = arg;
    s->r->seen[s->r->n++] = s->value;
    return 0;
}

typedef struct {
    record *r;
    int value;
    step inner[10];
} decade;

static int spawn_ten(void *arg)
{
    decade *d = arg;
    for (int j = 0; j < 10; j++) {
        d->inner[j] = (step){d->r, 10 * d->value + j};
        WS_TEST_REQUIRE(ws_spawn(NULL, note_step, &d->inner[j]) == WS_OK);
    }
    return 0;
}

typedef struct {
    record r;
    decade decades[10];
} century;

static int spawn_decades(void *arg)
{
    century *c = arg;
    for (int i = 0; i < 10; i++) {
        c->decades[i] = (decade){.r = &c->r, .value = i};
        ws_spawn(NULL, spawn_ten, &c->decades[i]);
    }
    return 0;
}

static void lifo_order(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(1, p);
        century c = {.r = {.n = 0}};
        assert_int_equal(ws_pool_install(pool, spawn_decades, &c), 0);
        test_destroy(pool);
        assert_int_equal(c.r.n, 100);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(c.r.seen[i], 99 - i);
        }
    }
}

static int wait_for_go(void *arg)
{
    job *j = arg;
    test_add(&j->runs, 1);
    test_await(&j->go, 1);
    return 0;
}

static void spawns_from_outside_run_oldest_first(void **state)
{
    (void)state;
    enum {
        STEPS = 128 /* more than a segment of the injector */
    };
    ws_pool *pool = test_pool(1, WS_WAIT_ANY);
    record r = {.n = 0};
    step steps[STEPS];
    job gate = {.go = {0}};
    assert_int_equal(ws_spawn(pool, wait_for_go, &gate), WS_OK);
    test_await(&gate.runs, 1);
    for (int i = 0; i < STEPS; i++) {
        steps[i] = (step){&r, i};
        assert_int_equal(ws_spawn(pool, note_step, &steps[i]), WS_OK);
    }
    test_set(&gate.go, 1);
    test_destroy(pool);
    assert_int_equal(r.n, STEPS);
    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(r.seen[i], i);
    }
}

/* ---- endless local work ---------------------------------------------- */

static int spawn_itself(void *arg)
{
    job *j = arg;
    return test_get(&j->go) != 0 ? 0 : ws_spawn(NULL, spawn_itself, j);
}

/* A worker that feeds itself for ever still takes what comes from outside.  The
 * endless jobs end after the pool's last install: they outlive the loop. */
static void endless_local_work_does_not_starve_the_injector(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        static job endless[4];
        job outside = {.code = 0};
        ws_pool *pool = test_pool(workers, WS_WAIT_ANY);
        for (unsigned i = 0; i < workers; i++) {
            test_set(&endless[i].go, 0);
            assert_int_equal(ws_spawn(pool, spawn_itself, &endless[i]), WS_OK);
        }
        for (int i = 0; i < 100; i++) {
            assert_int_equal(ws_pool_install(pool, run_job, &outside), 0);
        }
        for (unsigned i = 0; i < workers; i++) {
            test_set(&endless[i].go, 1);
        }
        test_destroy(pool);
    }
}

/* ---- errors ---------------------------------------------------------- */

static void check_errors(ws_pool *pool)
{
    job bad = {.target = pool, .code = 5};
    job good = {.target = pool, .code = 0};
    job negative = {.target = pool, .code = -7};
    for (int i = 0; i < 10; i++) {
        assert_int_equal(spawn_job(&bad), WS_OK);
        assert_int_equal(spawn_job(&good), WS_OK);
        assert_int_equal(ws_pool_install(pool, spawn_job, &negative), WS_OK);
    }
    while (test_totals(pool).errors < 20) {
        wsi_thread_yield();
    }
    test_await(&good.runs, 10);
    assert_int_equal(test_get(&bad.runs), 10);
    assert_int_equal(test_get(&negative.runs), 10);
    assert_int_equal(test_totals(pool).errors, 20);
    /* 30 detached jobs and 10 installs */
    assert_int_equal(test_totals(pool).jobs, 40);
}

static void errors_are_counted(void **state)
{
    (void)state;
    test_in_each_pool(check_errors);
}

static int spawn_three(void *arg)
{
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_spawn(NULL, run_job, arg) == WS_OK);
    }
    return 0;
}

static void check_nested_errors(ws_pool *pool)
{
    job bad = {.code = 5};
    assert_int_equal(ws_spawn(pool, spawn_three, &bad), WS_OK);
    while (test_totals(pool).errors < 3) {
        wsi_thread_yield();
    }
    assert_int_equal(test_get(&bad.runs), 3);
    assert_int_equal(test_totals(pool).errors, 3);
}

static void errors_of_nested_spawns_are_counted(void **state)
{
    (void)state;
    test_in_each_pool(check_nested_errors);
}

static void check_null(ws_pool *pool)
{
    assert_int_equal(ws_spawn(pool, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_spawn(NULL, NULL, NULL), WS_EINVAL);
    assert_int_equal(test_totals(pool).jobs, 0);
}

static void no_function_is_an_error(void **state)
{
    (void)state;
    test_in_each_pool(check_null);
}

/* ---- no memory ------------------------------------------------------- */

static test_counter memory_is_out;

static void *alloc_if_any(size_t align, size_t size)
{
    return test_get(&memory_is_out) != 0 ? NULL
                                         : wsi_mem_alloc_real(align, size);
}

/* Gives no record back while somebody wants to see them run out. */
static int run_when_memory_is_back(void *arg)
{
    while (test_get(&memory_is_out) != 0) {
        wsi_thread_yield();
    }
    return run_job(arg);
}

/* Spawns until memory is out, then reports how many were queued. */
static int spawn_while_possible(void *arg)
{
    job *j = arg;
    int code = WS_OK;
    int queued = 0;
    test_set(&memory_is_out, 1);
    while (code == WS_OK) {
        code = ws_spawn(j->target, run_when_memory_is_back, j);
        queued += code == WS_OK;
    }
    test_set(&memory_is_out, 0);
    WS_TEST_REQUIRE(code == WS_ENOMEM);
    return queued;
}

static void spawn_without_memory_is_refused(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_if_any;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            static job inside;
            static job outside;
            ws_pool *pool = test_pool_near_wrap(workers, p, 2);
            uint64_t before = test_get(&inside.runs) + test_get(&outside.runs);
            int queued = 0;
            outside.target = pool;
            /* First without any record, then with records of the depot but
             * neither a larger deque nor another segment. */
            for (int round = 0; round < 2; round++) {
                queued += ws_pool_install(pool, spawn_while_possible, &inside);
                queued += spawn_while_possible(&outside);
                assert_int_equal(spawn_job(&outside), WS_OK);
                queued++;
            }
            test_destroy(pool);
            assert_int_equal(test_get(&inside.runs) + test_get(&outside.runs),
                             before + (uint64_t)queued);
        }
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(spawn_then_join_in_worker),
    cmocka_unit_test(spawn_then_join_outside_worker),
    cmocka_unit_test(no_pool_means_the_current_one),
    cmocka_unit_test(spawn_into_another_pool),
    cmocka_unit_test(termination_while_things_are_executing),
    cmocka_unit_test(destroy_runs_what_spawns_spawn),
    cmocka_unit_test(destroy_at_once_runs_everything),
    cmocka_unit_test(lifo_order),
    cmocka_unit_test(spawns_from_outside_run_oldest_first),
    cmocka_unit_test(endless_local_work_does_not_starve_the_injector),
    cmocka_unit_test(errors_are_counted),
    cmocka_unit_test(errors_of_nested_spawns_are_counted),
    cmocka_unit_test(no_function_is_an_error),
    cmocka_unit_test(spawn_without_memory_is_refused),
};
WS_TEST_MAIN(tests)
