/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_spliter_errors.c: runs of spliters that end early, and memory that is
 * out: each spliter is dropped once.
 */
/* ctest: processors 2 */
#include "support/trees.h"

#include "par/spliter.h"

/* ---- errors ---------------------------------------------------------- */

static int fail_at(void *arg, const node *n, uint64_t index)
{
    const walk *w = arg;
    (void)n;
    return index == w->at ? 77 : 0;
}

static void check_failures(ws_pool *pool)
{
    for (kind k = 0; k < KINDS; k++) {
        walk whole = {.kind = k, .seed = 99};
        const uint64_t n = count_serially(&whole);
        const uint64_t step = n / ws_test_scale(100) + 1;
        for (uint64_t at = 0; at < n; at += step) {
            walk w = {.pool = pool, .kind = k, .seed = 99, .large = at % 2};
            w.hook = fail_at;
            w.at = at;
            assert_int_equal(run(&w), 77);
        }
    }
}

static void first_error_stops_the_run(void **state)
{
    (void)state;
    test_in_each_pool(check_failures);
}

static int fail_beside(void *arg, const node *n, uint64_t index)
{
    walk *w = arg;
    (void)index;
    if (n->kind == STAR) {
        return 0;
    }
    if (test_add(&w->first, 0) == (uint64_t)ws_current_index() + 1) {
        while (!ws_cancelled()) {
            wsi_thread_yield();
        }
        return 0;
    }
    return 78;
}

static void check_seen(ws_pool *pool)
{
    walk w = {.pool = pool, .kind = STAR, .hook = fail_beside, .max_units = 1};
    assert_int_equal(run(&w), 78);
}

static void others_see_the_error(void **state)
{
    (void)state;
    test_in_pools_of(2, check_seen);
}

static int cancel_at(void *arg, const node *n, uint64_t index)
{
    const walk *w = arg;
    (void)n;
    if (index == w->at) {
        ws_token_cancel(w->token);
    }
    return 0;
}

static void check_canceled(ws_pool *pool)
{
    for (kind k = 0; k < KINDS; k++) {
        for (uint64_t at = 0; at < 50; at += 7) {
            walk w = {.pool = pool, .kind = k, .seed = 99, .hook = cancel_at};
            w.at = at;
            w.max_units = 1;
            assert_int_equal(ws_token_create(&w.token), WS_OK);
            assert_int_equal(ws_with_token(w.token, run, &w), WS_ECANCELED);
            ws_token_release(w.token);
        }
    }
}

static void cancellation_stops_the_run(void **state)
{
    (void)state;
    test_in_each_pool(check_canceled);
}

static int cancel_and_run(void *arg)
{
    ws_token_cancel(((walk *)arg)->token);
    return run(arg);
}

static void check_canceled_before(ws_pool *pool)
{
    walk w = {.pool = pool, .kind = STAR};
    assert_int_equal(ws_token_create(&w.token), WS_OK);
    assert_int_equal(ws_with_token(w.token, cancel_and_run, &w), WS_ECANCELED);
    assert_int_equal(test_get(&w.units), 0);
    ws_token_release(w.token);
}

static void canceled_before_it_began(void **state)
{
    (void)state;
    test_in_each_pool(check_canceled_before);
}

/* ---- memory out ------------------------------------------------------ */

static test_counter allocations;
static uint64_t fail_from;
static uint64_t fail_until;

static bool fails(void)
{
    const uint64_t i = test_add(&allocations, 1);
    return i >= fail_from && i < fail_until;
}

static void *pool_alloc(size_t align, size_t size)
{
    return fails() ? NULL : wsi_mem_alloc_real(align, size);
}

static void *par_alloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static void check_without_memory(ws_pool *pool)
{
    for (uint64_t i = 0; i < 30; i++) {
        for (uint64_t many = 0; many < 2; many++) {
            walk w = {.pool = pool, .kind = COMB, .large = i % 3 != 0};
            test_set(&allocations, 0);
            w.max_units = 1;
            fail_from = i;
            fail_until = many ? UINT64_MAX : i + 1;
            wsi_port_ops.mem_alloc = pool_alloc;
            wsi_par_malloc = par_alloc;
            run(&w);
            wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
            wsi_par_malloc = malloc;
            /* The call itself may need memory to enter the pool. */
            assert_true(w.code == WS_ENOMEM || w.code == 0);
            assert_int_equal(test_get(&w.units),
                             w.code == 0 ? count_serially(&w) : 0);
        }
    }
}

static void all_is_done_without_memory(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            /* A fresh one has the fewest records. */
            ws_pool *pool = test_pool(workers, p);
            check_without_memory(pool);
            test_destroy(pool);
        }
    }
}

/* ---- the stack ------------------------------------------------------- */

static test_counter lowest[4];
static test_counter highest[4];

static int note_depth(void *arg, const node *n, uint64_t index)
{
    const uint64_t here = (uintptr_t)__builtin_frame_address(0);
    const int worker = ws_current_index();
    (void)arg;
    (void)n;
    (void)index;
    WS_TEST_REQUIRE(worker >= 0 && worker < 4);
    /* One thread has one index: these are its own. */
    if (here < test_get(&lowest[worker])) {
        test_set(&lowest[worker], here);
    }
    if (here > test_get(&highest[worker])) {
        test_set(&highest[worker], here);
    }
    return 0;
}

static int do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static void check_depth(bool memory)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    config.max_spares = 2;
    ws_pool *pool = test_pool_with(&config);
    for (int i = 0; i < 4; i++) {
        test_set(&lowest[i], UINT64_MAX);
        test_set(&highest[i], 0);
    }
    /* Entering needs no memory now; a record for a job would. */
    assert_int_equal(ws_pool_install(pool, do_nothing, NULL), 0);
    walk w = {.pool = pool, .kind = COMB, .hook = note_depth, .max_units = 1};
    test_set(&allocations, 0);
    fail_from = 0;
    fail_until = memory ? 0 : UINT64_MAX;
    wsi_port_ops.mem_alloc = pool_alloc;
    check_count(&w);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    for (int i = 0; i < 4; i++) {
        const uint64_t low = test_get(&lowest[i]);
        assert_true(low == UINT64_MAX ||
                    test_get(&highest[i]) - low < (uint64_t)64 << 10);
    }
    test_destroy(pool);
}

static void stack_does_not_grow_with_splits(void **state)
{
    (void)state;
    for (size_t i = ws_test_scale(40); i > 0; i--) {
        check_depth(true);
        check_depth(false);
    }
}

/* ---- arguments ------------------------------------------------------- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    walk w = {.kind = STAR};
    front f = {&w, NULL, 0, ALIVE};
    ws_spliter_options options = WS_SPLITER_OPTIONS_INIT;
    assert_int_equal(ws_spliter_run(NULL, &f, NULL), WS_EINVAL);
    assert_int_equal(ws_spliter_run(&small_ops, NULL, NULL), WS_EINVAL);
    for (int i = 0; i < 5; i++) {
        ws_spliter_ops ops = small_ops;
        ops.bytes = i == 0 ? 0 : ops.bytes;
        ops.size = i == 1 ? NULL : ops.size;
        ops.split = i == 2 ? NULL : ops.split;
        ops.advance = i == 3 ? NULL : ops.advance;
        ops.drop = i == 4 ? NULL : ops.drop;
        assert_int_equal(ws_spliter_run(&ops, &f, NULL), WS_EINVAL);
    }
    options.min_units = 2;
    options.max_units = 1;
    assert_int_equal(ws_spliter_run(&small_ops, &f, &options), WS_EINVAL);
    assert_int_equal(test_get(&w.dropped), 0);
    /* An empty one ends at once; an older program knows fewer options. */
    options.struct_size = offsetof(ws_spliter_options, min_units);
    assert_int_equal(ws_spliter_run(&small_ops, &f, &options), 0);
    assert_int_equal(test_get(&w.dropped), 1);
    ws_pool_global_destroy();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(first_error_stops_the_run),
    cmocka_unit_test(others_see_the_error),
    cmocka_unit_test(cancellation_stops_the_run),
    cmocka_unit_test(canceled_before_it_began),
    cmocka_unit_test(all_is_done_without_memory),
    cmocka_unit_test(stack_does_not_grow_with_splits),
    cmocka_unit_test(nonsense_is_refused),
};
WS_TEST_MAIN(tests)
