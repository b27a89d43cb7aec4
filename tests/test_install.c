/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_install.c: ws_pool_install from foreign threads, from the pool itself
 * and from other pools; what a worker knows about itself; the life of the
 * caller's frame and pool.
 *
 * Cases named as rayon-core's are their counterparts.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <signal.h>

/* ---- who am I -------------------------------------------------------- */

static int tell_index(void *arg)
{
    int *index = arg;
    *index = ws_current_index();
    return 0;
}

static void worker_thread_index(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(22, WS_WAIT_DEFAULT);
    int index = -2;
    assert_int_equal(ws_current_index(), -1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ws_pool_install(pool, tell_index, &index), 0);
        assert_in_range(index, 0, 21);
    }
    assert_int_equal(ws_current_index(), -1);
    test_destroy(pool);
}

static int tell_num_workers(void *arg)
{
    (void)arg;
    return (int)ws_current_num_workers();
}

static int tell_num_workers_of(void *arg)
{
    return ws_pool_install(arg, tell_num_workers, NULL);
}

static void current_num_workers(void **state)
{
    (void)state;
    ws_pool *three = test_pool(3, WS_WAIT_ANY);
    ws_pool *five = test_pool(5, WS_WAIT_SUBTREE);
    ws_pool *global = NULL;
    unsigned n = ws_current_num_workers();
    assert_true(n >= 1);
    assert_int_equal(ws_pool_global(&global), WS_OK);
    assert_int_equal(ws_pool_num_workers(global), n);
    assert_int_equal(tell_num_workers_of(three), 3);
    assert_int_equal(tell_num_workers_of(five), 5);
    assert_int_equal(ws_pool_install(three, tell_num_workers_of, five), 5);
    assert_int_equal(ws_pool_install(three, tell_num_workers, NULL), 3);
    /* NULL: the current pool, in a worker its own, elsewhere the global one */
    assert_int_equal(ws_pool_install(three, tell_num_workers_of, NULL), 3);
    assert_int_equal(tell_num_workers_of(NULL), n);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    test_destroy(five);
    test_destroy(three);
}

enum {
    CROWD = 8
};

typedef struct {
    test_counter here;
    test_counter at[CROWD];
} crowd;

static int meet(struct ws_scope *scope, void *arg)
{
    crowd *c = arg;
    (void)scope;
    int index = ws_current_index();
    WS_TEST_REQUIRE(index >= 0 && index < CROWD);
    test_add(&c->at[index], 1);
    test_add(&c->here, 1);
    test_await(&c->here, CROWD);
    return ws_current_index() == index ? 0 : 1;
}

static int gather(struct ws_scope *scope, void *arg)
{
    for (int i = 1; i < CROWD; i++) {
        ws_scope_spawn(scope, meet, arg);
    }
    return meet(scope, arg);
}

static int open_crowd(void *arg)
{
    return ws_scope(gather, arg);
}

/* As many jobs as workers meet: each worker has exactly one. */
static void check_indices(ws_pool *pool)
{
    for (size_t round = ws_test_scale(100); round > 0; round--) {
        crowd c = {.here = {0}};
        assert_int_equal(ws_pool_install(pool, open_crowd, &c), 0);
        for (int i = 0; i < CROWD; i++) {
            assert_int_equal(test_get(&c.at[i]), 1);
        }
    }
}

static void indices_are_dense_and_exclusive(void **state)
{
    (void)state;
    test_in_pools_of(CROWD, check_indices);
}

/* ---- the code, and bad arguments ------------------------------------- */

static int give_back(void *arg)
{
    const int *code = arg;
    return *code;
}

static void check_codes(ws_pool *pool)
{
    static const int codes[] = {0, 1, -1, 77, WS_EFORKED, -1000, 2147483647};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        int code = codes[i];
        assert_int_equal(ws_pool_install(pool, give_back, &code), code);
    }
    assert_int_equal(ws_pool_install(pool, NULL, NULL), WS_EINVAL);
    assert_int_equal(ws_pool_install(NULL, NULL, NULL), WS_EINVAL);
}

static void install_returns_the_code(void **state)
{
    (void)state;
    test_in_each_pool(check_codes);
}

/* ---- into itself and into one another -------------------------------- */

typedef struct {
    ws_pool *pool[2];
    unsigned depth;
    bool sleepy; /* wait until the next pool sleeps, before each step */
    bool moves;  /* to the other pool; else into the same again */
} travel;

static int go_on(void *arg)
{
    travel *t = arg;
    if (t->depth == 0) {
        return 7;
    }
    ws_pool *next = t->pool[t->moves ? t->depth % 2 : 0];
    t->depth--;
    if (t->sleepy) {
        test_await_sleep(next);
    }
    return ws_pool_install(next, go_on, t);
}

static void check_self(ws_pool *pool)
{
    travel t = {.pool = {pool}, .depth = 100};
    assert_int_equal(go_on(&t), 7);
    assert_int_equal(test_totals(pool).jobs, 1);
}

static void self_install(void **state)
{
    (void)state;
    test_in_each_pool(check_self);
}

static void travel_between(unsigned workers, bool sleepy, unsigned depth)
{
    for (unsigned p = 0; p < 4; p++) {
        ws_pool *a = test_pool(workers, WS_WAIT_ANY + p % 2);
        ws_pool *b = test_pool(workers, WS_WAIT_ANY + p / 2);
        travel t = {{a, b}, depth, sleepy, true};
        assert_int_equal(go_on(&t), 7);
        test_destroy(a);
        test_destroy(b);
    }
}

static void mutual_install(void **state)
{
    (void)state;
    travel_between(1, false, 2);
    travel_between(1, false, 100);
    travel_between(2, false, 100);
}

static void mutual_install_sleepy(void **state)
{
    (void)state;
    travel_between(1, true, 2);
    travel_between(1, true, 100);
}

/* ---- many at once ---------------------------------------------------- */

enum {
    CALLERS = 8
};

typedef struct {
    ws_pool *pool;
    ws_pool *via; /* install there, and from there into pool */
    test_counter *sum;
    size_t calls;
} caller;

static int add_one(void *arg)
{
    caller *c = arg;
    test_add(c->sum, 1);
    return 3;
}

static int add_one_via(void *arg)
{
    caller *c = arg;
    return ws_pool_install(c->pool, add_one, c);
}

static void *call_often(void *arg)
{
    caller *c = arg;
    for (size_t i = 0; i < c->calls; i++) {
        int code = c->via != NULL ? ws_pool_install(c->via, add_one_via, c)
                                  : add_one_via(c);
        WS_TEST_REQUIRE(code == 3);
        WS_TEST_REQUIRE(ws_current_index() == -1);
    }
    return NULL;
}

static void call_from_many(ws_pool *pool, ws_pool *via)
{
    test_counter sum = {0};
    pthread_t threads[CALLERS];
    caller c = {pool, via, &sum, ws_test_scale(1000)};
    for (int i = 0; i < CALLERS; i++) {
        threads[i] = test_thread(call_often, &c);
    }
    for (int i = 0; i < CALLERS; i++) {
        test_join_thread(threads[i]);
    }
    assert_int_equal(test_get(&sum), CALLERS * c.calls);
    assert_int_equal(test_totals(pool).jobs, CALLERS * c.calls);
}

static void check_many(ws_pool *pool)
{
    call_from_many(pool, NULL);
}

static void check_many_via_another(ws_pool *pool)
{
    ws_pool *via = test_pool(2, WS_WAIT_ANY);
    call_from_many(pool, via);
    test_destroy(via);
}

static void install_from_many_threads(void **state)
{
    (void)state;
    test_in_each_pool(check_many);
}

static void install_from_many_threads_via_another_pool(void **state)
{
    (void)state;
    test_in_each_pool(check_many_via_another);
}

/* ---- no memory ------------------------------------------------------- */

static test_counter memory_is_out;

static void *alloc_if_any(size_t align, size_t size)
{
    return test_get(&memory_is_out) != 0 ? NULL
                                         : wsi_mem_alloc_real(align, size);
}

static int install_until_refused(void *arg)
{
    caller *c = arg;
    int code = 3;
    test_set(&memory_is_out, 1);
    /* A new segment is needed within a segment's length, unless used ones
     * come back in time: then memory is never missed. */
    for (int i = 0; i < 1000 && code == 3; i++) {
        code = add_one_via(c);
    }
    test_set(&memory_is_out, 0);
    WS_TEST_REQUIRE(code == 3 || code == WS_ENOMEM);
    return code;
}

static void check_memory(ws_pool *pool)
{
    test_counter sum = {0};
    caller c = {.pool = pool, .sum = &sum};
    ws_pool *other = test_pool(1, WS_WAIT_ANY);
    int code = install_until_refused(&c);
    uint64_t runs = test_get(&sum);
    assert_true(code == WS_ENOMEM || runs == 1000);
    /* Refused once means not run, and the next one works. */
    assert_int_equal(add_one_via(&c), 3);
    assert_int_equal(test_get(&sum), runs + 1);
    code = ws_pool_install(other, install_until_refused, &c);
    assert_true(code == WS_ENOMEM || code == 3);
    assert_int_equal(ws_pool_install(other, add_one_via, &c), 3);
    test_destroy(other);
    assert_int_equal(test_totals(pool).jobs, test_get(&sum));
}

static void install_without_memory_is_refused(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_if_any;
    test_in_each_pool(check_memory);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* ---- the caller is gone before the setter ---------------------------- */

typedef struct {
    ws_pool *home; /* the waiter's pool, or NULL: a foreign thread */
    ws_pool *away;
    pthread_t waiter;
    test_counter held;
    test_counter gone;
} farewell;

static farewell *leaving;
static _Thread_local bool hold_me;

/* Stands between the latch's set and its wake until the waiter, woken for
 * another reason, has gone. */
static void hold_setter(wsi_point point, void *latch)
{
    (void)latch;
    if (point != WSI_POINT_LATCH_SET || !hold_me) {
        return;
    }
    hold_me = false;
    test_add(&leaving->held, 1);
    if (leaving->home != NULL) {
        wsi_sleep_wake(&leaving->home->sleep, 0);
    }
    while (test_get(&leaving->gone) == 0) {
        if (leaving->home == NULL) {
            pthread_kill(leaving->waiter, SIGUSR1);
        }
        wsi_thread_yield();
    }
}

static int finish_while_waiter_sleeps(void *arg)
{
    farewell *f = arg;
    if (f->home != NULL) {
        test_await_sleep(f->home);
    }
    hold_me = true;
    return 0;
}

static int wait_elsewhere(void *arg)
{
    farewell *f = arg;
    int code = ws_pool_install(f->away, finish_while_waiter_sleeps, f);
    test_reuse_stack();
    return code;
}

static void setter_outlives_the_pool_of_the_waiter(void **state)
{
    (void)state;
    wsi_port_ops.at_point = hold_setter;
    for (size_t i = ws_test_scale(100); i > 0; i--) {
        unsigned policy = i % 2 == 0 ? WS_WAIT_ANY : WS_WAIT_SUBTREE;
        farewell f = {.home = test_pool(1, policy),
                      .away = test_pool(1, policy)};
        leaving = &f;
        assert_int_equal(ws_pool_install(f.home, wait_elsewhere, &f), 0);
        assert_int_equal(test_get(&f.held), 1);
        test_destroy(f.home);
        test_set(&f.gone, 1);
        test_destroy(f.away);
    }
    wsi_port_ops.at_point = NULL;
}

static void interrupt(int signal_number)
{
    (void)signal_number;
}

static void setter_outlives_the_frame_of_a_foreign_thread(void **state)
{
    (void)state;
#ifdef WSTEAL_PORT_POSIX
    skip(); /* nothing makes its wait return early */
#endif
    struct sigaction action = {.sa_handler = interrupt};
    struct sigaction before;
    size_t held = 0;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    wsi_port_ops.at_point = hold_setter;
    /* Rounds in which the caller did not block yet do not count. */
    while (held < ws_test_scale(100)) {
        farewell f = {.away = test_pool(1, WS_WAIT_ANY)};
        f.waiter = pthread_self();
        leaving = &f;
        assert_int_equal(wait_elsewhere(&f), 0);
        held += (size_t)test_get(&f.held);
        test_set(&f.gone, 1);
        test_destroy(f.away);
    }
    wsi_port_ops.at_point = NULL;
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(worker_thread_index),
    cmocka_unit_test(current_num_workers),
    cmocka_unit_test(indices_are_dense_and_exclusive),
    cmocka_unit_test(install_returns_the_code),
    cmocka_unit_test(self_install),
    cmocka_unit_test(mutual_install),
    cmocka_unit_test(mutual_install_sleepy),
    cmocka_unit_test(install_from_many_threads),
    cmocka_unit_test(install_from_many_threads_via_another_pool),
    cmocka_unit_test(install_without_memory_is_refused),
    cmocka_unit_test(setter_outlives_the_pool_of_the_waiter),
    cmocka_unit_test(setter_outlives_the_frame_of_a_foreign_thread),
};
WS_TEST_MAIN(tests)
