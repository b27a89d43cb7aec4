/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_fifo.c: the order in which the jobs of scopes start: FIFO scopes,
 * and FIFO and LIFO scopes inside each other.
 */
#include "support/pools.h"

#include <limits.h>

/* ---- order on one worker --------------------------------------------- */

enum {
    STEPS_MAX = 128
};

typedef struct {
    int seen[STEPS_MAX];
    int n;
    unsigned inner_flags;
    struct ws_scope *outer;
} record;

typedef struct {
    record *r;
    int value;
} step;

static int note_step(struct ws_scope *scope, void *arg)
{
    const step *s = arg;
    (void)scope;
    WS_TEST_REQUIRE(s->r->n < STEPS_MAX);
    s->r->seen[s->r->n++] = s->value;
    return 0;
}

static void spawn_step(struct ws_scope *scope, record *r, int value)
{
    const step s = {r, value};
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, note_step, &s, sizeof(s)) ==
                    WS_OK);
}

static int spawn_ten(struct ws_scope *scope, void *arg)
{
    const step *s = arg;
    for (int j = 0; j < 10; j++) {
        spawn_step(scope, s->r, 10 * s->value + j);
    }
    return 0;
}

static int inner_of_ten(struct ws_scope *scope, void *arg)
{
    const step *s = arg;
    (void)scope;
    return ws_scope_in(NULL, s->r->inner_flags, spawn_ten, arg);
}

/* Ten jobs in the same scope, or ten scopes. */
static int spawn_tens(struct ws_scope *scope, void *arg)
{
    record *r = arg;
    for (int i = 0; i < 10; i++) {
        const step s = {r, i};
        ws_scope_spawn_copy(
            scope, r->inner_flags == UINT_MAX ? spawn_ten : inner_of_ten, &s,
            sizeof(s));
    }
    return 0;
}

/* Opens `body` in pools of one worker; the steps must come as in expected. */
static void check(unsigned outer, unsigned inner, ws_scope_fn body,
                  const int expected[], int n)
{
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(1, p);
        record r = {.inner_flags = inner};
        assert_int_equal(ws_scope_in(pool, outer, body, &r), 0);
        assert_int_equal(r.n, n);
        for (int i = 0; i < n; i++) {
            assert_int_equal(r.seen[i], expected[i]);
        }
        test_destroy(pool);
    }
}

/* The tens of the steps rise or fall, and within them the ones. */
static void check_tens(unsigned outer, unsigned inner, bool tens_rise,
                       bool ones_rise)
{
    int expected[100];
    for (int i = 0; i < 100; i++) {
        int ten = tens_rise ? i / 10 : 9 - i / 10;
        int one = ones_rise ? i % 10 : 9 - i % 10;
        expected[i] = 10 * ten + one;
    }
    check(outer, inner, spawn_tens, expected, 100);
}

static void fifo_order(void **state)
{
    (void)state;
    check_tens(WS_SCOPE_FIFO, UINT_MAX, true, true);
}

static void nested_fifo_order(void **state)
{
    (void)state;
    check_tens(WS_SCOPE_FIFO, WS_SCOPE_FIFO, true, true);
}

static void nested_lifo_fifo_order(void **state)
{
    (void)state;
    check_tens(0, WS_SCOPE_FIFO, false, true);
}

static void nested_fifo_lifo_order(void **state)
{
    (void)state;
    check_tens(WS_SCOPE_FIFO, 0, true, false);
}

static int spawn_one_by_one(struct ws_scope *scope, void *arg)
{
    record *r = arg;
    for (int i = 0; i < 10; i++) {
        spawn_step(scope, r, i);
    }
    return 0;
}

static void scope_fifo_order(void **state)
{
    static const int expected[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    (void)state;
    check(WS_SCOPE_FIFO, 0, spawn_one_by_one, expected, 10);
    check(WS_SCOPE_FIFO | WS_SCOPE_IN_PLACE, 0, spawn_one_by_one, expected, 10);
}

static void scope_lifo_order(void **state)
{
    static const int expected[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    (void)state;
    check(0, 0, spawn_one_by_one, expected, 10);
}

/* ---- spawns into two scopes in turns --------------------------------- */

static int mix_inner(struct ws_scope *inner, void *arg)
{
    record *r = arg;
    spawn_step(inner, r, -1);
    spawn_step(r->outer, r, 1);
    spawn_step(inner, r, -2);
    spawn_step(r->outer, r, 2);
    spawn_step(inner, r, -3);
    return 0;
}

static int mix(struct ws_scope *outer, void *arg)
{
    record *r = arg;
    r->outer = outer;
    spawn_step(outer, r, 0);
    WS_TEST_REQUIRE(ws_scope_in(NULL, r->inner_flags, mix_inner, r) == 0);
    spawn_step(outer, r, 3);
    return 0;
}

static void check_mixed(unsigned outer, unsigned inner, const int expected[7])
{
    check(outer, inner, mix, expected, 7);
}

static void mixed_lifo_order(void **state)
{
    static const int expected[] = {-3, 2, -2, 1, -1, 3, 0};
    (void)state;
    check_mixed(0, 0, expected);
}

static void mixed_fifo_order(void **state)
{
    static const int expected[] = {-1, 0, -2, 1, -3, 2, 3};
    (void)state;
    check_mixed(WS_SCOPE_FIFO, WS_SCOPE_FIFO, expected);
}

static void mixed_lifo_fifo_order(void **state)
{
    static const int expected[] = {-1, 2, -2, 1, -3, 3, 0};
    (void)state;
    check_mixed(0, WS_SCOPE_FIFO, expected);
}

static void mixed_fifo_lifo_order(void **state)
{
    static const int expected[] = {-3, 0, -2, 1, -1, 2, 3};
    (void)state;
    check_mixed(WS_SCOPE_FIFO, 0, expected);
}

/* ---- job k waits for job k - 1 --------------------------------------- */

typedef struct {
    test_counter ended;
    uint64_t spawned;
} chain;

typedef struct {
    chain *c;
    uint64_t number;
} numbered;

/* The jobs know their numbers: k must not start before k - 1 has. */
static int numbered_link(struct ws_scope *scope, void *arg)
{
    const numbered *link = arg;
    (void)scope;
    test_await(&link->c->ended, link->number);
    test_add(&link->c->ended, 1);
    return 0;
}

static int spawn_chain(struct ws_scope *scope, void *arg)
{
    chain *c = arg;
    for (uint64_t i = 0; i < c->spawned; i++) {
        const numbered link = {c, i};
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, numbered_link, &link,
                                            sizeof(link)) == WS_OK);
    }
    return 0;
}

static void jobs_start_in_the_order_of_their_spawns(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool(workers, p);
            chain c = {.spawned = ws_test_scale(5000)};
            assert_int_equal(ws_scope_in(pool, WS_SCOPE_FIFO, spawn_chain, &c),
                             0);
            assert_int_equal(test_get(&c.ended), c.spawned);
            test_destroy(pool);
        }
    }
}

/* ---- sums ------------------------------------------------------------ */

static int add_value(struct ws_scope *scope, void *arg)
{
    const numbered *n = arg;
    (void)scope;
    test_add(&n->c->ended, n->number);
    return 0;
}

static int spawn_hundred(struct ws_scope *scope, void *arg)
{
    for (uint64_t i = 0; i < 100; i++) {
        const numbered n = {arg, i};
        ws_scope_spawn_copy(scope, add_value, &n, sizeof(n));
    }
    return 0;
}

static void static_scope_fifo(void **state)
{
    chain c = {.spawned = 0};
    (void)state;
    assert_int_equal(ws_scope_fifo(spawn_hundred, &c), 0);
    assert_int_equal(test_get(&c.ended), 4950);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static int borrow(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(*(test_counter **)arg, 1);
    return 0;
}

static int lend(struct ws_scope *scope, void *arg)
{
    test_counter **list = arg;
    for (int i = 0; i < 100; i++) {
        ws_scope_spawn(scope, borrow, &list[i]);
    }
    return 0;
}

static void check_lifetimes(unsigned flags)
{
    test_counter sum = {0};
    test_counter *list[100];
    for (int i = 0; i < 100; i++) {
        list[i] = &sum;
    }
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        test_set(&sum, 0);
        assert_int_equal(ws_scope_in(pool, flags, lend, list), 0);
        assert_int_equal(test_get(&sum), 100);
        test_destroy(pool);
    }
}

static void mixed_lifetime_scope(void **state)
{
    (void)state;
    check_lifetimes(0);
}

static void mixed_lifetime_scope_fifo(void **state)
{
    (void)state;
    check_lifetimes(WS_SCOPE_FIFO);
}

/* ---- join by scope and spawn ----------------------------------------- */

enum {
    SORTED = 6000
};

typedef struct {
    unsigned *begin;
    size_t n;
} slice;

static int sort_slice(struct ws_scope *scope, void *arg)
{
    const slice *s = arg;
    size_t low = 0;
    if (s->n <= 1) {
        return 0;
    }
    unsigned pivot = s->begin[s->n - 1];
    for (size_t i = 0; i < s->n; i++) {
        if (s->begin[i] < pivot || i == s->n - 1) {
            unsigned swap = s->begin[i];
            s->begin[i] = s->begin[low];
            s->begin[low++] = swap;
        }
    }
    const slice left = {s->begin, low - 1};
    slice right = {s->begin + low, s->n - low};
    ws_scope_spawn_copy(scope, sort_slice, &left, sizeof(left));
    return sort_slice(scope, &right);
}

static void check_sort(ws_pool *pool)
{
    static unsigned numbers[SORTED];
    uint64_t random = 3;
    slice all = {numbers, SORTED};
    for (int i = 0; i < SORTED; i++) {
        numbers[i] = (unsigned)(ws_test_random(&random) >> 40);
    }
    assert_int_equal(ws_scope_in(pool, 0, sort_slice, &all), 0);
    for (int i = 1; i < SORTED; i++) {
        assert_true(numbers[i - 1] <= numbers[i]);
    }
}

static void scope_join(void **state)
{
    (void)state;
    test_in_each_pool(check_sort);
}

/* ---- scopes of several pools at once --------------------------------- */

enum {
    POOLS = 10
};

typedef struct {
    ws_pool *pools[POOLS];
    struct ws_scope *scopes[POOLS];
    int depth;
    unsigned flags;
    test_counter sum;
} tower;

static int count_floor(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(&((tower *)arg)->sum, 1);
    return 0;
}

static int build_tower(struct ws_scope *scope, void *arg)
{
    tower *t = arg;
    t->scopes[t->depth++] = scope;
    if (t->depth < POOLS) {
        return ws_scope_in(t->pools[t->depth], t->flags, build_tower, t);
    }
    for (int i = 0; i < POOLS; i++) {
        ws_scope_spawn(t->scopes[i], count_floor, t);
    }
    return 0;
}

static void check_tower(unsigned flags)
{
    tower t = {.flags = flags};
    for (int i = 0; i < POOLS; i++) {
        t.pools[i] = test_pool(1, WS_WAIT_DEFAULT);
    }
    assert_int_equal(ws_scope_in(t.pools[0], flags, build_tower, &t), 0);
    assert_int_equal(test_get(&t.sum), POOLS);
    for (int i = 0; i < POOLS; i++) {
        test_destroy(t.pools[i]);
    }
}

static void nested_scopes(void **state)
{
    (void)state;
    check_tower(0);
    check_tower(WS_SCOPE_IN_PLACE);
}

static void nested_fifo_scopes(void **state)
{
    (void)state;
    check_tower(WS_SCOPE_FIFO);
    check_tower(WS_SCOPE_FIFO | WS_SCOPE_IN_PLACE);
}

/* ---- foreign threads ------------------------------------------------- */

typedef struct {
    struct ws_scope *scope;
    chain *c;
} guest;

static void *spawn_as_guest(void *arg)
{
    guest *g = arg;
    WS_TEST_REQUIRE(spawn_chain(g->scope, g->c) == 0);
    return NULL;
}

static int host(struct ws_scope *scope, void *arg)
{
    guest g = {scope, arg};
    test_join_thread(test_thread(spawn_as_guest, &g));
    return 0;
}

static void foreign_spawns_start_in_order(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (int round = 0; round < 20; round++) {
            chain c = {.spawned = 100};
            assert_int_equal(ws_scope_in(pool, WS_SCOPE_FIFO, host, &c), 0);
            assert_int_equal(test_get(&c.ended), c.spawned);
        }
        test_destroy(pool);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fifo_order),
    cmocka_unit_test(nested_fifo_order),
    cmocka_unit_test(nested_lifo_fifo_order),
    cmocka_unit_test(nested_fifo_lifo_order),
    cmocka_unit_test(scope_fifo_order),
    cmocka_unit_test(scope_lifo_order),
    cmocka_unit_test(mixed_lifo_order),
    cmocka_unit_test(mixed_fifo_order),
    cmocka_unit_test(mixed_lifo_fifo_order),
    cmocka_unit_test(mixed_fifo_lifo_order),
    cmocka_unit_test(jobs_start_in_the_order_of_their_spawns),
    cmocka_unit_test(static_scope_fifo),
    cmocka_unit_test(mixed_lifetime_scope),
    cmocka_unit_test(mixed_lifetime_scope_fifo),
    cmocka_unit_test(scope_join),
    cmocka_unit_test(nested_scopes),
    cmocka_unit_test(nested_fifo_scopes),
    cmocka_unit_test(foreign_spawns_start_in_order),
};
WS_TEST_MAIN(tests)
