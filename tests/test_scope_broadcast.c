/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_broadcast.c: ws_scope_spawn_broadcast.
 */
#include "support/broadcasts.h"

static int note_in_scope(const ws_broadcast_ctx *ctx, void *arg)
{
    WS_TEST_REQUIRE(ctx->scope != NULL);
    return note(ctx, arg);
}

static int spawn_in_scope(struct ws_scope *scope, void *arg)
{
    return ws_scope_spawn_broadcast(scope, note_in_scope, arg);
}

static int again_in_scope(const ws_broadcast_ctx *ctx, void *arg)
{
    return spawn_in_scope(ctx->scope, arg);
}

static int spawn_nested(struct ws_scope *scope, void *arg)
{
    return ws_scope_spawn_broadcast(scope, again_in_scope, arg);
}

static void check_scope(unsigned flags, ws_scope_fn body, uint64_t times)
{
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        bcast b = {.pool = test_pool(SEVEN, p)};
        assert_int_equal(ws_scope_in(b.pool, flags, body, &b), 0);
        assert_int_equal(test_get(&b.indices), each(times));
        test_destroy(b.pool);
    }
}

static void scope_spawn_broadcast(void **state)
{
    (void)state;
    check_scope(0, spawn_in_scope, 1);
    check_scope(WS_SCOPE_IN_PLACE, spawn_in_scope, 1);
}

static void scope_fifo_spawn_broadcast(void **state)
{
    (void)state;
    check_scope(WS_SCOPE_FIFO, spawn_in_scope, 1);
}

static void scope_spawn_broadcast_nested(void **state)
{
    (void)state;
    check_scope(0, spawn_nested, SEVEN);
}

static int meet(const ws_broadcast_ctx *ctx, void *arg)
{
    bcast *b = arg;
    note(ctx, b);
    test_await(&b->runs, SEVEN + 1);
    return 0;
}

static int meet_and_stay(struct ws_scope *scope, void *arg)
{
    bcast *b = arg;
    WS_TEST_REQUIRE(ws_scope_spawn_broadcast(scope, meet, b) == WS_OK);
    test_add(&b->runs, 1);
    test_await(&b->runs, SEVEN + 1);
    return 0;
}

static void scope_spawn_broadcast_barrier(void **state)
{
    (void)state;
    check_scope(WS_SCOPE_IN_PLACE, meet_and_stay, 1);
}

static void check_scope_failure(uint64_t fails)
{
    bcast b = {.pool = test_pool(SEVEN, WS_WAIT_DEFAULT)};
    test_set(&b.fails, fails);
    int code = ws_scope_in(b.pool, 0, spawn_in_scope, &b);
    assert_true(code >= 10 && (fails >> (code - 10) & 1) != 0);
    assert_int_equal(test_get(&b.indices), each(1));
    test_destroy(b.pool);
}

static void scope_spawn_broadcast_panic_one(void **state)
{
    (void)state;
    check_scope_failure(1 << 3);
}

static void scope_spawn_broadcast_panic_many(void **state)
{
    (void)state;
    check_scope_failure(0x55);
}

static int fail_then_broadcast(struct ws_scope *scope, void *arg)
{
    WS_TEST_REQUIRE(ws_scope_spawn_broadcast(scope, note_in_scope, arg) == 0);
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    WS_TEST_REQUIRE(ws_scope_spawn_broadcast(scope, note_in_scope, arg) == 0);
    return 0;
}

static void fail_fast_scope_drops_a_broadcast(void **state)
{
    (void)state;
    bcast b = {.pool = test_pool(SEVEN, WS_WAIT_DEFAULT)};
    test_set(&b.fails, 1 << 2);
    assert_int_equal(
        ws_scope_in(b.pool, WS_SCOPE_FAIL_FAST, fail_then_broadcast, &b), 12);
    assert_in_range(test_get(&b.runs), 1, SEVEN);
    test_destroy(b.pool);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(scope_spawn_broadcast),
    cmocka_unit_test(scope_fifo_spawn_broadcast),
    cmocka_unit_test(scope_spawn_broadcast_nested),
    cmocka_unit_test(scope_spawn_broadcast_barrier),
    cmocka_unit_test(scope_spawn_broadcast_panic_one),
    cmocka_unit_test(scope_spawn_broadcast_panic_many),
    cmocka_unit_test(fail_fast_scope_drops_a_broadcast),
};
WS_TEST_MAIN(tests)
