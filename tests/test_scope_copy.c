/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_copy.c: ws_scope_spawn_copy and ws_spawn_copy: the job has its own
 * copy of the argument.
 */
#include "support/pools.h"

enum {
    SIZE_MAX_TESTED = 4096
};

static const size_t sizes[] = {0, 1, 8, 95, 96, 97, 1000, SIZE_MAX_TESTED};

static test_counter runs;
static test_counter bytes;

/* The copy is 1, 2, 3, ... from its first byte on. */
static int check_copy(void *arg)
{
    unsigned char *copy = arg;
    size_t n = copy != NULL ? copy[0] : 0;
    WS_TEST_REQUIRE((uintptr_t)arg % 16 == 0);
    for (size_t i = 0; i < n; i++) {
        WS_TEST_REQUIRE(copy[i] == (unsigned char)(n + i));
        copy[i] = 0xEE; /* it is ours */
    }
    test_add(&bytes, n);
    test_add(&runs, 1);
    return 0;
}

static int check_copy_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return check_copy(arg);
}

/* Fills the first bytes; the first one says how many. */
static size_t fill(unsigned char *buffer, size_t size)
{
    size_t n = size < 100 ? size : 100;
    for (size_t i = 0; i < n; i++) {
        buffer[i] = (unsigned char)(n + i);
    }
    return n;
}

typedef struct {
    ws_pool *pool;
    uint64_t expected;
} copying;

static int spawn_copies(struct ws_scope *scope, void *arg)
{
    copying *c = arg;
    unsigned char buffer[SIZE_MAX_TESTED];
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        if (sizes[k] == 0) {
            continue;
        }
        c->expected += fill(buffer, sizes[k]);
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, check_copy_in_scope, buffer,
                                            sizes[k]) == WS_OK);
        c->expected += fill(buffer, sizes[k]);
        WS_TEST_REQUIRE(ws_spawn_copy(c->pool, check_copy, buffer, sizes[k]) ==
                        WS_OK);
        memset(buffer, 0, sizeof(buffer));
    }
    return 0;
}

static void check_copies(ws_pool *pool, unsigned flags)
{
    const size_t rounds = ws_test_scale(200);
    copying c = {pool, 0};
    test_set(&runs, 0);
    test_set(&bytes, 0);
    for (size_t i = 0; i < rounds; i++) {
        assert_int_equal(ws_scope_in(pool, flags, spawn_copies, &c), 0);
    }
    test_await(&runs, rounds * 14);
    assert_int_equal(test_get(&bytes), c.expected);
}

static void every_size_is_copied(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (unsigned flags = 0; flags <= 7; flags++) {
            check_copies(pool, flags);
        }
        test_destroy(pool);
    }
}

static int count(void *arg)
{
    (void)arg;
    test_add(&runs, 1);
    return 0;
}

static int count_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return count(arg);
}

static int spawn_empty(struct ws_scope *scope, void *arg)
{
    (void)arg;
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, count_in_scope, NULL, 0) ==
                    WS_OK);
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, count_in_scope, NULL, 1) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, NULL, "", 1) == WS_EINVAL);
    return 0;
}

static void nothing_can_be_copied(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    test_set(&runs, 0);
    assert_int_equal(ws_scope_in(pool, 0, spawn_empty, NULL), 0);
    assert_int_equal(ws_spawn_copy(pool, count, NULL, 0), WS_OK);
    assert_int_equal(ws_spawn_copy(pool, count, NULL, 1), WS_EINVAL);
    assert_int_equal(ws_spawn_copy(pool, NULL, "", 1), WS_EINVAL);
    assert_int_equal(ws_scope_spawn_copy(NULL, count_in_scope, "", 1),
                     WS_EINVAL);
    test_destroy(pool);
    assert_int_equal(test_get(&runs), 2);
}

/* ---- memory ---------------------------------------------------------- */

static test_counter memory_is_out;
static test_counter allocations;

static void *alloc_or_not(size_t align, size_t size)
{
    test_add(&allocations, 1);
    return test_get(&memory_is_out) ? NULL : wsi_mem_alloc_real(align, size);
}

/* Until the caches are empty and beyond. */
static int spawn_starving(struct ws_scope *scope, void *arg)
{
    unsigned char buffer[200];
    uint64_t *spawned = arg;
    test_set(&memory_is_out, 1);
    for (int i = 0; i < 5000; i++) {
        fill(buffer, 96);
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, check_copy_in_scope, buffer,
                                            96) == WS_OK);
        fill(buffer, 99);
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, check_copy_in_scope, buffer,
                                            99) == WS_ENOMEM);
        ++*spawned;
    }
    WS_TEST_REQUIRE(ws_spawn_copy(NULL, check_copy, buffer, 99) == WS_ENOMEM);
    test_set(&memory_is_out, 0);
    return 0;
}

static void out_of_memory_runs_small_ones_at_once(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_or_not;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.max_spares = WS_NO_SPARES;
    ws_pool *pool = test_pool_with(&config);
    uint64_t spawned = 0;
    test_set(&runs, 0);
    assert_int_equal(ws_scope_in(pool, 0, spawn_starving, &spawned), 0);
    assert_int_equal(test_get(&runs), spawned);
    test_destroy(pool);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static int spawn_many(struct ws_scope *scope, void *arg)
{
    unsigned char buffer[96];
    (void)arg;
    for (int i = 0; i < 10000; i++) {
        fill(buffer, 96);
        ws_scope_spawn_copy(scope, check_copy_in_scope, buffer, 96);
    }
    return 0;
}

static void small_ones_allocate_once_in_a_thousand(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_or_not;
    ws_pool *pool = test_pool(1, WS_WAIT_ANY);
    test_set(&allocations, 0);
    assert_int_equal(ws_scope_in(pool, 0, spawn_many, NULL), 0);
    /* The deque has doubled six times. */
    assert_in_range(test_get(&allocations), 1, 10 + 6);
    test_set(&allocations, 0);
    assert_int_equal(ws_scope_in(pool, 0, spawn_many, NULL), 0);
    assert_int_equal(test_get(&allocations), 0);
    test_destroy(pool);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_is_copied),
    cmocka_unit_test(nothing_can_be_copied),
    cmocka_unit_test(out_of_memory_runs_small_ones_at_once),
    cmocka_unit_test(small_ones_allocate_once_in_a_thousand),
};
WS_TEST_MAIN(tests)
