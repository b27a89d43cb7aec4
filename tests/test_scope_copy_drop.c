/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_copy_drop.c: copies with an owner: each is run or dropped, once.
 */
#include "support/pools.h"

typedef struct {
    uint64_t *live; /* what the copy owns */
    char more[200];
} parcel;

static test_counter runs;
static test_counter drops;
static test_counter allocations;
static uint64_t fail_from;

static int run(struct ws_scope *scope, void *arg)
{
    const parcel *p = arg;
    (void)scope;
    free(p->live);
    test_add(&runs, 1);
    return 0;
}

static int run_and_fail(struct ws_scope *scope, void *arg)
{
    run(scope, arg);
    return 9;
}

static void drop(void *arg)
{
    const parcel *p = arg;
    free(p->live);
    test_add(&drops, 1);
}

static int spawn_many(struct ws_scope *scope, void *arg)
{
    const size_t *size = arg;
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 100; i++) {
        parcel p = {.live = malloc(8)};
        int code = ws_scope_spawn_copy_or_drop(
            scope, i == 50 ? run_and_fail : run, &p, *size, drop);
        if (code == WS_ENOMEM) {
            free(p.live);
            refused++;
        } else {
            WS_TEST_REQUIRE(code == WS_OK);
        }
    }
    WS_TEST_REQUIRE(*size > 96 || refused == 0);
    test_add(&runs, refused);
    return 0;
}

static void *alloc_or_not(size_t align, size_t size)
{
    return test_add(&allocations, 1) >= fail_from
               ? NULL
               : wsi_mem_alloc_real(align, size);
}

static void check(ws_pool *pool)
{
    static size_t sizes[] = {sizeof(uint64_t *), 96, sizeof(parcel)};
    for (unsigned i = 0; i < 24; i++) {
        const unsigned flags = i % 8;
        test_set(&runs, 0);
        test_set(&drops, 0);
        int code = ws_scope_in(pool, flags, spawn_many, &sizes[i / 8]);
        assert_int_equal(test_get(&runs) + test_get(&drops), 100);
        if (fail_from == UINT64_MAX) {
            assert_int_equal(code, 9);
        }
        if ((flags & WS_SCOPE_FAIL_FAST) == 0) {
            assert_int_equal(test_get(&drops), 0);
        }
    }
}

static void each_copy_is_run_or_dropped(void **state)
{
    (void)state;
    fail_from = UINT64_MAX;
    test_in_each_pool(check);
}

static void also_without_memory(void **state)
{
    (void)state;
    for (uint64_t i = 1; i < 5; i++) {
        ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
        /* Warm: entering the pool needs no memory. */
        fail_from = UINT64_MAX;
        check(pool);
        test_set(&allocations, 0);
        fail_from = i;
        wsi_port_ops.mem_alloc = alloc_or_not;
        check(pool);
        wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
        test_destroy(pool);
    }
}

static int refuse(struct ws_scope *scope, void *arg)
{
    parcel p = {NULL, {0}};
    (void)arg;
    WS_TEST_REQUIRE(ws_scope_spawn_copy_or_drop(NULL, run, &p, 8, drop) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_spawn_copy_or_drop(scope, NULL, &p, 8, drop) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_spawn_copy_or_drop(scope, run, NULL, 8, drop) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_spawn_copy_or_drop(scope, run, &p, 8, NULL) ==
                    WS_EINVAL);
    return 0;
}

static void check_refused(ws_pool *pool)
{
    assert_int_equal(ws_scope_in(pool, 0, refuse, NULL), 0);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    test_in_pools_of(1, check_refused);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_copy_is_run_or_dropped),
    cmocka_unit_test(also_without_memory),
    cmocka_unit_test(nonsense_is_refused),
};
WS_TEST_MAIN(tests)
