/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_unrelated.c: jobs that run on top of others without being a part of
 * them (broadcasts, yields, visitors): what they leave behind goes where the
 * waits below do not find it, and everybody else does.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

typedef struct {
    ws_pool *pool;
    pthread_t holder; /* of what stands for a lock */
    int index;        /* the worker that it is */
    test_counter held;
    test_counter other_half; /* runs elsewhere */
    test_counter release;    /* and may end */
    test_counter announced;
    test_counter ran;
} lock_case;

/* What wants the lock must not run on top of who has it. */
static int want_lock(void *arg)
{
    lock_case *c = arg;
    WS_TEST_REQUIRE(test_get(&c->held) == 0 ||
                    !pthread_equal(pthread_self(), c->holder));
    test_add(&c->ran, 1);
    return 0;
}

static int until_stolen(void *arg)
{
    test_await(&((lock_case *)arg)->other_half, 1);
    return 0;
}

static int hold(void *arg)
{
    lock_case *c = arg;
    test_set(&c->other_half, 1);
    test_await(&c->release, 1);
    return 0;
}

static int lock_and_join(void *arg)
{
    lock_case *c = arg;
    c->holder = pthread_self();
    c->index = ws_current_index();
    test_set(&c->held, 1);
    int code = ws_join(until_stolen, c, hold, c);
    test_set(&c->held, 0);
    return code;
}

static void *enter_with_lock(void *arg)
{
    lock_case *c = arg;
    WS_TEST_REQUIRE(ws_pool_install(c->pool, lock_and_join, c) == 0);
    return NULL;
}

static int spawn_from_broadcast(const ws_broadcast_ctx *ctx, void *arg)
{
    lock_case *c = arg;
    if ((int)ctx->index == c->index) {
        WS_TEST_REQUIRE(ws_spawn(NULL, want_lock, c) == WS_OK);
        WS_TEST_REQUIRE(ws_spawn_fifo(NULL, want_lock, c) == WS_OK);
        WS_TEST_REQUIRE(ws_spawn_copy(NULL, want_lock, c, sizeof(*c)) == WS_OK);
    }
    test_add(&c->announced, 1);
    return 0;
}

/* With a spare that can run them. */
static void broadcast_leaves_nothing_on_top_of_a_wait(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(50); i > 0; i--) {
        lock_case c = {.pool = test_pool(2, WS_WAIT_SUBTREE)};
        pthread_t thread = test_thread(enter_with_lock, &c);
        test_await(&c.other_half, 1);
        assert_int_equal(ws_spawn_broadcast(c.pool, spawn_from_broadcast, &c),
                         WS_OK);
        test_await(&c.ran, 2);
        assert_int_equal(test_get(&c.held), 1);
        test_set(&c.release, 1);
        test_join_thread(thread);
        test_destroy(c.pool);
        assert_int_equal(test_get(&c.announced), 2);
    }
}

/* ---- jobs of a scope that such a job leaves -------------------------- */

typedef struct {
    lock_case lock;
    struct ws_scope *scope;
    test_counter jobs;
} scope_case;

static int count_job(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&((scope_case *)arg)->jobs, 1);
    return 0;
}

static int spawn_into_scope(const ws_broadcast_ctx *ctx, void *arg)
{
    scope_case *c = arg;
    (void)ctx;
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn(c->scope, count_job, c) == WS_OK);
    }
    return 0;
}

/* The other worker waits with a lock; the broadcast that runs on top of it
 * leaves jobs of this scope there. */
static int broadcast_into_scope(struct ws_scope *scope, void *arg)
{
    scope_case *c = arg;
    c->scope = scope;
    test_await(&c->lock.held, 1);
    WS_TEST_REQUIRE(ws_broadcast(NULL, spawn_into_scope, c, NULL) == 0);
    return 0;
}

static int other_half_with_scope(void *arg)
{
    scope_case *c = arg;
    test_set(&c->lock.other_half, 1);
    int code = ws_scope_in(NULL, (unsigned)test_get(&c->lock.release),
                           broadcast_into_scope, c);
    /* Who holds the lock waits for this. */
    WS_TEST_REQUIRE(test_get(&c->jobs) == 6);
    return code;
}

static int lock_and_wait_for_scope(void *arg)
{
    scope_case *c = arg;
    test_set(&c->lock.held, 1);
    return ws_join(until_stolen, &c->lock, other_half_with_scope, c);
}

/* Nobody else is there, so the opener must find them. */
static void scope_finds_the_jobs_that_it_leaves(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.max_spares = WS_NO_SPARES;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        config.wait_policy = p;
        ws_pool *pool = test_pool_with(&config);
        for (unsigned flags = 0; flags <= 3; flags++) {
            scope_case c = {.lock = {.pool = pool}};
            test_set(&c.lock.release, flags);
            assert_int_equal(ws_pool_install(pool, lock_and_wait_for_scope, &c),
                             0);
        }
        test_destroy(pool);
    }
}

/* ---- yields that take what is older ---------------------------------- */

static test_counter older;

static int count_older(void *arg)
{
    (void)arg;
    test_add(&older, 1);
    return 0;
}

static int spawn_older(void *arg)
{
    (void)arg;
    test_add(&older, 1);
    return ws_spawn(NULL, count_older, NULL);
}

typedef struct {
    uint64_t yields;
    bool all; /* ws_yield_now() */
    test_counter jobs;
} yielding;

static int count_younger(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&((yielding *)arg)->jobs, 1);
    return 0;
}

static int yield_in_body(struct ws_scope *scope, void *arg)
{
    yielding *y = arg;
    for (uint64_t i = 0; i < y->yields; i++) {
        WS_TEST_REQUIRE((y->all ? ws_yield_now() : ws_yield_local()) ==
                        WS_YIELD_EXECUTED);
    }
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn(scope, count_younger, y) == WS_OK);
    }
    return 0;
}

static int yield_between(void *arg)
{
    yielding *y = arg;
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_spawn(NULL, spawn_older, NULL) == WS_OK);
    }
    for (unsigned flags = 0; flags <= 3; flags++) {
        test_set(&y->jobs, 0);
        WS_TEST_REQUIRE(ws_scope_in(NULL, flags, yield_in_body, y) == 0);
        WS_TEST_REQUIRE(test_get(&y->jobs) == 3);
        y->yields = 0;
    }
    return 0;
}

/* One worker and no spare: the scope's opener must run its jobs. */
static void yield_may_take_what_is_older_than_the_scope(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        for (uint64_t yields = 1; yields <= 6; yields++) {
            ws_pool *pool = test_pool_of_one(p);
            yielding y = {.yields = yields <= 3 ? yields : yields - 3,
                          .all = yields > 3};
            test_set(&older, 0);
            assert_int_equal(ws_pool_install(pool, yield_between, &y), 0);
            test_destroy(pool);
            assert_int_equal(test_get(&older), 6);
        }
    }
}

/* ---- waits for an outer scope ---------------------------------------- */

typedef struct {
    struct ws_scope *outer;
    test_counter outer_jobs;
    test_counter inner_jobs;
} nesting;

static int count_outer(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&((nesting *)arg)->outer_jobs, 1);
    return 0;
}

static int count_inner(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&((nesting *)arg)->inner_jobs, 1);
    return 0;
}

static int wait_for_outer(struct ws_scope *scope, void *arg)
{
    nesting *n = arg;
    WS_TEST_REQUIRE(ws_scope_wait(n->outer) == WS_OK);
    WS_TEST_REQUIRE(test_get(&n->outer_jobs) == 3);
    for (int i = 0; i < 2; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn(scope, count_inner, n) == WS_OK);
    }
    return 0;
}

static int open_inner(struct ws_scope *scope, void *arg)
{
    nesting *n = arg;
    n->outer = scope;
    for (unsigned flags = 0; flags <= 3; flags++) {
        test_set(&n->outer_jobs, 0);
        test_set(&n->inner_jobs, 0);
        for (int i = 0; i < 3; i++) {
            WS_TEST_REQUIRE(ws_scope_spawn(scope, count_outer, n) == WS_OK);
        }
        WS_TEST_REQUIRE(ws_scope_in(NULL, flags, wait_for_outer, n) == 0);
        WS_TEST_REQUIRE(test_get(&n->inner_jobs) == 2);
    }
    return 0;
}

/* It takes the jobs that lie below those of the inner one. */
static void wait_for_an_outer_scope_inside_an_inner_one(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool_of_one(p);
        for (unsigned flags = 0; flags <= 3; flags++) {
            nesting n = {.outer = NULL};
            assert_int_equal(ws_scope_in(pool, flags, open_inner, &n), 0);
        }
        test_destroy(pool);
    }
}

/* ---- the creator's thread -------------------------------------------- */

typedef struct {
    struct ws_scope *scope;
    test_counter spawned;
    test_counter creator; /* has run the job */
    test_counter child;
    test_counter done;
} stranding;

static int run_child(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_set(&((stranding *)arg)->child, 1);
    return 0;
}

static int spawn_child(struct ws_scope *scope, void *arg)
{
    stranding *s = arg;
    WS_TEST_REQUIRE(ws_current_index() == 0);
    WS_TEST_REQUIRE(ws_scope_spawn(scope, run_child, s) == WS_OK);
    test_set(&s->creator, 1);
    return 0;
}

static int wait_for_creator(struct ws_scope *scope, void *arg)
{
    stranding *s = arg;
    WS_TEST_REQUIRE(ws_scope_spawn(scope, spawn_child, s) == WS_OK);
    test_set(&s->spawned, 1);
    test_await(&s->creator, 1);
    return 0;
}

static int open_stranding(void *arg)
{
    stranding *s = arg;
    WS_TEST_REQUIRE(ws_current_index() == 1);
    WS_TEST_REQUIRE(ws_scope(wait_for_creator, s) == 0);
    test_set(&s->done, 1);
    return 0;
}

/* It leaves the library, and the child of what it ran is found. */
static void creator_leaves_nothing_behind(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.max_spares = WS_NO_SPARES;
    config.use_current_thread = 1;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        stranding s = {.scope = NULL};
        config.wait_policy = p;
        ws_pool *pool = test_pool_with(&config);
        assert_int_equal(ws_spawn(pool, open_stranding, &s), WS_OK);
        test_await(&s.spawned, 1);
        while (ws_yield_now() != WS_YIELD_EXECUTED) {
        }
        test_await(&s.done, 1);
        assert_int_equal(test_get(&s.child), 1);
        test_destroy(pool);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(broadcast_leaves_nothing_on_top_of_a_wait),
    cmocka_unit_test(scope_finds_the_jobs_that_it_leaves),
    cmocka_unit_test(yield_may_take_what_is_older_than_the_scope),
    cmocka_unit_test(wait_for_an_outer_scope_inside_an_inner_one),
    cmocka_unit_test(creator_leaves_nothing_behind),
};
WS_TEST_MAIN(tests)
