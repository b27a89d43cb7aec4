/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_cancel.c: tokens, who is under them, and what that means.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <signal.h>

#include "core/worker.h"

static ws_token *new_token(void)
{
    ws_token *token = NULL;
    assert_int_equal(ws_token_create(&token), WS_OK);
    assert_non_null(token);
    return token;
}

/* ---- tokens ---------------------------------------------------------- */

static void token_is_canceled_once_and_for_all(void **state)
{
    (void)state;
    ws_token *token = new_token();
    assert_int_equal(ws_token_is_cancelled(token), 0);
    ws_token_cancel(token);
    ws_token_cancel(token);
    assert_int_equal(ws_token_is_cancelled(token), 1);
    assert_ptr_equal(ws_token_retain(token), token);
    ws_token_release(token);
    assert_int_equal(ws_token_is_cancelled(token), 1);
    ws_token_release(token);
}

static int never(void *arg)
{
    (void)arg;
    ws_test_fail(__FILE__, __LINE__, "this must not run");
    return 0;
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    ws_token *token = new_token();
    assert_int_equal(ws_token_create(NULL), WS_EINVAL);
    assert_int_equal(ws_token_is_cancelled(NULL), 0);
    assert_null(ws_token_retain(NULL));
    ws_token_cancel(NULL);
    ws_token_release(NULL);
    assert_int_equal(ws_with_token(NULL, never, NULL), WS_EINVAL);
    assert_int_equal(ws_with_token(token, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_cancelled(), 0);
    ws_token_release(token);
}

/* ---- who inherits it ------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    ws_pool *other;
    ws_token *token;
    test_counter stolen;
    test_counter yes; /* found ws_cancelled() true */
    test_counter no;
} tree;

static int ask(void *arg)
{
    tree *t = arg;
    test_add(ws_cancelled() ? &t->yes : &t->no, 1);
    return 0;
}

static int ask_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return ask(arg);
}

static int ask_in_broadcast(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    return ask(arg);
}

static int until_stolen(void *arg)
{
    test_await(&((tree *)arg)->stolen, 1);
    return ask(arg);
}

static int be_stolen(void *arg)
{
    test_set(&((tree *)arg)->stolen, 1);
    return ws_join(ask, arg, ask, arg);
}

static int ask_everywhere(struct ws_scope *scope, void *arg)
{
    tree *t = arg;
    ws_scope_spawn(scope, ask_in_scope, t);
    ws_scope_spawn(scope, ask_in_scope, t);
    ws_scope_spawn_broadcast(scope, ask_in_broadcast, t);
    return 0;
}

static int plant(struct ws_scope *scope, void *arg)
{
    tree *t = arg;
    ws_scope_spawn(scope, ask_in_scope, t);
    ws_scope_spawn_broadcast(scope, ask_in_broadcast, t);
    test_set(&t->stolen, 0);
    WS_TEST_REQUIRE(ws_join(until_stolen, t, be_stolen, t) == 0);
    WS_TEST_REQUIRE(ws_pool_install(t->other, ask, t) == 0);
    WS_TEST_REQUIRE(ws_broadcast(t->other, ask_in_broadcast, t, NULL) == 0);
    WS_TEST_REQUIRE(ws_spawn(t->other, ask, t) == WS_OK);
    WS_TEST_REQUIRE(ws_spawn(NULL, ask, t) == WS_OK);
    WS_TEST_REQUIRE(ws_spawn_fifo(NULL, ask, t) == WS_OK);
    WS_TEST_REQUIRE(ws_spawn_broadcast(NULL, ask_in_broadcast, t) == WS_OK);
    return 0;
}

enum {
    /* 1 + 2 workers, 3 of the join, 1, 1 worker, 1, 1, 1, 2 workers */
    ASKED = 1 + 2 + 3 + 1 + 1 + 1 + 1 + 1 + 2
};

static int cancel_and_plant(void *arg)
{
    tree *t = arg;
    if (t->token != NULL) {
        ws_token_cancel(t->token);
    }
    return ws_scope_in(NULL, 0, plant, t);
}

static int under_token(void *arg)
{
    tree *t = arg;
    return ws_with_token(t->token, cancel_and_plant, t);
}

static void check_tree(unsigned policy, bool canceled)
{
    tree t = {.pool = test_pool(2, policy), .other = test_pool(1, policy)};
    t.token = canceled ? new_token() : NULL;
    ws_fn fn = canceled ? under_token : cancel_and_plant;
    assert_int_equal(ws_pool_install(t.pool, fn, &t), 0);
    /* Detached jobs have shares of their own. */
    ws_token_release(t.token);
    test_destroy(t.pool);
    test_destroy(t.other);
    assert_int_equal(test_get(&t.yes), canceled ? ASKED : 0);
    assert_int_equal(test_get(&t.no), canceled ? 0 : ASKED);
}

static void everything_below_inherits_the_token(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        for (size_t i = ws_test_scale(50); i > 0; i--) {
            check_tree(p, true);
            check_tree(p, false);
        }
    }
    assert_int_equal(ws_cancelled(), 0);
}

static void nothing_runs_under_a_canceled_token(void **state)
{
    (void)state;
    ws_token *token = new_token();
    ws_token_cancel(token);
    assert_int_equal(ws_with_token(token, never, NULL), WS_ECANCELED);
    ws_token_release(token);
}

static int cancel_then_enter(void *arg)
{
    tree *t = arg;
    ws_token_cancel(t->token);
    WS_TEST_REQUIRE(ws_cancelled());
    WS_TEST_REQUIRE(ws_pool_install(t->pool, ask, t) == 0);
    WS_TEST_REQUIRE(
        ws_scope_in(t->pool, WS_SCOPE_IN_PLACE, ask_everywhere, t) == 0);
    return 5;
}

static void foreign_thread_carries_its_token_in(void **state)
{
    (void)state;
    tree t = {.pool = test_pool(2, WS_WAIT_DEFAULT), .token = new_token()};
    assert_int_equal(ws_with_token(t.token, cancel_then_enter, &t), 5);
    assert_int_equal(ws_cancelled(), 0);
    assert_int_equal(test_get(&t.yes), 1 + 1 + 1 + 2);
    assert_int_equal(test_get(&t.no), 0);
    assert_int_equal(ws_pool_install(t.pool, ask, &t), 0);
    assert_int_equal(test_get(&t.no), 1);
    ws_token_release(t.token);
    test_destroy(t.pool);
}

/* ---- several tokens -------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    ws_token *tokens[2];
    int cancel; /* which one, or 2: none */
    test_counter go;
    test_counter result;
} nested;

static int ask_later(void *arg)
{
    nested *n = arg;
    test_await(&n->go, 1);
    test_set(&n->result, 1 + (uint64_t)ws_cancelled());
    return 0;
}

static int inside_both(void *arg)
{
    nested *n = arg;
    WS_TEST_REQUIRE(!ws_cancelled());
    return ws_spawn(n->pool, ask_later, n);
}

static int inside_first(void *arg)
{
    nested *n = arg;
    return ws_with_token(n->tokens[1], inside_both, n);
}

static void both_of_two_tokens_reach_a_detached_job(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
    for (int same = 0; same <= 1; same++) {
        for (int cancel = 0; cancel <= 2; cancel++) {
            nested n = {.pool = pool, .cancel = cancel};
            n.tokens[0] = new_token();
            n.tokens[1] = same ? ws_token_retain(n.tokens[0]) : new_token();
            assert_int_equal(ws_with_token(n.tokens[0], inside_first, &n), 0);
            if (cancel < 2) {
                ws_token_cancel(n.tokens[cancel]);
            }
            ws_token_release(n.tokens[0]);
            ws_token_release(n.tokens[1]);
            test_set(&n.go, 1);
            test_await(&n.result, 1);
            assert_int_equal(test_get(&n.result), cancel < 2 ? 2 : 1);
        }
    }
    test_destroy(pool);
}

static int starve(void *arg)
{
    test_set(&test_memory_is_out, 1);
    int code = ws_with_token(arg, never, NULL);
    test_set(&test_memory_is_out, 0);
    return code;
}

static void out_of_memory_runs_nothing(void **state)
{
    (void)state;
    ws_token *a = new_token();
    ws_token *b = new_token();
    ws_token *c = NULL;
    wsi_port_ops.mem_alloc = test_alloc_or_not;
    assert_int_equal(ws_with_token(a, starve, b), WS_ENOMEM);
    test_set(&test_memory_is_out, 1);
    assert_int_equal(ws_token_create(&c), WS_ENOMEM);
    test_set(&test_memory_is_out, 0);
    assert_null(c);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    ws_token_release(a);
    ws_token_release(b);
}

/* ---- who does not ---------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter held;
    test_counter strange; /* 1: ran, 2: and was canceled */
} neighbours;

static int stranger(void *arg)
{
    neighbours *n = arg;
    test_set(&n->strange, 1 + (uint64_t)ws_cancelled());
    return 0;
}

static int until_held(void *arg)
{
    test_await(&((neighbours *)arg)->held, 1);
    return 0;
}

static int hold_until_strange(void *arg)
{
    neighbours *n = arg;
    test_set(&n->held, 1);
    test_await(&n->strange, 1);
    return 0;
}

static int canceled_join(void *arg)
{
    neighbours *n = arg;
    int code = ws_join(until_held, n, hold_until_strange, n);
    WS_TEST_REQUIRE(ws_cancelled());
    return code;
}

typedef struct {
    neighbours *n;
    ws_token *token;
} entry;

static int cancel_inside(void *arg)
{
    entry *e = arg;
    ws_token_cancel(e->token);
    return canceled_join(e->n);
}

static int enter_under_token(void *arg)
{
    entry *e = arg;
    return ws_with_token(e->token, cancel_inside, e);
}

static void *enter(void *arg)
{
    entry *e = arg;
    WS_TEST_REQUIRE(ws_pool_install(e->n->pool, enter_under_token, e) == 0);
    return NULL;
}

/* Also when it runs on top of the waiting one (WS_WAIT_ANY). */
static void unrelated_job_is_not_canceled(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        neighbours n = {.pool = test_pool(2, p)};
        entry e = {&n, new_token()};
        pthread_t thread = test_thread(enter, &e);
        test_await(&n.held, 1);
        assert_int_equal(ws_spawn(n.pool, stranger, &n), WS_OK);
        test_join_thread(thread);
        assert_int_equal(test_get(&n.strange), 1);
        ws_token_release(e.token);
        test_destroy(n.pool);
    }
}

/* ---- stopping -------------------------------------------------------- */

static int poll(void *arg)
{
    test_add(arg, 1);
    while (!ws_cancelled()) {
        wsi_thread_yield();
    }
    return WS_ECANCELED;
}

static int poll_twice(void *arg)
{
    return ws_join(poll, arg, poll, arg);
}

typedef struct {
    ws_token *token;
    ws_pool *pool;
    test_counter started;
} polling;

static int poll_in_pool(void *arg)
{
    polling *p = arg;
    return ws_pool_install(p->pool, poll_twice, &p->started);
}

static void *poll_under_token(void *arg)
{
    polling *p = arg;
    WS_TEST_REQUIRE(ws_with_token(p->token, poll_in_pool, p) == WS_ECANCELED);
    return NULL;
}

static ws_token *token_of_handler;

static void cancel_in_handler(int signal_number)
{
    (void)signal_number;
    ws_token_cancel(token_of_handler);
}

static void polling_bodies_stop_and_say_so(void **state)
{
    (void)state;
    polling p = {new_token(), test_pool(2, WS_WAIT_DEFAULT), {0}};
    token_of_handler = p.token;
    WS_TEST_REQUIRE(signal(SIGUSR1, cancel_in_handler) != SIG_ERR);
    pthread_t thread = test_thread(poll_under_token, &p);
    test_await(&p.started, 2);
    assert_int_equal(raise(SIGUSR1), 0);
    test_join_thread(thread);
    signal(SIGUSR1, SIG_DFL);
    ws_token_release(p.token);
    test_destroy(p.pool);
}

/* ---- a creator that becomes a worker --------------------------------- */

static ws_pool *own_pool(void)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.use_current_thread = 1;
    return test_pool_with(&config);
}

/* A thread that is under a token becomes a worker, and ceases to be one. */
static int create_under_token(void *arg)
{
    ws_token *token = arg;
    ws_pool *pool = own_pool();
    WS_TEST_REQUIRE(!ws_cancelled());
    ws_token_cancel(token);
    WS_TEST_REQUIRE(ws_cancelled());
    WS_TEST_REQUIRE(ws_pool_destroy(pool) == WS_OK);
    WS_TEST_REQUIRE(ws_cancelled());
    pool = own_pool();
    WS_TEST_REQUIRE(ws_cancelled());
    return 0;
}

static int destroy_own(void *arg)
{
    return ws_pool_destroy(arg);
}

static void token_stays_with_the_creator(void **state)
{
    (void)state;
    ws_token *token = NULL;
    ws_pool *pool;
    assert_int_equal(ws_token_create(&token), WS_OK);
    assert_int_equal(ws_with_token(token, create_under_token, token), 0);
    /* The second pool is still there, and no longer under the token. */
    assert_int_equal(ws_current_index(), 0);
    assert_int_equal(ws_cancelled(), 0);
    pool = wsi_current_worker->pool;
    ws_token_release(token);
    assert_int_equal(ws_token_create(&token), WS_OK);
    assert_int_equal(ws_with_token(token, destroy_own, pool), WS_EINWORKER);
    ws_token_release(token);
    test_destroy(pool);
    assert_int_equal(ws_cancelled(), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(token_is_canceled_once_and_for_all),
    cmocka_unit_test(bad_arguments_are_refused),
    cmocka_unit_test(everything_below_inherits_the_token),
    cmocka_unit_test(nothing_runs_under_a_canceled_token),
    cmocka_unit_test(foreign_thread_carries_its_token_in),
    cmocka_unit_test(both_of_two_tokens_reach_a_detached_job),
    cmocka_unit_test(out_of_memory_runs_nothing),
    cmocka_unit_test(unrelated_job_is_not_canceled),
    cmocka_unit_test(polling_bodies_stop_and_say_so),
    cmocka_unit_test(token_stays_with_the_creator),
};
WS_TEST_MAIN(tests)
