/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_token_chain.c: jobs that make a token each and pass it on: neither
 * memory nor stack nor time grows with the chain.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

typedef struct {
    ws_pool *pool;
    uint64_t left;
    ws_token *keep; /* in force all along, or NULL */
    test_counter ended;
    test_counter canceled;
} chain;

static int next_job(void *arg);

static int pass_on(void *arg)
{
    return ws_spawn(((chain *)arg)->pool, next_job, arg);
}

static int next_job(void *arg)
{
    chain *c = arg;
    ws_token *token = NULL;
    WS_TEST_REQUIRE(!ws_cancelled());
    if (c->left-- == 0) {
        ws_token_cancel(c->keep);
        test_set(&c->canceled, (uint64_t)ws_cancelled());
        test_set(&c->ended, 1);
        return 0;
    }
    WS_TEST_REQUIRE(ws_token_create(&token) == WS_OK);
    WS_TEST_REQUIRE(ws_with_token(token, pass_on, c) == WS_OK);
    ws_token_release(token);
    return 0;
}

static test_counter blocks; /* of memory, in use */
static test_counter most;

static void *alloc_counted(size_t align, size_t size)
{
    uint64_t n = test_add(&blocks, 1) + 1;
    if (n > test_get(&most)) {
        test_set(&most, n);
    }
    return wsi_mem_alloc_real(align, size);
}

static void free_counted(void *p)
{
    test_add(&blocks, p != NULL ? UINT64_MAX : 0);
    wsi_mem_free_real(p);
}

static void check_chain(unsigned workers, bool keep)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.stack_size = 128 * 1024;
    chain c = {.pool = test_pool_with(&config), .left = ws_test_scale(20000)};
    if (keep) {
        assert_int_equal(ws_token_create(&c.keep), WS_OK);
        assert_int_equal(ws_with_token(c.keep, pass_on, &c), WS_OK);
    } else {
        assert_int_equal(pass_on(&c), WS_OK);
    }
    test_await(&c.ended, 1);
    assert_int_equal(test_get(&c.canceled), keep);
    test_destroy(c.pool);
    ws_token_release(c.keep);
}

/* One worker: the job that made a token gives it back before the next. */
static void token_that_nobody_can_cancel_is_dropped(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_counted;
    wsi_port_ops.mem_free = free_counted;
    for (int keep = 0; keep < 2; keep++) {
        test_set(&blocks, 0);
        test_set(&most, 0);
        check_chain(1, keep);
        assert_int_equal(test_get(&blocks), 0);
        assert_in_range(test_get(&most), 1, 100);
    }
    wsi_port_ops.mem_free = wsi_mem_free_real;
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void long_chain_needs_no_deep_stack(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        check_chain(workers, false);
        check_chain(workers, true);
    }
}

/* ---- tokens that stay ------------------------------------------------ */

enum {
    KEPT = 3000
};

typedef struct {
    ws_token *tokens[KEPT];
    int depth;
    int (*last)(void *arg);
} stair;

static int climb(void *arg)
{
    stair *s = arg;
    if (s->depth == KEPT) {
        return s->last(s);
    }
    return ws_with_token(s->tokens[s->depth++], climb, s);
}

static int cancel_first(void *arg)
{
    stair *s = arg;
    WS_TEST_REQUIRE(!ws_cancelled());
    ws_token_cancel(s->tokens[0]);
    WS_TEST_REQUIRE(ws_cancelled());
    return 7;
}

static void all_tokens_in_force_count(void **state)
{
    (void)state;
    static stair s;
    s.depth = 0;
    s.last = cancel_first;
    for (int i = 0; i < KEPT; i++) {
        assert_int_equal(ws_token_create(&s.tokens[i]), WS_OK);
    }
    assert_int_equal(climb(&s), 7);
    for (int i = 0; i < KEPT; i++) {
        assert_int_equal(ws_token_is_cancelled(s.tokens[i]), i == 0);
        ws_token_release(s.tokens[i]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(token_that_nobody_can_cancel_is_dropped),
    cmocka_unit_test(long_chain_needs_no_deep_stack),
    cmocka_unit_test(all_tokens_in_force_count),
};
WS_TEST_MAIN(tests)
