/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_memory.c: scopes where memory is out: each job runs once all the
 * same, on the thread that spawns it, in order, and counted.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>

static int refuse_thread(pthread_t *out, const pthread_attr_t *attr,
                         wsi_thread_fn fn, void *arg)
{
    (void)out;
    (void)attr;
    (void)fn;
    (void)arg;
    return EAGAIN;
}

static int set_up(void **state)
{
    (void)state;
    test_set(&test_memory_is_out, 0);
    wsi_port_ops.mem_alloc = test_alloc_or_not;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    return 0;
}

/* Calls fn on a thread that is no worker. */
static void elsewhere(void *(*fn)(void *), void *arg)
{
    test_join_thread(test_thread(fn, arg));
}

/* ---- waiting inside an inline job ------------------------------------ */

typedef struct {
    struct ws_scope *scope;
    bool foreign; /* the spawner */
    test_counter runs;
    test_counter refused;
} waiter;

static int wait_inside(struct ws_scope *scope, void *arg)
{
    waiter *w = arg;
    test_add(&w->refused, ws_scope_wait(scope) == WS_EINVAL);
    test_add(&w->refused, ws_scope_wait_until(scope, 0) == WS_EINVAL);
    test_add(&w->runs, 1);
    return 0;
}

static void drop_waiter(void *arg)
{
    (void)arg;
    ws_test_fail(__FILE__, __LINE__, "nothing is dropped here");
}

static void *spawn_waiters(void *arg)
{
    waiter *w = arg;
    ws_scope_spawn(w->scope, wait_inside, w);
    test_set(&test_memory_is_out, 1);
    for (int i = 0; i < 5; i++) {
        ws_scope_spawn(w->scope, wait_inside, w);
        ws_scope_spawn_or_drop(w->scope, wait_inside, w, drop_waiter);
    }
    test_set(&test_memory_is_out, 0);
    return NULL;
}

static int host_waiters(struct ws_scope *scope, void *arg)
{
    waiter *w = arg;
    w->scope = scope;
    if (w->foreign) {
        elsewhere(spawn_waiters, w);
    } else {
        spawn_waiters(w);
    }
    WS_TEST_REQUIRE(ws_scope_wait(scope) == WS_OK);
    return 0;
}

static void check_waiters(ws_pool *pool, unsigned flags)
{
    for (unsigned foreign = 0; foreign < 2; foreign++) {
        waiter w = {.foreign = foreign};
        assert_int_equal(ws_scope_in(pool, flags, host_waiters, &w), 0);
        assert_int_equal(test_get(&w.runs), 11);
        assert_int_equal(test_get(&w.refused), 22);
    }
}

static void wait_in_an_inline_job_is_refused(void **state)
{
    (void)state;
    for (unsigned policy = WS_WAIT_ANY; policy <= WS_WAIT_SUBTREE; policy++) {
        for (unsigned flags = 0; flags <= 7; flags++) {
            /* A new one each time: no node has been used before. */
            ws_pool *pool = test_pool_near_wrap(1, policy, 2);
            check_waiters(pool, flags);
            test_destroy(pool);
        }
    }
}

static void wait_in_a_job_is_refused_where_no_pool_is_had(void **state)
{
    (void)state;
    wsi_port_ops.thread_create = refuse_thread;
    for (unsigned flags = 0; flags <= 7; flags++) {
        check_waiters(NULL, flags);
    }
    wsi_port_ops.thread_create = pthread_create;
}

/* ---- counted --------------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    struct ws_scope *scope;
    test_counter started;
    test_counter returned;
    pthread_t guest;
} slow;

/* Ends after the scope does, if the scope does not wait for it. */
static int outlast(struct ws_scope *scope, void *arg)
{
    slow *s = arg;
    (void)scope;
    test_set(&s->started, 1);
    while (!test_get(&s->returned) && !test_sleeps(s->pool, 0)) {
        wsi_thread_yield();
    }
    return 5;
}

static void *spawn_slow(void *arg)
{
    slow *s = arg;
    test_set(&test_memory_is_out, 1);
    WS_TEST_REQUIRE(ws_scope_spawn(s->scope, outlast, s) == WS_OK);
    test_set(&test_memory_is_out, 0);
    return NULL;
}

static int leave_guest_behind(struct ws_scope *scope, void *arg)
{
    slow *s = arg;
    s->scope = scope;
    s->guest = test_thread(spawn_slow, s);
    test_await(&s->started, 1);
    return 0;
}

static void scope_waits_for_an_inline_job_of_another_thread(void **state)
{
    (void)state;
    for (unsigned policy = WS_WAIT_ANY; policy <= WS_WAIT_SUBTREE; policy++) {
        for (unsigned flags = 0; flags <= 3; flags++) {
            slow s = {.pool = test_pool(1, policy)};
            assert_int_equal(ws_scope_in(s.pool, flags, leave_guest_behind, &s),
                             5);
            test_set(&s.returned, 1);
            test_join_thread(s.guest);
            test_destroy(s.pool);
        }
    }
}

/* ---- start order ----------------------------------------------------- */

enum {
    QUEUE = 2300 /* more than the first chunk has nodes for */
};

typedef struct {
    struct ws_scope *scope;
    uint64_t since; /* no memory from this job on */
    test_counter started;
} queue;

typedef struct {
    queue *q;
    uint64_t number;
} place;

static int run_in_turn(struct ws_scope *scope, void *arg)
{
    const place *p = arg;
    (void)scope;
    WS_TEST_REQUIRE(test_add(&p->q->started, 1) == p->number);
    return 0;
}

static void *spawn_queue(void *arg)
{
    static place places[QUEUE];
    queue *q = arg;
    for (uint64_t i = 0; i < QUEUE; i++) {
        places[i] = (place){q, i};
        if (i == q->since) {
            test_set(&test_memory_is_out, 1);
        }
        WS_TEST_REQUIRE(ws_scope_spawn(q->scope, run_in_turn, &places[i]) ==
                        WS_OK);
    }
    test_set(&test_memory_is_out, 0);
    return NULL;
}

static int host_queue(struct ws_scope *scope, void *arg)
{
    ((queue *)arg)->scope = scope;
    spawn_queue(arg);
    return 0;
}

/* With one worker, which is here. */
static void fifo_order_holds(void **state)
{
    (void)state;
    static const uint64_t sinces[] = {0, 1, 2, 7, 200, QUEUE - 1};
    for (unsigned policy = WS_WAIT_ANY; policy <= WS_WAIT_SUBTREE; policy++) {
        for (int i = 0; i < 6; i++) {
            ws_pool *pool = test_pool_near_wrap(1, policy, 2);
            queue q = {.since = sinces[i]};
            assert_int_equal(ws_scope_in(pool, WS_SCOPE_FIFO, host_queue, &q),
                             0);
            assert_int_equal(test_get(&q.started), QUEUE);
            test_destroy(pool);
        }
    }
}

/* ---- owners ---------------------------------------------------------- */

typedef struct {
    struct ws_scope *scope;
    bool foreign;
    uint64_t fails; /* this job does */
    uint64_t since; /* no memory from this job on */
    test_counter ends[QUEUE];
    test_counter ran;
    test_counter dropped;
} estate;

typedef struct {
    estate *e;
    uint64_t number;
} heir;

static void end_once(heir *h)
{
    WS_TEST_REQUIRE(test_add(&h->e->ends[h->number], 1) == 0);
}

static int inherit(struct ws_scope *scope, void *arg)
{
    heir *h = arg;
    (void)scope;
    end_once(h);
    test_add(&h->e->ran, 1);
    return h->number == h->e->fails ? 9 : 0;
}

static void disinherit(void *arg)
{
    heir *h = arg;
    end_once(h);
    test_add(&h->e->dropped, 1);
}

static void *bequeath(void *arg)
{
    static heir heirs[QUEUE];
    estate *e = arg;
    for (uint64_t i = 0; i < QUEUE; i++) {
        heirs[i] = (heir){e, i};
        if (i == e->since) {
            test_set(&test_memory_is_out, 1);
        }
        WS_TEST_REQUIRE(ws_scope_spawn_or_drop(e->scope, inherit, &heirs[i],
                                               disinherit) == WS_OK);
    }
    test_set(&test_memory_is_out, 0);
    return NULL;
}

static int host_estate(struct ws_scope *scope, void *arg)
{
    estate *e = arg;
    e->scope = scope;
    if (e->foreign) {
        elsewhere(bequeath, e);
    } else {
        bequeath(e);
    }
    return 0;
}

static void each_argument_is_owned_once(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 1, QUEUE / 2, QUEUE - 1, QUEUE};
    for (unsigned i = 0; i < 2 * 5 * 5; i++) {
        for (unsigned flags = 0; flags <= 7; flags++) {
            static estate e;
            memset(&e, 0, sizeof(e));
            e.foreign = i % 2 != 0;
            e.since = numbers[i / 2 % 5];
            e.fails = numbers[i / 10];
            ws_pool *pool = test_pool_near_wrap(1 + i % 3, i / 2 % 2 + 1, 2);
            int code = ws_scope_in(pool, flags, host_estate, &e);
            assert_int_equal(test_get(&e.ran) + test_get(&e.dropped), QUEUE);
            if ((flags & WS_SCOPE_FAIL_FAST) == 0 || e.fails == QUEUE) {
                assert_int_equal(test_get(&e.dropped), 0);
            }
            assert_int_equal(code, e.fails < QUEUE ? 9 : 0);
            test_destroy(pool);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(wait_in_an_inline_job_is_refused, set_up,
                                    tear_down),
    cmocka_unit_test_setup_teardown(
        wait_in_a_job_is_refused_where_no_pool_is_had, set_up, tear_down),
    cmocka_unit_test_setup_teardown(
        scope_waits_for_an_inline_job_of_another_thread, set_up, tear_down),
    cmocka_unit_test_setup_teardown(fifo_order_holds, set_up, tear_down),
    cmocka_unit_test_setup_teardown(each_argument_is_owned_once, set_up,
                                    tear_down),
};
WS_TEST_MAIN(tests)
