/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_fail_fast.c: a failure at each place of a scope: everything ends,
 * every argument is given back once; fail-fast scopes drop what has not
 * started, others run all.
 */
#include "support/pools.h"

#define EACH_POOL_CASE(name, check)                                            \
    static void name(void **state)                                             \
    {                                                                          \
        (void)state;                                                           \
        test_in_each_pool(check);                                              \
    }

enum {
    JOBS = 30,
    CODE = 100,
    TREE = 300
};

typedef struct {
    unsigned flags;
    int fail_at; /* JOBS: nobody fails, JOBS + 1: the body does */
    test_counter started;
    test_counter dropped;
    test_counter after; /* started when the failure was known */
    test_counter failed;
    test_counter late; /* started when the scope had stopped */
    test_counter ends[JOBS];
    ws_token *token;
} plan;

typedef struct {
    plan *p;
    int number;
} job;

static int run_job(struct ws_scope *scope, void *arg)
{
    job *j = arg;
    plan *p = j->p;
    int number = j->number;
    (void)scope;
    free(j);
    test_add(&p->started, 1);
    test_add(&p->ends[number], 1);
    if (ws_cancelled()) {
        test_add(&p->late, 1);
    }
    if (test_get(&p->failed) != 0) {
        test_add(&p->after, 1);
    }
    if (number != p->fail_at) {
        return 0;
    }
    if (p->token != NULL) {
        ws_token_cancel(p->token);
        WS_TEST_REQUIRE(ws_cancelled());
        return 0;
    }
    return CODE + number;
}

static void drop_job(void *arg)
{
    job *j = arg;
    plan *p = j->p;
    test_add(&p->ends[j->number], 1);
    free(j);
    test_add(&p->dropped, 1);
    /* Whoever drops knows. */
    test_set(&p->failed, 1);
}

static int spawn_jobs(struct ws_scope *scope, void *arg)
{
    plan *p = arg;
    for (int i = 0; i < JOBS; i++) {
        job *j = malloc(sizeof(*j));
        WS_TEST_REQUIRE(j != NULL);
        *j = (job){p, i};
        WS_TEST_REQUIRE(ws_scope_spawn_or_drop(scope, run_job, j, drop_job) ==
                        WS_OK);
    }
    return p->fail_at == JOBS + 1 ? CODE + JOBS + 1 : 0;
}

/* Each job has run or was dropped, and few have started too late. */
static void check_ends(plan *p, ws_pool *pool)
{
    assert_int_equal(test_get(&p->started) + test_get(&p->dropped), JOBS);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(test_get(&p->ends[i]), 1);
    }
    assert_in_range(test_get(&p->late), 0, ws_pool_num_workers(pool));
    assert_int_equal(ws_cancelled(), 0);
}

static void check_failure(ws_pool *pool, unsigned flags, int fail_at)
{
    plan p = {.flags = flags, .fail_at = fail_at};
    int code = ws_scope_in(pool, flags, spawn_jobs, &p);
    assert_int_equal(code, fail_at == JOBS ? 0 : CODE + fail_at);
    check_ends(&p, pool);
    if (flags & WS_SCOPE_FAIL_FAST) {
        assert_true(test_get(&p.after) <= ws_pool_num_workers(pool));
    } else {
        assert_int_equal(test_get(&p.dropped), 0);
        assert_int_equal(test_get(&p.late), 0);
    }
    if (ws_pool_num_workers(pool) == 1 && fail_at < JOBS &&
        (flags & WS_SCOPE_IN_PLACE) == 0) {
        /* One after the other, the newest or the oldest first. */
        uint64_t before =
            (uint64_t)(flags & WS_SCOPE_FIFO ? fail_at : JOBS - 1 - fail_at);
        assert_int_equal(test_get(&p.started),
                         flags & WS_SCOPE_FAIL_FAST ? before + 1 : JOBS);
    }
}

static void check_failures(ws_pool *pool)
{
    for (unsigned flags = 0; flags <= 7; flags++) {
        for (int i = 0; i <= JOBS + 1; i++) {
            check_failure(pool, flags, i);
        }
    }
}

EACH_POOL_CASE(failure_at_each_job, check_failures)

/* ---- trees and threads ----------------------------------------------- */

typedef struct {
    test_counter spawned;
    test_counter started;
    test_counter dropped;
    test_counter late;
    uint64_t fail_at;
    struct ws_scope *scope;
} tree;

static int run_branch(struct ws_scope *scope, void *arg);

static void drop_branch(void *arg)
{
    tree **t = arg;
    test_add(&(*t)->dropped, 1);
    free(t);
}

static void spawn_branch(struct ws_scope *scope, tree *t)
{
    if (test_add(&t->spawned, 1) < TREE) {
        tree **arg = malloc(sizeof(*arg));
        WS_TEST_REQUIRE(arg != NULL);
        *arg = t;
        WS_TEST_REQUIRE(ws_scope_spawn_or_drop(scope, run_branch, arg,
                                               drop_branch) == WS_OK);
    }
}

static int run_branch(struct ws_scope *scope, void *arg)
{
    tree *t = *(tree **)arg;
    free(arg);
    if (ws_cancelled()) {
        test_add(&t->late, 1);
    }
    bool fails = test_add(&t->started, 1) == t->fail_at;
    spawn_branch(scope, t);
    spawn_branch(scope, t);
    return fails ? CODE : 0;
}

static void *spawn_branches(void *arg)
{
    tree *t = arg;
    for (int i = 0; i < TREE / 10; i++) {
        spawn_branch(t->scope, t);
    }
    return NULL;
}

static int plant_with_guests(struct ws_scope *scope, void *arg)
{
    tree *t = arg;
    pthread_t guests[2];
    t->scope = scope;
    guests[0] = test_thread(spawn_branches, t);
    guests[1] = test_thread(spawn_branches, t);
    spawn_branch(scope, t);
    test_join_thread(guests[0]);
    test_join_thread(guests[1]);
    return 0;
}

static void check_tree(ws_pool *pool)
{
    for (unsigned flags = 0; flags <= 7; flags++) {
        bool fast = (flags & WS_SCOPE_FAIL_FAST) != 0;
        for (uint64_t i = 0; i <= TREE; i += 15) {
            tree t = {.fail_at = i};
            int code = ws_scope_in(pool, flags, plant_with_guests, &t);
            uint64_t started = test_get(&t.started);
            uint64_t spawned = test_get(&t.spawned);
            assert_int_equal(code, started > i ? CODE : 0);
            assert_int_equal(started + test_get(&t.dropped),
                             spawned < TREE ? spawned : TREE);
            assert_true(fast || test_get(&t.dropped) == 0);
            assert_in_range(test_get(&t.late), 0,
                            fast ? ws_pool_num_workers(pool) : 0);
        }
    }
}

EACH_POOL_CASE(failure_in_a_tree_with_foreign_spawns, check_tree)

/* ---- tokens ---------------------------------------------------------- */

static int open_fail_fast(void *arg)
{
    plan *p = arg;
    return ws_scope_in(NULL, p->flags | WS_SCOPE_FAIL_FAST, spawn_jobs, p);
}

static int open_under_token(void *arg)
{
    plan *p = arg;
    return ws_with_token(p->token, open_fail_fast, p);
}

static void check_cancellation(ws_pool *pool)
{
    for (int i = 0; i < JOBS; i++) {
        plan p = {.flags = i % 2 ? WS_SCOPE_FIFO : 0, .fail_at = i};
        assert_int_equal(ws_token_create(&p.token), WS_OK);
        int code = ws_pool_install(pool, open_under_token, &p);
        assert_int_equal(code, test_get(&p.dropped) > 0 ? WS_ECANCELED : 0);
        check_ends(&p, pool);
        ws_token_release(p.token);
    }
}

EACH_POOL_CASE(cancellation_at_each_job, check_cancellation)

static int never(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    ws_test_fail(__FILE__, __LINE__, "this must not run");
    return 0;
}

static int open_canceled(void *arg)
{
    ws_pool *const *pool = arg;
    for (unsigned flags = 0; flags <= 7; flags++) {
        if (flags & WS_SCOPE_FAIL_FAST) {
            WS_TEST_REQUIRE(ws_scope_in(*pool, flags, never, NULL) ==
                            WS_ECANCELED);
            WS_TEST_REQUIRE(ws_scope_in(NULL, flags, never, NULL) ==
                            WS_ECANCELED);
        }
    }
    return 0;
}

typedef struct {
    ws_pool *pool;
    ws_pool *home;
    ws_token *token;
} canceling;

static int cancel_first(void *arg)
{
    canceling *c = arg;
    ws_token_cancel(c->token);
    WS_TEST_REQUIRE(open_canceled(&c->pool) == 0);
    WS_TEST_REQUIRE(ws_pool_install(c->pool, open_canceled, &c->pool) == 0);
    return ws_pool_install(c->home, open_canceled, &c->pool);
}

static void canceled_before_it_opens(void **state)
{
    (void)state;
    canceling c = {.pool = test_pool(2, WS_WAIT_DEFAULT)};
    c.home = test_pool(1, WS_WAIT_ANY);
    assert_int_equal(ws_token_create(&c.token), WS_OK);
    assert_int_equal(ws_with_token(c.token, cancel_first, &c), 0);
    assert_int_equal(ws_cancelled(), 0);
    ws_token_release(c.token);
    test_destroy(c.pool);
    test_destroy(c.home);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- after the failure ----------------------------------------------- */

static int fail_at_once(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    return CODE;
}

static int count_plain(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(arg, 1);
    return 0;
}

static int spawn_plain(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < JOBS; i++) {
        ws_scope_spawn(scope, count_plain, arg);
    }
    return 0;
}

static int fail_and_go_on(struct ws_scope *scope, void *arg)
{
    test_counter *sum = arg;
    plan p = {.fail_at = JOBS};
    WS_TEST_REQUIRE(!ws_cancelled());
    ws_scope_spawn(scope, fail_at_once, NULL);
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    WS_TEST_REQUIRE(ws_cancelled());
    /* What comes now is dropped at once. */
    WS_TEST_REQUIRE(spawn_jobs(scope, &p) == 0);
    WS_TEST_REQUIRE(test_get(&p.dropped) == JOBS);
    spawn_plain(scope, sum);
    WS_TEST_REQUIRE(test_get(sum) == 0);
    /* A plain scope inside still runs everything. */
    WS_TEST_REQUIRE(ws_scope(spawn_plain, sum) == 0);
    WS_TEST_REQUIRE(test_get(sum) == JOBS);
    /* And a fail-fast one nothing. */
    WS_TEST_REQUIRE(ws_scope_in(NULL, WS_SCOPE_FAIL_FAST, spawn_plain, sum) ==
                    WS_ECANCELED);
    return 0;
}

static void spawns_after_the_failure_are_dropped(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (unsigned flags = WS_SCOPE_FAIL_FAST; flags <= 7; flags++) {
            test_counter sum = {0};
            if (flags & WS_SCOPE_FAIL_FAST) {
                assert_int_equal(ws_scope_in(pool, flags, fail_and_go_on, &sum),
                                 CODE);
                assert_int_equal(ws_cancelled(), 0);
            }
        }
        test_destroy(pool);
    }
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

/* ---- jobs that run meanwhile ----------------------------------------- */

typedef struct {
    ws_token *token; /* NULL: a job fails */
    test_counter polling;
    test_counter sum;
    uint64_t pollers;
    unsigned flags;
} running;

static int count_canceled(struct ws_scope *scope, void *arg)
{
    (void)scope;
    WS_TEST_REQUIRE(ws_cancelled());
    test_add(arg, 1);
    return 0;
}

static int spawn_canceled(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < JOBS; i++) {
        ws_scope_spawn(scope, count_canceled, arg);
    }
    return CODE + 1;
}

static int poll_and_go_on(struct ws_scope *scope, void *arg)
{
    running *r = arg;
    (void)scope;
    WS_TEST_REQUIRE(!ws_cancelled());
    test_add(&r->polling, 1);
    while (!ws_cancelled()) {
        wsi_thread_yield();
    }
    WS_TEST_REQUIRE(ws_scope(spawn_canceled, &r->sum) == CODE + 1);
    WS_TEST_REQUIRE(ws_cancelled());
    return r->token != NULL ? 0 : CODE + 1;
}

static int stop_when_all_poll(struct ws_scope *scope, void *arg)
{
    running *r = arg;
    (void)scope;
    test_await(&r->polling, r->pollers);
    ws_token_cancel(r->token);
    return r->token != NULL ? 0 : CODE;
}

static int spawn_pollers(struct ws_scope *scope, void *arg)
{
    running *r = arg;
    ws_scope_spawn(scope, stop_when_all_poll, r);
    for (uint64_t i = r->pollers; i > 0; i--) {
        ws_scope_spawn(scope, poll_and_go_on, r);
    }
    return 0;
}

static int ask(void *arg)
{
    (void)arg;
    return ws_cancelled();
}

static int open_pollers(void *arg)
{
    running *r = arg;
    int code = ws_scope_in(NULL, r->flags, spawn_pollers, r);
    WS_TEST_REQUIRE(ws_cancelled() == (r->token != NULL));
    return code;
}

static int open_under(void *arg)
{
    running *r = arg;
    return ws_with_token(r->token, open_pollers, r);
}

static void check_running(ws_pool *pool)
{
    for (unsigned i = 0; i < 16; i++) {
        running r = {.pollers = ws_pool_num_workers(pool) - 1};
        r.flags = WS_SCOPE_FAIL_FAST | i % 8;
        if (i < 8) {
            assert_int_equal(ws_pool_install(pool, open_pollers, &r), CODE);
        } else {
            assert_int_equal(ws_token_create(&r.token), WS_OK);
            /* Nothing was dropped. */
            assert_int_equal(ws_pool_install(pool, open_under, &r), 0);
            ws_token_release(r.token);
        }
        assert_int_equal(test_get(&r.sum), r.pollers * JOBS);
        assert_int_equal(ws_pool_install(pool, ask, NULL), 0);
    }
}

/* They learn of it, and their plain scopes still run everything. */
EACH_POOL_CASE(running_jobs_are_told, check_running)

static int fail_inside(struct ws_scope *scope, void *arg)
{
    WS_TEST_REQUIRE(ws_scope_in(NULL, WS_SCOPE_FAIL_FAST, fail_at_once, NULL) ==
                    CODE);
    WS_TEST_REQUIRE(!ws_cancelled());
    return spawn_plain(scope, arg);
}

static void check_inside(ws_pool *pool)
{
    test_counter sum = {0};
    assert_int_equal(ws_scope_in(pool, WS_SCOPE_FAIL_FAST, fail_inside, &sum),
                     0);
    assert_int_equal(test_get(&sum), JOBS);
}

EACH_POOL_CASE(failure_stops_no_outer_scope, check_inside)

static void bad_arguments_call_neither(void **state)
{
    (void)state;
    assert_int_equal(ws_scope_spawn_or_drop(NULL, run_job, NULL, drop_job),
                     WS_EINVAL);
    assert_int_equal(ws_scope_in(NULL, 8, spawn_jobs, NULL), WS_EINVAL);
    assert_int_equal(ws_scope_in(NULL, 0, NULL, NULL), WS_EINVAL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(failure_at_each_job),
    cmocka_unit_test(failure_in_a_tree_with_foreign_spawns),
    cmocka_unit_test(cancellation_at_each_job),
    cmocka_unit_test(canceled_before_it_opens),
    cmocka_unit_test(spawns_after_the_failure_are_dropped),
    cmocka_unit_test(running_jobs_are_told),
    cmocka_unit_test(failure_stops_no_outer_scope),
    cmocka_unit_test(bad_arguments_call_neither),
};
WS_TEST_MAIN(tests)
