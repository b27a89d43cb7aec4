/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_fifo.c: the order in which the jobs of scopes start: FIFO scopes,
 * and FIFO and LIFO scopes inside each other.
 */
#include "support/pools.h"

#include <limits.h>

/* ---- order on one worker --------------------------------------------- */

enum {
    STEPS_MAX = 128,
    GUESTS = 3,
    SORTED = 6000,
    POOLS = 10
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

#define TENS_CASE(name, outer, inner, tens_rise, ones_rise)                    \
    static void name(void **state)                                             \
    {                                                                          \
        (void)state;                                                           \
        check_tens(outer, inner, tens_rise, ones_rise);                        \
    }

TENS_CASE(fifo_order, WS_SCOPE_FIFO, UINT_MAX, true, true)
TENS_CASE(nested_fifo_order, WS_SCOPE_FIFO, WS_SCOPE_FIFO, true, true)
TENS_CASE(nested_lifo_fifo_order, 0, WS_SCOPE_FIFO, false, true)
TENS_CASE(nested_fifo_lifo_order, WS_SCOPE_FIFO, 0, true, false)

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

#define MIXED_CASE(name, outer, inner, ...)                                    \
    static void name(void **state)                                             \
    {                                                                          \
        static const int expected[7] = {__VA_ARGS__};                          \
        (void)state;                                                           \
        check(outer, inner, mix, expected, 7);                                 \
    }

MIXED_CASE(mixed_lifo_order, 0, 0, -3, 2, -2, 1, -1, 3, 0)
MIXED_CASE(mixed_fifo_order, WS_SCOPE_FIFO, WS_SCOPE_FIFO, -1, 0, -2, 1, -3, 2,
           3)
MIXED_CASE(mixed_lifo_fifo_order, 0, WS_SCOPE_FIFO, -1, 2, -2, 1, -3, 3, 0)
MIXED_CASE(mixed_fifo_lifo_order, WS_SCOPE_FIFO, 0, -3, 0, -2, 1, -1, 2, 3)

#define EACH_POOL_CASE(name, check)                                            \
    static void name(void **state)                                             \
    {                                                                          \
        (void)state;                                                           \
        test_in_each_pool(check);                                              \
    }

/* ---- job k waits for job k - 1 --------------------------------------- */

typedef struct {
    test_counter ended;
    uint64_t spawned;
    uint64_t limit;       /* of that */
    uint64_t per_spawner; /* so many does the body, and each guest, try */
    uint64_t per_job;
    int guests;
    struct ws_scope *scope;
    pthread_mutex_t lock;
} chain;

typedef struct {
    chain *c;
    uint64_t number;
} numbered;

static void spawn_numbered(struct ws_scope *scope, ws_scope_fn fn, chain *c,
                           uint64_t number)
{
    const numbered n = {c, number};
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, fn, &n, sizeof(n)) == WS_OK);
}

static int run_link(struct ws_scope *scope, void *arg);

/* Under one lock: a number, and the place in the list that goes with it. */
static void spawn_links(struct ws_scope *scope, chain *c, uint64_t n)
{
    for (; n > 0; n--) {
        WS_TEST_REQUIRE(pthread_mutex_lock(&c->lock) == 0);
        if (c->spawned < c->limit) {
            spawn_numbered(scope, run_link, c, c->spawned++);
        }
        WS_TEST_REQUIRE(pthread_mutex_unlock(&c->lock) == 0);
    }
}

/* The jobs know their numbers: k must not start before k - 1 has. */
static int run_link(struct ws_scope *scope, void *arg)
{
    const numbered *link = arg;
    test_await(&link->c->ended, link->number);
    WS_TEST_REQUIRE(test_add(&link->c->ended, 1) == link->number);
    spawn_links(scope, link->c, link->c->per_job);
    return 0;
}

static void *spawn_as_guest(void *arg)
{
    chain *c = arg;
    spawn_links(c->scope, c, c->per_spawner);
    return NULL;
}

static int start_chain(struct ws_scope *scope, void *arg)
{
    chain *c = arg;
    pthread_t threads[GUESTS];
    c->scope = scope;
    for (int i = 0; i < c->guests; i++) {
        threads[i] = test_thread(spawn_as_guest, c);
    }
    /* With one guest the body lends no hand. */
    spawn_links(scope, c, c->guests != 1 ? c->per_spawner : 0);
    for (int i = 0; i < c->guests; i++) {
        test_join_thread(threads[i]);
    }
    return 0;
}

static void check_chain(ws_pool *pool, chain c)
{
    for (unsigned place = 0; place <= WS_SCOPE_IN_PLACE; place += 4) {
        c.spawned = 0;
        test_set(&c.ended, 0);
        assert_int_equal(pthread_mutex_init(&c.lock, NULL), 0);
        assert_int_equal(
            ws_scope_in(pool, WS_SCOPE_FIFO | place, start_chain, &c), 0);
        assert_int_equal(c.spawned, c.limit);
        assert_int_equal(test_get(&c.ended), c.limit);
        pthread_mutex_destroy(&c.lock);
    }
}

static void check_body(ws_pool *pool)
{
    const size_t n = ws_test_scale(5000);
    check_chain(pool, (chain){.limit = n, .per_spawner = n});
}

static void check_jobs(ws_pool *pool)
{
    check_chain(
        pool,
        (chain){.limit = ws_test_scale(5000), .per_spawner = 3, .per_job = 2});
}

static void check_guest(ws_pool *pool)
{
    for (int round = 0; round < 20; round++) {
        check_chain(pool,
                    (chain){.limit = 100, .per_spawner = 100, .guests = 1});
    }
}

static void check_all(ws_pool *pool)
{
    const size_t n = ws_test_scale(5000);
    check_chain(pool, (chain){.limit = n,
                              .per_spawner = n / 8 + 1,
                              .per_job = 2,
                              .guests = GUESTS});
}

EACH_POOL_CASE(jobs_start_in_the_order_of_their_spawns, check_body)
EACH_POOL_CASE(jobs_that_spawn_more_start_in_order, check_jobs)
EACH_POOL_CASE(foreign_spawns_start_in_order, check_guest)
EACH_POOL_CASE(spawns_of_jobs_and_threads_start_in_order, check_all)

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
        spawn_numbered(scope, add_value, arg, i);
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

EACH_POOL_CASE(scope_join, check_sort)

/* ---- scopes of several pools at once --------------------------------- */

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
    cmocka_unit_test(jobs_that_spawn_more_start_in_order),
    cmocka_unit_test(foreign_spawns_start_in_order),
    cmocka_unit_test(spawns_of_jobs_and_threads_start_in_order),
    cmocka_unit_test(static_scope_fifo),
    cmocka_unit_test(mixed_lifetime_scope),
    cmocka_unit_test(mixed_lifetime_scope_fifo),
    cmocka_unit_test(scope_join),
    cmocka_unit_test(nested_scopes),
    cmocka_unit_test(nested_fifo_scopes),
};
WS_TEST_MAIN(tests)
