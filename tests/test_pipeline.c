/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_pipeline.c: streams that reach their end: order, exactly once, the
 * bound, slow and fast stages, where pipelines are called from.
 *
 * ctest: processors 2
 */
#define _GNU_SOURCE 1

#include "support/lines.h"

#include <errno.h>

static const size_t bounds[] = {1, 2, 3, 8, 64};
enum {
    N_BOUNDS = sizeof(bounds) / sizeof(bounds[0])
};

static line *shared_line(void)
{
    static line l;
    return &l;
}

/* ---- every shape ----------------------------------------------------- */

static void check_shape(ws_pool *pool, const char *kinds)
{
    static const uint64_t totals[] = {0, 1, 2, 37};
    line *l = shared_line();
    for (size_t b = 0; b < N_BOUNDS; b++) {
        for (size_t t = 0; t < 4; t++) {
            line_make(l, kinds, bounds[b], totals[t]);
            assert_int_equal(line_run(pool, l), 0);
            line_check_all(l);
        }
    }
}

static void check_shapes(ws_pool *pool)
{
    char kinds[5];
    /* All of one to four stages: digits in base 3. */
    for (size_t n = 1; n <= 4; n++) {
        const unsigned power = n == 1 ? 1 : n == 2 ? 3 : n == 3 ? 9 : 27;
        for (unsigned code = 0; code < 2 * power; code++) {
            unsigned rest = code % power;
            kinds[0] = code < power ? 'S' : 'U';
            for (size_t i = 1; i < n; i++, rest /= 3) {
                kinds[i] = "SPU"[rest % 3];
            }
            kinds[n] = '\0';
            check_shape(pool, kinds);
        }
    }
}

static void each_item_passes_each_stage_once(void **state)
{
    (void)state;
    test_in_each_pool(check_shapes);
}

static void check_many_stages(ws_pool *pool)
{
    uint64_t random = 3;
    line *l = shared_line();
    for (size_t round = ws_test_scale(40); round > 0; round--) {
        line_init(l, 1 + (size_t)(ws_test_random(&random) % 20), ITEMS);
        line_add(l, WS_STAGE_SERIAL);
        while (l->n_stages < STAGES) {
            line_add(l, (unsigned)(ws_test_random(&random) % 3));
        }
        assert_int_equal(line_run(pool, l), 0);
        line_check_all(l);
    }
}

static void many_stages(void **state)
{
    (void)state;
    test_in_each_pool(check_many_stages);
}

static void check_filter(ws_pool *pool)
{
    static const char *const shapes[] = {"SSS", "SPSUPS", "SUSP", "SPP", "SSU"};
    line *l = shared_line();
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        for (size_t b = 0; b < N_BOUNDS; b++) {
            /* Not in the source, where NULL is the end. */
            for (int at = 1; at < (int)strlen(shapes[k]); at++) {
                line_make(l, shapes[k], bounds[b], 101);
                l->filter_stage = at;
                assert_int_equal(line_run(pool, l), 0);
                line_check_all(l);
            }
        }
    }
}

static void stage_takes_items_out(void **state)
{
    (void)state;
    test_in_each_pool(check_filter);
}

static int order_of_a_loop(line *l, size_t s, uint64_t number)
{
    WS_TEST_REQUIRE(test_add(&l->hooks[0], 1) == number * l->n_stages + s);
    return 0;
}

/* One item in flight, or one worker that nobody steals from. */
static void check_serial_order(ws_pool *pool)
{
    line *l = shared_line();
    const bool alone = ws_pool_num_workers(pool) == 1;
    for (size_t b = 0; b < (alone ? N_BOUNDS : 1); b++) {
        line_make(l, "SPUSP", bounds[b], 50);
        l->hook = order_of_a_loop;
        assert_int_equal(line_run(pool, l), 0);
        line_check_all(l);
    }
}

static void serial_equivalent(void **state)
{
    (void)state;
    test_in_each_pool(check_serial_order);
}

/* ---- slow and fast stages: by two workers or more -------------------- */

/* One item is late in stage 1: it waits until all others have been there. */
static int one_is_late(line *l, size_t s, uint64_t number)
{
    if (s == 1 && number == *(const uint64_t *)l->user) {
        test_await(&l->hooks[1], l->total - 1);
    }
    if (s == 1) {
        test_add(&l->hooks[1], 1);
    }
    return 0;
}

static void check_late(ws_pool *pool)
{
    line *l = shared_line();
    for (uint64_t late = 0; late < 5; late++) {
        for (int unordered = 0; unordered < 2; unordered++) {
            /* No more than can be in flight, since the late one keeps all that
             * are behind it from ending. */
            line_make(l, unordered ? "SPUS" : "SPS", 5, 5);
            l->hook = one_is_late;
            l->user = &late;
            assert_int_equal(line_run(pool, l), 0);
            line_check_all(l);
        }
    }
}

static void late_item_holds_up_no_thread(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers *= 2) {
        test_in_pools_of(workers, check_late);
    }
}

/* Item 0 ends last: the others pass it by in an unordered stage. */
static int zero_is_last(line *l, size_t s, uint64_t number)
{
    if (s == 1 && number == 0) {
        test_await(&l->ended, l->total - 1);
    }
    return 0;
}

static void check_overtaking(ws_pool *pool)
{
    line *l = shared_line();
    static const char *const shapes[] = {"SPU", "SP", "UPUP"};
    for (size_t k = 0; k < 3; k++) {
        for (size_t b = 1; b < N_BOUNDS; b++) {
            line_make(l, shapes[k], bounds[b], 200);
            l->hook = zero_is_last;
            assert_int_equal(line_run(pool, l), 0);
            line_check_all(l);
        }
    }
}

static void unordered_stages_let_items_overtake(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers *= 2) {
        test_in_pools_of(workers, check_overtaking);
    }
}

/* The source waits for all that it has made. */
static int slow_source(line *l, size_t s, uint64_t number)
{
    if (s == 0) {
        test_await(&l->ended, number);
    }
    return 0;
}

/* The last stage waits until as many are in flight as may be. */
static int slow_sink(line *l, size_t s, uint64_t number)
{
    if (s + 1 == l->n_stages) {
        const uint64_t all = number + l->max_in_flight;
        test_await(&l->made, all < l->total ? all : l->total);
    }
    return 0;
}

/* The one in the middle waits until there is nothing else to do. */
static int slow_middle(line *l, size_t s, uint64_t number)
{
    if (s == 1) {
        const uint64_t all = number + l->max_in_flight;
        test_await(&l->ended, number);
        test_await(&l->made, all < l->total ? all : l->total);
    }
    return 0;
}

static void check_speeds(ws_pool *pool)
{
    static int (*const hooks[])(line *, size_t, uint64_t) = {
        slow_source, slow_sink, slow_middle};
    line *l = shared_line();
    for (size_t h = 0; h < 3; h++) {
        for (size_t b = 0; b < N_BOUNDS; b++) {
            line_make(l, "SSS", bounds[b], 150);
            l->hook = hooks[h];
            assert_int_equal(line_run(pool, l), 0);
            line_check_all(l);
        }
    }
}

static void slow_stage_between_fast_ones(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 4; workers *= 2) {
        test_in_pools_of(workers, check_speeds);
    }
}

/* As many calls of a parallel stage run at once as there are workers. */
static int meet(line *l, size_t s, uint64_t number)
{
    (void)number;
    if (s == 1) {
        const uint64_t crowd = ws_current_num_workers();
        test_add(&l->hooks[0], 1);
        test_await(&l->hooks[0], crowd);
    }
    return 0;
}

static void check_crowd(ws_pool *pool)
{
    line *l = shared_line();
    line_make(l, "SPS", 4, 4);
    l->hook = meet;
    assert_int_equal(line_run(pool, l), 0);
    line_check_all(l);
}

static void parallel_stage_uses_all_workers(void **state)
{
    (void)state;
    test_in_each_pool(check_crowd);
}

/* ---- where it is called from ----------------------------------------- */

typedef struct {
    ws_pool *pool;
    size_t rounds;
} caller;

static void *call_often(void *arg)
{
    const caller *c = arg;
    line *l = malloc(sizeof(*l));
    WS_TEST_REQUIRE(l != NULL);
    for (size_t i = 0; i < c->rounds; i++) {
        line_make(l, i % 2 != 0 ? "SPS" : "UUPS", 1 + i % 7, 60);
        WS_TEST_REQUIRE(
            (c->pool != NULL ? line_run(c->pool, l) : line_run_here(l)) == 0);
        line_check_all(l);
    }
    free(l);
    return NULL;
}

static void check_several(ws_pool *pool)
{
    caller c = {pool, ws_test_scale(60)};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        threads[i] = test_thread(call_often, &c);
    }
    for (int i = 0; i < 3; i++) {
        test_join_thread(threads[i]);
    }
}

static void several_at_once_from_foreign_threads(void **state)
{
    (void)state;
    test_in_each_pool(check_several);
    check_several(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static int call_twice(void *arg)
{
    call_often(arg);
    return 0;
}

static int nest(line *l, size_t s, uint64_t number)
{
    caller inner = {l->user, 1};
    (void)number;
    return s == 1 ? ws_join(call_twice, &inner, call_twice, &inner) : 0;
}

static void check_nested(ws_pool *pool)
{
    line *l = shared_line();
    ws_pool *other = test_pool(1, WS_WAIT_SUBTREE);
    for (int k = 0; k < 4; k++) {
        line_make(l, k % 2 != 0 ? "SSP" : "SPS", 4, ws_test_scale(100));
        l->hook = nest;
        l->user = k < 2 ? NULL : other;
        assert_int_equal(line_run(pool, l), 0);
        line_check_all(l);
    }
    test_destroy(other);
}

static void nested_in_stages_and_jobs(void **state)
{
    (void)state;
    test_in_each_pool(check_nested);
}

static int until_told(ws_pipeline_item *item, void *arg)
{
    test_counter *told = arg;
    item->data = test_get(&told[1]) ? NULL : arg;
    test_set(&told[0], 1);
    return 0;
}

static int hand_on(ws_pipeline_item *item, void *arg)
{
    (void)item;
    (void)arg;
    return 0;
}

static int run_until_told(void *arg)
{
    const ws_stage stages[] = {{WS_STAGE_SERIAL, until_told, arg, NULL},
                               {WS_STAGE_PARALLEL, hand_on, NULL, NULL},
                               {WS_STAGE_SERIAL, hand_on, NULL, NULL}};
    return ws_pipeline(3, stages, 8);
}

typedef struct {
    ws_pool *pool;
    test_counter told[2];
} endless;

static void *install_endless(void *arg)
{
    endless *e = arg;
    WS_TEST_REQUIRE(ws_pool_install(e->pool, run_until_told, e->told) == 0);
    return NULL;
}

static int tell(void *arg)
{
    test_set(&((endless *)arg)->told[1], 1);
    return 0;
}

/* An endless stream on the only worker: it comes to what is from outside. */
static void stream_starves_nobody(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        endless e = {.pool = test_pool(workers, WS_WAIT_ANY)};
        pthread_t thread = test_thread(install_endless, &e);
        test_await(&e.told[0], 1);
        assert_int_equal(ws_pool_install(e.pool, tell, &e), 0);
        test_join_thread(thread);
        test_destroy(e.pool);
    }
}

/* ---- where nothing can be had ---------------------------------------- */

static int refuse_thread(pthread_t *out, const pthread_attr_t *attr,
                         wsi_thread_fn fn, void *arg)
{
    (void)out;
    (void)attr;
    (void)fn;
    (void)arg;
    return EAGAIN;
}

static void no_pool_can_be_had(void **state)
{
    line *l = shared_line();
    (void)state;
    wsi_port_ops.thread_create = refuse_thread;
    for (size_t b = 0; b < N_BOUNDS; b++) {
        line_make(l, "SPUSP", bounds[b], 50);
        l->hook = order_of_a_loop;
        assert_int_equal(line_run_here(l), 0);
        line_check_all(l);
    }
    wsi_port_ops.thread_create = pthread_create;
}

static void wrong_arguments(void **state)
{
    line *l = shared_line();
    (void)state;
    line_make(l, "SPS", 4, 4);
    assert_int_equal(ws_pipeline(3, NULL, 4), WS_EINVAL);
    assert_int_equal(ws_pipeline(0, l->stages, 4), WS_EINVAL);
    assert_int_equal(ws_pipeline(3, l->stages, 0), WS_EINVAL);
    l->stages[1].kind = 3;
    assert_int_equal(line_run_here(l), WS_EINVAL);
    l->stages[1].kind = WS_STAGE_PARALLEL;
    l->stages[2].fn = NULL;
    assert_int_equal(line_run_here(l), WS_EINVAL);
    line_make(l, "PS", 4, 4);
    assert_int_equal(line_run_here(l), WS_EINVAL);
    assert_int_equal(test_get(&l->made), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_item_passes_each_stage_once),
    cmocka_unit_test(many_stages),
    cmocka_unit_test(stage_takes_items_out),
    cmocka_unit_test(serial_equivalent),
    cmocka_unit_test(late_item_holds_up_no_thread),
    cmocka_unit_test(unordered_stages_let_items_overtake),
    cmocka_unit_test(slow_stage_between_fast_ones),
    cmocka_unit_test(parallel_stage_uses_all_workers),
    cmocka_unit_test(several_at_once_from_foreign_threads),
    cmocka_unit_test(nested_in_stages_and_jobs),
    cmocka_unit_test(stream_starves_nobody),
    cmocka_unit_test(no_pool_can_be_had),
    cmocka_unit_test(wrong_arguments),
};
WS_TEST_MAIN(tests)
