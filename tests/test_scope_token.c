/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_token.c: a job that is spawned under a token is under that token,
 * also when its scope was opened before, or by another thread.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

/* How the job is spawned. */
enum {
    PLAIN,
    OR_DROP,
    COPY,
    BROADCAST,
    FORMS
};

/* By whom. */
enum {
    BODY,
    JOB,
    THREAD,
    OTHER_POOL,
    SPAWNERS
};

typedef struct {
    ws_pool *pool;
    ws_pool *other;
    ws_token *token;
    struct ws_scope *scope;
    unsigned form;
    unsigned spawner;
    bool at_once; /* the token is canceled before the job can run */
    test_counter ran;
    test_counter dropped;
    test_counter canceled;
    test_counter go_on;
} claim;

static int look(claim *c)
{
    if (!c->at_once) {
        WS_TEST_REQUIRE(!ws_cancelled());
        ws_token_cancel(c->token);
    }
    test_add(&c->canceled, (uint64_t)ws_cancelled());
    test_add(&c->ran, 1);
    return 0;
}

static int look_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return look(arg);
}

static int look_at_copy(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return look(*(claim **)arg);
}

static int look_in_broadcast(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    return look(arg);
}

static void note_dropped(void *arg)
{
    test_add(&((claim *)arg)->dropped, 1);
}

static int spawn_one(void *arg)
{
    claim *c = arg;
    if (c->at_once) {
        ws_token_cancel(c->token);
        WS_TEST_REQUIRE(ws_cancelled());
    }
    switch (c->form) {
    case PLAIN:
        return ws_scope_spawn(c->scope, look_in_scope, c);
    case OR_DROP:
        return ws_scope_spawn_or_drop(c->scope, look_in_scope, c, note_dropped);
    case COPY:
        return ws_scope_spawn_copy(c->scope, look_at_copy, &c, sizeof(c));
    default:
        return ws_scope_spawn_broadcast(c->scope, look_in_broadcast, c);
    }
}

static int spawn_under_token(void *arg)
{
    claim *c = arg;
    WS_TEST_REQUIRE(ws_with_token(c->token, spawn_one, c) == WS_OK);
    WS_TEST_REQUIRE(!ws_cancelled());
    /* The job has its own share. */
    if (c->at_once) {
        ws_token_release(c->token);
    }
    return 0;
}

static int spawn_in_job(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return spawn_under_token(arg);
}

static void *spawn_in_thread(void *arg)
{
    spawn_under_token(arg);
    return NULL;
}

static int host(struct ws_scope *scope, void *arg)
{
    claim *c = arg;
    c->scope = scope;
    switch (c->spawner) {
    case BODY:
        return spawn_under_token(c);
    case JOB:
        return ws_scope_spawn(scope, spawn_in_job, c);
    case THREAD:
        test_join_thread(test_thread(spawn_in_thread, c));
        return 0;
    default:
        return ws_pool_install(c->other, spawn_under_token, c);
    }
}

static int open_scope(void *arg)
{
    claim *c = arg;
    unsigned flags = (unsigned)test_get(&c->go_on);
    return ws_scope_in(c->pool, flags, host, c);
}

static void check_claim(claim c, unsigned flags, bool outer_token)
{
    ws_token *outer = NULL;
    assert_int_equal(ws_token_create(&c.token), WS_OK);
    assert_int_equal(ws_token_create(&outer), WS_OK);
    test_set(&c.go_on, flags);
    int code =
        outer_token ? ws_with_token(outer, open_scope, &c) : open_scope(&c);
    uint64_t n = c.form == BROADCAST ? ws_pool_num_workers(c.pool) : 1;
    bool fail_fast = (flags & WS_SCOPE_FAIL_FAST) != 0;
    if (fail_fast && c.at_once) {
        assert_int_equal(test_get(&c.ran), 0);
        assert_int_equal(test_get(&c.dropped), c.form == OR_DROP);
        assert_int_equal(code, WS_ECANCELED);
    } else {
        assert_int_equal(test_get(&c.ran), n);
        assert_int_equal(test_get(&c.canceled), n);
        assert_int_equal(code, 0);
    }
    if (!c.at_once) {
        ws_token_release(c.token);
    }
    ws_token_release(outer);
}

static void check_all(ws_pool *pool, bool outer_token)
{
    ws_pool *other = test_pool(1, WS_WAIT_DEFAULT);
    for (unsigned i = 0; i < 8 * FORMS * SPAWNERS * 2; i++) {
        claim c = {.pool = pool, .other = other};
        c.form = i / 8 % FORMS;
        c.spawner = i / 8 / FORMS % SPAWNERS;
        c.at_once = i / 8 / FORMS / SPAWNERS != 0;
        /* The second of several would find it canceled. */
        if (c.form != BROADCAST || c.at_once) {
            check_claim(c, i % 8, outer_token);
        }
    }
    test_destroy(other);
}

static void check_without(ws_pool *pool)
{
    check_all(pool, false);
}

static void check_within(ws_pool *pool)
{
    check_all(pool, true);
}

static void job_is_under_the_token_of_its_spawner(void **state)
{
    (void)state;
    test_in_each_pool(check_without);
}

static void also_in_a_scope_that_has_another(void **state)
{
    (void)state;
    test_in_each_pool(check_within);
}

/* ---- the scope's own token ------------------------------------------- */

typedef struct {
    claim c;
    ws_token *outer;
} pair;

static int cancel_outer(struct ws_scope *scope, void *arg)
{
    pair *p = arg;
    (void)scope;
    WS_TEST_REQUIRE(!ws_cancelled());
    ws_token_cancel(p->outer);
    WS_TEST_REQUIRE(ws_cancelled());
    WS_TEST_REQUIRE(!ws_token_is_cancelled(p->c.token));
    test_add(&p->c.ran, 1);
    return 0;
}

static int spawn_canceller(void *arg)
{
    pair *p = arg;
    return ws_scope_spawn(p->c.scope, cancel_outer, p);
}

static void *canceller_thread(void *arg)
{
    pair *p = arg;
    WS_TEST_REQUIRE(ws_with_token(p->c.token, spawn_canceller, p) == WS_OK);
    return NULL;
}

static int host_pair(struct ws_scope *scope, void *arg)
{
    pair *p = arg;
    p->c.scope = scope;
    test_join_thread(test_thread(canceller_thread, p));
    return 0;
}

static int open_pair(void *arg)
{
    pair *p = arg;
    return ws_scope_in(p->c.pool, 0, host_pair, p);
}

static void check_pair(ws_pool *pool)
{
    pair p = {.c.pool = pool};
    assert_int_equal(ws_token_create(&p.c.token), WS_OK);
    assert_int_equal(ws_token_create(&p.outer), WS_OK);
    assert_int_equal(ws_with_token(p.outer, open_pair, &p), 0);
    assert_int_equal(test_get(&p.c.ran), 1);
    ws_token_release(p.c.token);
    ws_token_release(p.outer);
}

/* A thread with a token of its own spawns into it. */
static void token_of_the_scope_counts_too(void **state)
{
    (void)state;
    test_in_each_pool(check_pair);
}

/* ---- memory out ------------------------------------------------------ */

static int spawn_without_memory(void *arg)
{
    claim *c = arg;
    test_set(&test_memory_is_out, 1);
    int code = spawn_one(c);
    test_set(&test_memory_is_out, 0);
    return code;
}

static void *thread_without_memory(void *arg)
{
    claim *c = arg;
    int code = ws_with_token(c->token, spawn_without_memory, c);
    WS_TEST_REQUIRE(code == (c->form == BROADCAST ? WS_ENOMEM : WS_OK));
    return NULL;
}

static int host_without_memory(struct ws_scope *scope, void *arg)
{
    claim *c = arg;
    c->scope = scope;
    if (c->spawner == THREAD) {
        test_join_thread(test_thread(thread_without_memory, c));
    } else {
        thread_without_memory(c);
    }
    return 0;
}

static void job_is_under_it_where_memory_is_out(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = test_alloc_or_not;
    for (unsigned i = 0; i < 8 * FORMS * 2; i++) {
        ws_token *outer = NULL;
        claim c = {.pool = test_pool(1, WS_WAIT_DEFAULT)};
        c.form = i / 8 % FORMS;
        c.spawner = i / 8 / FORMS ? THREAD : BODY;
        assert_int_equal(ws_token_create(&c.token), WS_OK);
        assert_int_equal(ws_token_create(&outer), WS_OK);
        assert_int_equal(ws_scope_in(c.pool, i % 8, host_without_memory, &c),
                         0);
        assert_int_equal(test_get(&c.ran), c.form != BROADCAST);
        assert_int_equal(test_get(&c.canceled), c.form != BROADCAST);
        ws_token_release(outer);
        ws_token_release(c.token);
        test_destroy(c.pool);
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(job_is_under_the_token_of_its_spawner),
    cmocka_unit_test(also_in_a_scope_that_has_another),
    cmocka_unit_test(token_of_the_scope_counts_too),
    cmocka_unit_test(job_is_under_it_where_memory_is_out),
};
WS_TEST_MAIN(tests)
