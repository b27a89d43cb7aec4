/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_broadcast.c: one job on every worker: ws_broadcast, ws_spawn_broadcast.
 */
#include "support/broadcasts.h"

static ws_pool *no_spares(unsigned workers)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.max_spares = WS_NO_SPARES;
    return test_pool_with(&config);
}

/* ---- who runs it ----------------------------------------------------- */

static void broadcast_global(void **state)
{
    (void)state;
    bcast b = {.runs = {0}};
    assert_int_equal(ws_broadcast(NULL, note, &b, NULL), 0);
    assert_int_equal(test_get(&b.runs), ws_current_num_workers());
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void spawn_broadcast_global(void **state)
{
    (void)state;
    bcast b = {.runs = {0}};
    assert_int_equal(ws_spawn_broadcast(NULL, note, &b), WS_OK);
    test_await(&b.runs, ws_current_num_workers());
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static void broadcast_pool(void **state)
{
    (void)state;
    bcast b = {.pool = test_pool(SEVEN, WS_WAIT_DEFAULT)};
    int codes[SEVEN];
    memset(codes, 0xA5, sizeof(codes));
    assert_int_equal(ws_broadcast(b.pool, note, &b, codes), 0);
    assert_int_equal(test_get(&b.indices), each(1));
    for (int i = 0; i < SEVEN; i++) {
        assert_int_equal(codes[i], 0);
    }
    test_destroy(b.pool);
}

static void spawn_broadcast_pool(void **state)
{
    (void)state;
    bcast b = {.pool = test_pool(SEVEN, WS_WAIT_DEFAULT)};
    assert_int_equal(ws_spawn_broadcast(b.pool, note, &b), WS_OK);
    test_destroy(b.pool);
    assert_int_equal(test_get(&b.indices), each(1));
}

static int broadcast_here(void *arg)
{
    return ws_broadcast(NULL, note, arg, NULL);
}

static int spawn_broadcast_here(void *arg)
{
    return ws_spawn_broadcast(NULL, note, arg);
}

static void broadcast_self(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        bcast b = {.pool = test_pool(SEVEN, p)};
        assert_int_equal(ws_pool_install(b.pool, broadcast_here, &b), 0);
        assert_int_equal(test_get(&b.indices), each(1));
        test_destroy(b.pool);
    }
}

static void spawn_broadcast_self(void **state)
{
    (void)state;
    bcast b = {.pool = test_pool(SEVEN, WS_WAIT_DEFAULT)};
    assert_int_equal(ws_spawn(b.pool, spawn_broadcast_here, &b), WS_OK);
    test_destroy(b.pool);
    assert_int_equal(test_get(&b.indices), each(1));
}

/* ---- two pools ------------------------------------------------------- */

static int broadcast_to_first(const ws_broadcast_ctx *ctx, void *arg)
{
    bcast *b = arg;
    (void)ctx;
    return ws_broadcast(b->pool, note, b, NULL);
}

static int broadcast_to_second(void *arg)
{
    bcast *b = arg;
    return ws_broadcast(b->other, broadcast_to_first, b, NULL);
}

static int spawn_to_first(const ws_broadcast_ctx *ctx, void *arg)
{
    bcast *b = arg;
    (void)ctx;
    return ws_spawn_broadcast(b->pool, note, b);
}

static int spawn_to_second(void *arg)
{
    bcast *b = arg;
    return ws_spawn_broadcast(b->other, spawn_to_first, b);
}

static void check_mutual(ws_fn first, bool sleepy)
{
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        bcast b = {.pool = test_pool(THREE, p), .other = test_pool(SEVEN, p)};
        if (sleepy) {
            test_await_sleep(b.pool);
            test_await_sleep(b.other);
        }
        assert_int_equal(ws_pool_install(b.pool, first, &b), 0);
        test_await(&b.runs, THREE * SEVEN);
        test_destroy(b.other);
        test_destroy(b.pool);
        assert_int_equal(test_get(&b.runs), THREE * SEVEN);
    }
}

static void broadcast_mutual(void **state)
{
    (void)state;
    check_mutual(broadcast_to_second, false);
}

static void spawn_broadcast_mutual(void **state)
{
    (void)state;
    check_mutual(spawn_to_second, false);
}

static void broadcast_mutual_sleepy(void **state)
{
    (void)state;
    check_mutual(broadcast_to_second, true);
}

static void spawn_broadcast_mutual_sleepy(void **state)
{
    (void)state;
    check_mutual(spawn_to_second, true);
}

/* ---- failures -------------------------------------------------------- */

static void count_error(int code, void *arg)
{
    bcast *b = arg;
    WS_TEST_REQUIRE(code >= 10);
    test_add(&b->handled, 1);
}

static ws_pool *pool_with_handler(bcast *b)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = SEVEN;
    config.error_handler = count_error;
    config.handler_arg = b;
    return test_pool_with(&config);
}

static void check_failures(uint64_t fails, int expected, bool detached,
                           uint64_t handled)
{
    bcast b = {.runs = {0}};
    int codes[SEVEN];
    b.pool = pool_with_handler(&b);
    test_set(&b.fails, fails);
    if (detached) {
        assert_int_equal(ws_spawn_broadcast(b.pool, note, &b), WS_OK);
    } else {
        assert_int_equal(ws_broadcast(b.pool, note, &b, codes), expected);
        for (int i = 0; i < SEVEN; i++) {
            assert_int_equal(codes[i], fails >> i & 1 ? 10 + i : 0);
        }
    }
    test_destroy(b.pool);
    assert_int_equal(test_get(&b.indices), each(1));
    assert_int_equal(test_get(&b.handled), handled);
}

static void broadcast_panic_one(void **state)
{
    (void)state;
    check_failures(1 << 3, 13, false, 0);
}

static void broadcast_panic_many(void **state)
{
    (void)state;
    check_failures(0x55, 10, false, 0);
}

static void spawn_broadcast_panic_one(void **state)
{
    (void)state;
    check_failures(1 << 3, 0, true, 1);
}

static void spawn_broadcast_panic_many(void **state)
{
    (void)state;
    check_failures(0x55, 0, true, 4);
}

/* ---- sleep, order ---------------------------------------------------- */

static int spin_a_while(const ws_broadcast_ctx *ctx, void *arg)
{
    uint64_t end = wsi_clock_ns() + 1000 * (uint64_t)ctx->index;
    while (wsi_clock_ns() < end) {
        wsi_cpu_relax();
    }
    test_add(arg, 1);
    return 0;
}

static void broadcast_sleep_race(void **state)
{
    (void)state;
    const size_t rounds = ws_test_scale(3000);
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(SEVEN, p);
        test_counter runs = {0};
        for (size_t i = 0; i < rounds; i++) {
            assert_int_equal(ws_broadcast(pool, spin_a_while, &runs, NULL), 0);
        }
        assert_int_equal(test_get(&runs), rounds * SEVEN);
        test_destroy(pool);
    }
}

static int first_wave(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    test_add(&((bcast *)arg)->runs, 1);
    return 0;
}

static int second_wave(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    /* A worker's own first one comes before its second one. */
    WS_TEST_REQUIRE(test_get(&((bcast *)arg)->runs) >= 1);
    return 0;
}

static void broadcast_after_spawn_broadcast(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(SEVEN, WS_WAIT_DEFAULT);
    for (size_t i = ws_test_scale(300); i > 0; i--) {
        bcast b = {.pool = pool};
        assert_int_equal(ws_spawn_broadcast(pool, first_wave, &b), WS_OK);
        assert_int_equal(ws_broadcast(pool, second_wave, &b, NULL), 0);
        assert_int_equal(test_get(&b.runs), SEVEN);
    }
    test_destroy(pool);
}

static int count(void *arg)
{
    test_add(arg, 1);
    return 0;
}

static int spawn_count(void *arg)
{
    return ws_spawn(NULL, count, arg);
}

static void broadcast_after_spawn(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    for (size_t i = ws_test_scale(300); i > 0; i--) {
        bcast b = {.pool = pool};
        test_counter sum = {0};
        assert_int_equal(ws_pool_install(pool, spawn_count, &sum), 0);
        assert_int_equal(ws_broadcast(pool, first_wave, &b, NULL), 0);
        assert_int_equal(test_get(&sum), 1);
    }
    test_destroy(pool);
}

/* ---- workers that wait ----------------------------------------------- */

typedef struct {
    ws_pool *pool;
    test_counter stolen;
    test_counter runs;
} busy;

static int until_stolen(void *arg)
{
    test_await(&((busy *)arg)->stolen, 1);
    return 0;
}

/* The half that the other worker waits for. */
static int broadcast_from_half(void *arg)
{
    busy *b = arg;
    test_set(&b->stolen, 1);
    return ws_broadcast(NULL, spin_a_while, &b->runs, NULL);
}

static int join_broadcast(void *arg)
{
    return ws_join(until_stolen, arg, broadcast_from_half, arg);
}

static void reaches_a_worker_that_waits_for_it(void **state)
{
    (void)state;
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        busy b = {.pool = test_pool(2, p)};
        for (size_t i = ws_test_scale(300); i > 0; i--) {
            test_set(&b.stolen, 0);
            test_set(&b.runs, 0);
            assert_int_equal(ws_pool_install(b.pool, join_broadcast, &b), 0);
            assert_int_equal(test_get(&b.runs), 2);
        }
        test_destroy(b.pool);
    }
}

/* ---- memory and arguments -------------------------------------------- */

static void out_of_memory_runs_nowhere(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = test_alloc_or_not;
    bcast b = {.pool = no_spares(SEVEN)};
    test_set(&test_memory_is_out, 1);
    assert_int_equal(ws_broadcast(b.pool, note, &b, NULL), WS_ENOMEM);
    assert_int_equal(ws_spawn_broadcast(b.pool, note, &b), WS_ENOMEM);
    test_set(&test_memory_is_out, 0);
    assert_int_equal(test_get(&b.runs), 0);
    assert_int_equal(ws_broadcast(b.pool, note, &b, NULL), 0);
    test_destroy(b.pool);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void no_function_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(ws_broadcast(NULL, NULL, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_spawn_broadcast(NULL, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_scope_spawn_broadcast(NULL, note, NULL), WS_EINVAL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(broadcast_global),
    cmocka_unit_test(spawn_broadcast_global),
    cmocka_unit_test(broadcast_pool),
    cmocka_unit_test(spawn_broadcast_pool),
    cmocka_unit_test(broadcast_self),
    cmocka_unit_test(spawn_broadcast_self),
    cmocka_unit_test(broadcast_mutual),
    cmocka_unit_test(spawn_broadcast_mutual),
    cmocka_unit_test(broadcast_mutual_sleepy),
    cmocka_unit_test(spawn_broadcast_mutual_sleepy),
    cmocka_unit_test(broadcast_panic_one),
    cmocka_unit_test(broadcast_panic_many),
    cmocka_unit_test(spawn_broadcast_panic_one),
    cmocka_unit_test(spawn_broadcast_panic_many),
    cmocka_unit_test(broadcast_sleep_race),
    cmocka_unit_test(broadcast_after_spawn_broadcast),
    cmocka_unit_test(broadcast_after_spawn),
    cmocka_unit_test(reaches_a_worker_that_waits_for_it),
    cmocka_unit_test(out_of_memory_runs_nowhere),
    cmocka_unit_test(no_function_is_an_error),
};
WS_TEST_MAIN(tests)
