/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_for_modes.c: loops in one piece per worker, slots for scratch, and the
 * largest range.
 */
#include "support/pools.h"

/* ---- static ---------------------------------------------------------- */

static int note_worker(size_t begin, size_t end, void *arg)
{
    int *workers = arg;
    for (size_t i = begin; i < end; i++) {
        workers[i] = ws_current_index();
    }
    return 0;
}

static int run_static(void *arg)
{
    int *workers = arg;
    ws_for_opts o = WS_FOR_OPTS_INIT;
    o.flags = WS_FOR_STATIC;
    return ws_for(0, 1000, &o, note_worker, workers);
}

static void check_static(ws_pool *pool)
{
    int workers[1000];
    size_t each = 1000 / ws_pool_num_workers(pool);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(ws_pool_install(pool, run_static, workers), 0);
        for (size_t i = 0; i < 1000; i++) {
            assert_int_equal(workers[i], i / each);
        }
    }
}

static void static_pieces_stay_with_their_worker(void **state)
{
    (void)state;
    test_in_each_pool(check_static);
}

/* ---- slots ----------------------------------------------------------- */

typedef struct {
    test_counter users[64];
    unsigned slots;
    bool on_top; /* bodies may run on top of each other */
} scratch;

static int use_slot(size_t begin, size_t end, void *arg)
{
    scratch *s = arg;
    unsigned slot = (unsigned)ws_for_slot();
    (void)begin;
    (void)end;
    WS_TEST_REQUIRE(slot < (s->on_top ? 64 : s->slots));
    WS_TEST_REQUIRE(test_add(&s->users[slot], 1) == 0);
    if (s->on_top && slot < 32) {
        ws_yield_now();
    }
    wsi_thread_yield();
    WS_TEST_REQUIRE(ws_for_slot() == (int)slot);
    WS_TEST_REQUIRE(test_add(&s->users[slot], UINT64_MAX) == 1);
    return 0;
}

static int run_with_slots(void *arg)
{
    scratch *s = arg;
    ws_for_opts o = WS_FOR_OPTS_INIT;
    s->slots = ws_worker_slots();
    o.flags = WS_FOR_SLOTS;
    for (o.max_grain = 0; o.max_grain <= 1; o.max_grain++) {
        WS_TEST_REQUIRE(ws_for(0, 200, &o, use_slot, s) == 0);
    }
    WS_TEST_REQUIRE(ws_for_slot() == -1);
    return 0;
}

static void check_slots(ws_pool *pool)
{
    scratch s = {.on_top = false};
    assert_int_equal(ws_pool_install(pool, run_with_slots, &s), 0);
    s.on_top = true;
    assert_int_equal(ws_pool_install(pool, run_with_slots, &s), 0);
}

static void slot_is_used_by_one_body_at_a_time(void **state)
{
    (void)state;
    test_in_each_pool(check_slots);
}

/* ---- the largest range ----------------------------------------------- */

typedef struct {
    test_counter sum; /* of the lengths */
    test_counter blocks;
} vast;

static int add_length(size_t begin, size_t end, void *arg)
{
    vast *v = arg;
    test_add(&v->sum, end - begin);
    test_add(&v->blocks, 1);
    return 0;
}

static int run_vast(void *arg)
{
    ws_for_opts o = WS_FOR_OPTS_INIT;
    o.max_grain = SIZE_MAX / 4;
    return ws_for(0, SIZE_MAX, &o, add_length, arg);
}

static int run_vast_by_default(void *arg)
{
    return ws_for(0, SIZE_MAX, NULL, add_length, arg);
}

static void check_vast(ws_pool *pool)
{
    vast v = {{0}, {0}};
    assert_int_equal(ws_pool_install(pool, run_vast_by_default, &v), 0);
    assert_int_equal(test_get(&v.sum), SIZE_MAX);
}

static void largest_range_needs_no_grain(void **state)
{
    (void)state;
    test_in_each_pool(check_vast);
}

static void largest_range_is_cut_as_well(void **state)
{
    (void)state;
    vast v = {{0}, {0}};
    ws_pool *pool = test_pool(2, WS_WAIT_DEFAULT);
    assert_int_equal(ws_pool_install(pool, run_vast, &v), 0);
    assert_int_equal(test_get(&v.sum), SIZE_MAX);
    assert_true(test_get(&v.blocks) >= 5);
    test_destroy(pool);
}

/* ---- blocks of a short range ----------------------------------------- */

/* The body costs nothing, so each block is as long as a block may be. */
static int check_length(size_t begin, size_t end, void *arg)
{
    size_t n = *(const size_t *)arg;
    WS_TEST_REQUIRE(end - begin <= n * n / 1024 + 1);
    return 0;
}

static int run_short(void *arg)
{
    static size_t lengths[] = {32, 33, 64, 100, 257, 700, 1023};
    (void)arg;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        WS_TEST_REQUIRE(
            ws_for(0, lengths[i], NULL, check_length, &lengths[i]) == 0);
    }
    return 0;
}

static void check_short(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, run_short, NULL), 0);
    assert_int_equal(run_short(NULL), 0);
}

static void cheap_front_does_not_make_one_block_of_the_rest(void **state)
{
    (void)state;
    test_in_each_pool(check_short);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cheap_front_does_not_make_one_block_of_the_rest),
    cmocka_unit_test(largest_range_needs_no_grain),
    cmocka_unit_test(static_pieces_stay_with_their_worker),
    cmocka_unit_test(slot_is_used_by_one_body_at_a_time),
    cmocka_unit_test(largest_range_is_cut_as_well),
};
WS_TEST_MAIN(tests)
