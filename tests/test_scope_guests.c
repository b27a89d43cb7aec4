/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_guests.c: jobs that come into a scope from outside its pool:
 * they are found also when all workers wait, and leave nothing behind.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

static test_counter runs;
static test_counter allocations;

static void *alloc_counted(size_t align, size_t size)
{
    test_add(&allocations, 1);
    return wsi_mem_alloc_real(align, size);
}

static int run_guest(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    test_add(&runs, 1);
    return 0;
}

static void drop_nothing(void *arg)
{
    (void)arg;
}

static void spawn_as(unsigned form, struct ws_scope *scope)
{
    char bytes[96] = {0};
    int code =
        form == 0 ? ws_scope_spawn(scope, run_guest, NULL)
        : form == 1
            ? ws_scope_spawn_copy(scope, run_guest, bytes, sizeof(bytes))
            : ws_scope_spawn_or_drop(scope, run_guest, NULL, drop_nothing);
    WS_TEST_REQUIRE(code == WS_OK);
}

/* ---- all workers wait ------------------------------------------------ */

typedef struct side side;

struct side {
    ws_pool *home;
    side *other;
    unsigned flags;
    uint64_t depth; /* so many scopes are in each other */
    test_counter *met;
};

static int open_in_other(void *arg);

static int go_back(struct ws_scope *scope, void *arg)
{
    side *s = arg;
    (void)scope;
    test_add(&runs, 1);
    if (s->depth == 0) {
        return 0;
    }
    side here = {s->other->home, &(side){.home = s->home}, s->flags,
                 s->depth - 1, NULL};
    return open_in_other(&here);
}

static int feed_other(struct ws_scope *scope, void *arg)
{
    side *s = arg;
    if (s->met != NULL) {
        /* Both workers are taken. */
        test_add(s->met, 1);
        test_await(s->met, 2);
    }
    for (int i = 0; i < 3; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn(scope, go_back, s) == WS_OK);
    }
    return 0;
}

static int open_in_other(void *arg)
{
    side *s = arg;
    return ws_scope_in(s->other->home, s->flags | WS_SCOPE_IN_PLACE, feed_other,
                       s);
}

static void *start_side(void *arg)
{
    side *s = arg;
    WS_TEST_REQUIRE(ws_pool_install(s->home, open_in_other, s) == 0);
    return NULL;
}

static ws_pool *pool_of_one(unsigned policy, unsigned max_depth)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.wait_policy = policy;
    config.max_depth = max_depth;
    config.max_spares = WS_NO_SPARES;
    return test_pool_with(&config);
}

/* With one worker each and no spare, what they wait for must run on them. */
static void check_crosswise(unsigned policy, unsigned max_depth, uint64_t depth)
{
    for (unsigned flags = 0; flags <= 3; flags++) {
        test_counter met = {0};
        side a = {pool_of_one(policy, max_depth), NULL, flags, depth, &met};
        side b = {pool_of_one(policy, max_depth), &a, flags, depth, &met};
        a.other = &b;
        test_set(&runs, 0);
        pthread_t threads[] = {test_thread(start_side, &a),
                               test_thread(start_side, &b)};
        test_join_thread(threads[0]);
        test_join_thread(threads[1]);
        uint64_t expected = 0;
        for (uint64_t i = 0, level = 6; i <= depth; i++, level *= 3) {
            expected += level;
        }
        assert_int_equal(test_get(&runs), expected);
        test_destroy(a.home);
        test_destroy(b.home);
    }
}

static void pools_that_open_scopes_in_each_other_go_on(void **state)
{
    (void)state;
    check_crosswise(WS_WAIT_SUBTREE, 0, 0);
    check_crosswise(WS_WAIT_ANY, 0, 0);
}

static void so_they_do_without_room_on_the_stack(void **state)
{
    (void)state;
    check_crosswise(WS_WAIT_ANY, 1, 0);
    check_crosswise(WS_WAIT_SUBTREE, 1, 0);
}

static void so_they_do_scope_in_scope(void **state)
{
    (void)state;
    check_crosswise(WS_WAIT_SUBTREE, 0, 4);
    check_crosswise(WS_WAIT_ANY, 0, 4);
}

/* ---- what it costs --------------------------------------------------- */

typedef struct {
    struct ws_scope *scope;
    size_t n;
    unsigned form;
    size_t backlog; /* at most so many are queued */
} stream;

static void *feed(void *arg)
{
    stream *s = arg;
    for (size_t i = 0; i < s->n; i++) {
        spawn_as(s->form, s->scope);
        if (i >= s->backlog) {
            test_await(&runs, i - s->backlog);
        }
    }
    return NULL;
}

static int host(struct ws_scope *scope, void *arg)
{
    stream *s = arg;
    s->scope = scope;
    test_join_thread(test_thread(feed, s));
    return 0;
}

/* The allocations of one scope that is fed by one foreign thread. */
static uint64_t count_allocations(ws_pool *pool, unsigned flags, stream s)
{
    test_set(&runs, 0);
    test_set(&allocations, 0);
    assert_int_equal(ws_scope_in(pool, flags, host, &s), 0);
    assert_int_equal(test_get(&runs), s.n);
    return test_get(&allocations);
}

/* Also when nothing is taken before all are there (one worker). */
static void spawns_allocate_once_in_a_thousand(void **state)
{
    (void)state;
    const size_t n = ws_test_scale(100000);
    wsi_port_ops.mem_alloc = alloc_counted;
    for (unsigned workers = 1; workers <= 2; workers++) {
        for (unsigned flags = 0; flags <= 7; flags++) {
            for (unsigned form = 0; form < 3; form++) {
                ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
                stream s = {.n = n, .form = form, .backlog = n};
                assert_in_range(count_allocations(pool, flags, s), 1,
                                n / 1000 + 10);
                test_destroy(pool);
            }
        }
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void check_stream(ws_pool *pool)
{
    const stream s = {.n = ws_test_scale(100000), .backlog = 100};
    for (unsigned flags = 0; flags <= 7; flags++) {
        /* The body waits for the thread, so others must run the jobs. */
        if (ws_pool_num_workers(pool) > 1 || (flags & WS_SCOPE_IN_PLACE)) {
            assert_in_range(count_allocations(pool, flags, s), 0, 20);
        }
    }
}

static void long_stream_leaves_nothing_behind(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_counted;
    test_in_each_pool(check_stream);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* ---- many small scopes ----------------------------------------------- */

enum {
    FEEDERS = 3
};

static int host_many(struct ws_scope *scope, void *arg)
{
    stream s[FEEDERS];
    pthread_t threads[FEEDERS];
    unsigned form = *(unsigned *)arg;
    for (unsigned i = 0; i < FEEDERS; i++) {
        s[i] = (stream){scope, 4, (form + i) % 3, 4};
        threads[i] = test_thread(feed, &s[i]);
    }
    /* Some are still at it while the body waits. */
    WS_TEST_REQUIRE(form % 2 == 0 || ws_scope_wait(scope) == WS_OK);
    for (unsigned i = 0; i < FEEDERS; i++) {
        test_join_thread(threads[i]);
    }
    return 0;
}

typedef struct {
    ws_pool *pool;
    unsigned flags;
    unsigned form;
} opening;

static int open_and_host(void *arg)
{
    opening *o = arg;
    return ws_scope_in(o->pool, o->flags, host_many, &o->form);
}

/* The scope ends while its inbox is still queued, or just before. */
static void check_ends(ws_pool *pool)
{
    const unsigned rounds = (unsigned)ws_test_scale(60);
    ws_pool *home = test_pool(1, WS_WAIT_DEFAULT);
    for (unsigned flags = 0; flags <= 7; flags++) {
        for (unsigned i = 0; i < rounds; i++) {
            opening o = {pool, flags, i};
            test_set(&runs, 0);
            assert_int_equal(i % 2 ? open_and_host(&o)
                                   : ws_pool_install(home, open_and_host, &o),
                             0);
            assert_int_equal(test_get(&runs), FEEDERS * 4);
            test_reuse_stack();
        }
    }
    test_destroy(home);
}

static void scope_ends_under_its_inbox(void **state)
{
    (void)state;
    test_in_each_pool(check_ends);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pools_that_open_scopes_in_each_other_go_on),
    cmocka_unit_test(so_they_do_without_room_on_the_stack),
    cmocka_unit_test(so_they_do_scope_in_scope),
    cmocka_unit_test(spawns_allocate_once_in_a_thousand),
    cmocka_unit_test(long_stream_leaves_nothing_behind),
    cmocka_unit_test(scope_ends_under_its_inbox),
};
WS_TEST_MAIN(tests)
