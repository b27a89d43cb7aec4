/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_order.c: ws_scope where it matters who spawns and when: the order
 * on one worker, jobs from foreign threads and from another pool's workers
 * into a scope whose owner sleeps, and the scope's frame after its end.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

/* ---- order on one worker --------------------------------------------- */

typedef struct {
    int seen[128];
    int n;
} record;

typedef struct {
    record *r;
    int value;
} step;

static int note_step(struct ws_scope *scope, void *arg)
{
    const step *s = arg;
    (void)scope;
    s->r->seen[s->r->n++] = s->value;
    return 0;
}

static void spawn_step(struct ws_scope *scope, step *s, record *r, int value)
{
    *s = (step){r, value};
    WS_TEST_REQUIRE(ws_scope_spawn(scope, note_step, s) == WS_OK);
}

typedef struct {
    record *r;
    int value;
    step inner[10];
} decade;

static int spawn_ten(struct ws_scope *scope, void *arg)
{
    decade *d = arg;
    for (int j = 0; j < 10; j++) {
        spawn_step(scope, &d->inner[j], d->r, 10 * d->value + j);
    }
    return 0;
}

static int scope_of_ten(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return ws_scope(spawn_ten, arg);
}

typedef struct {
    record r;
    decade decades[10];
    ws_scope_fn job;
} century;

static int spawn_decades(struct ws_scope *scope, void *arg)
{
    century *c = arg;
    for (int i = 0; i < 10; i++) {
        c->decades[i] = (decade){.r = &c->r, .value = i};
        ws_scope_spawn(scope, c->job, &c->decades[i]);
    }
    return 0;
}

static int open_century(void *arg)
{
    return ws_scope(spawn_decades, arg);
}

static void check_century(ws_pool *pool, ws_scope_fn job)
{
    century c = {.job = job};
    assert_int_equal(ws_pool_install(pool, open_century, &c), 0);
    assert_int_equal(c.r.n, 100);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(c.r.seen[i], 99 - i);
    }
}

static void check_lifo(ws_pool *pool)
{
    check_century(pool, spawn_ten);
}

static void check_nested_lifo(ws_pool *pool)
{
    check_century(pool, scope_of_ten);
}

static void lifo_order(void **state)
{
    (void)state;
    test_in_pools_of(1, check_lifo);
}

static void nested_lifo_order(void **state)
{
    (void)state;
    test_in_pools_of(1, check_nested_lifo);
}

typedef struct {
    record r;
    struct ws_scope *outer;
    step steps[7];
} mixture;

static int mix_inner(struct ws_scope *inner, void *arg)
{
    mixture *m = arg;
    spawn_step(inner, &m->steps[1], &m->r, -1);
    spawn_step(m->outer, &m->steps[2], &m->r, 1);
    spawn_step(inner, &m->steps[3], &m->r, -2);
    spawn_step(m->outer, &m->steps[4], &m->r, 2);
    spawn_step(inner, &m->steps[5], &m->r, -3);
    return 0;
}

static int mix_outer(struct ws_scope *scope, void *arg)
{
    mixture *m = arg;
    m->outer = scope;
    spawn_step(scope, &m->steps[0], &m->r, 0);
    int code = ws_scope(mix_inner, m);
    spawn_step(scope, &m->steps[6], &m->r, 3);
    return code;
}

static int open_mixture(void *arg)
{
    return ws_scope(mix_outer, arg);
}

static void check_mixture(ws_pool *pool)
{
    static const int expected[] = {-3, 2, -2, 1, -1, 3, 0};
    mixture m = {.r = {.n = 0}};
    assert_int_equal(ws_pool_install(pool, open_mixture, &m), 0);
    assert_int_equal(m.r.n, 7);
    assert_memory_equal(m.r.seen, expected, sizeof(expected));
}

static void mixed_lifo_order(void **state)
{
    (void)state;
    test_in_pools_of(1, check_mixture);
}

/* ---- many jobs, one counter ------------------------------------------ */

static test_counter total;

static int add_index(struct ws_scope *scope, void *arg)
{
    const uint64_t *index = arg;
    (void)scope;
    test_add(&total, *index);
    return 0;
}

static int spawn_indices(struct ws_scope *scope, void *arg)
{
    uint64_t *indices = arg;
    for (uint64_t i = 0; i < 100; i++) {
        indices[i] = i;
        ws_scope_spawn(scope, add_index, &indices[i]);
    }
    return 0;
}

static int open_indices(void *arg)
{
    uint64_t indices[100];
    (void)arg;
    return ws_scope(spawn_indices, indices);
}

static void check_static(ws_pool *pool)
{
    test_set(&total, 0);
    assert_int_equal(ws_pool_install(pool, open_indices, NULL), 0);
    assert_int_equal(test_get(&total), 99 * 100 / 2);
}

static void static_scope(void **state)
{
    (void)state;
    test_in_each_pool(check_static);
}

/* ---- from other threads ---------------------------------------------- */

enum {
    GUESTS = 3,
    GUEST_JOBS = 50
};

typedef struct {
    ws_pool *pool;
    ws_pool *other;
    struct ws_scope *scope;
    test_counter sum;
    test_counter is_open;
    test_counter holding; /* a job runs away from the scope's owner */
    unsigned owner;
    bool await_owner; /* the guests wait until the owner sleeps */
} party;

static int count_guest(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    WS_TEST_REQUIRE(scope == p->scope);
    WS_TEST_REQUIRE(ws_current_index() >= 0);
    test_add(&p->sum, 1);
    return 0;
}

static void *be_a_guest(void *arg)
{
    party *p = arg;
    test_await(&p->is_open, 1);
    for (int i = 0; i < GUEST_JOBS; i++) {
        if (p->await_owner) {
            test_await_sleep_of(p->pool, p->owner);
        }
        WS_TEST_REQUIRE(ws_scope_spawn(p->scope, count_guest, p) == WS_OK);
        if (p->await_owner) {
            /* Done while the job or body that waits for us still runs, so
             * somebody was woken for it. */
            test_await(&p->sum, (uint64_t)i + 1);
        }
    }
    return NULL;
}

static void open_party(party *p, struct ws_scope *scope)
{
    p->scope = scope;
    p->owner = (unsigned)ws_current_index();
    test_set(&p->is_open, 1);
}

static void host_guests(party *p, int n)
{
    pthread_t guests[GUESTS];
    for (int i = 0; i < n; i++) {
        guests[i] = test_thread(be_a_guest, p);
    }
    for (int i = 0; i < n; i++) {
        test_join_thread(guests[i]);
    }
}

static int host_in_body(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    open_party(p, scope);
    host_guests(p, GUESTS);
    return 0;
}

static int open_with_guests(void *arg)
{
    return ws_scope(host_in_body, arg);
}

static void check_guests(ws_pool *pool)
{
    party p = {.pool = pool};
    assert_int_equal(ws_pool_install(pool, open_with_guests, &p), 0);
    assert_int_equal(test_get(&p.sum), GUESTS * GUEST_JOBS);
}

static void spawn_from_foreign_threads(void **state)
{
    (void)state;
    test_in_each_pool(check_guests);
}

static int host_elsewhere(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    (void)scope;
    WS_TEST_REQUIRE((unsigned)ws_current_index() != p->owner);
    host_guests(p, 1);
    return 0;
}

static int hold_until_moved(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    test_set(&p->holding, 1);
    return host_elsewhere(scope, arg);
}

static int await_thief(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    open_party(p, scope);
    ws_scope_spawn(scope, hold_until_moved, p);
    test_await(&p->holding, 1);
    return 0;
}

static int open_and_sleep(void *arg)
{
    return ws_scope(await_thief, arg);
}

/* Two workers: one holds the scope open and blocks, the owner sleeps in the
 * scope's own wait, and only it can run what the guest spawns. */
static void check_sleeping_owner(ws_pool *pool)
{
    party p = {.pool = pool, .await_owner = true};
    assert_int_equal(ws_pool_install(pool, open_and_sleep, &p), 0);
    assert_int_equal(test_get(&p.sum), GUEST_JOBS);
}

static void foreign_spawn_wakes_a_sleeping_owner(void **state)
{
    (void)state;
    test_in_pools_of(2, check_sleeping_owner);
}

static int host_in_other_pool(void *arg)
{
    host_guests(arg, 1);
    return 0;
}

static int visit_other_pool(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    open_party(p, scope);
    return ws_pool_install(p->other, host_in_other_pool, p);
}

static int open_and_visit(void *arg)
{
    return ws_scope(visit_other_pool, arg);
}

/* One worker: it sleeps in the body, which waits for the other pool. */
static void check_single_sleeping_owner(ws_pool *pool)
{
    party p = {.pool = pool, .await_owner = true};
    p.other = test_pool(1, WS_WAIT_ANY);
    assert_int_equal(ws_pool_install(pool, open_and_visit, &p), 0);
    assert_int_equal(test_get(&p.sum), GUEST_JOBS);
    test_destroy(p.other);
}

static void foreign_spawn_wakes_a_single_worker(void **state)
{
    (void)state;
    test_in_pools_of(1, check_single_sleeping_owner);
}

static int be_a_guest_of_another_pool(void *arg)
{
    be_a_guest(arg);
    return 0;
}

static int visit_and_spawn(struct ws_scope *scope, void *arg)
{
    party *p = arg;
    open_party(p, scope);
    return ws_pool_install(p->other, be_a_guest_of_another_pool, p);
}

static int open_and_spawn_elsewhere(void *arg)
{
    return ws_scope(visit_and_spawn, arg);
}

static void check_other_pool(ws_pool *pool)
{
    for (int sleepy = 0; sleepy < 2; sleepy++) {
        party p = {.pool = pool};
        /* With more workers another one may be woken: nothing to wait for. */
        p.await_owner = sleepy != 0 && ws_pool_num_workers(pool) == 1;
        p.other = test_pool(2, WS_WAIT_SUBTREE);
        int code = ws_pool_install(pool, open_and_spawn_elsewhere, &p);
        assert_int_equal(code, 0);
        assert_int_equal(test_get(&p.sum), GUEST_JOBS);
        test_destroy(p.other);
    }
}

static void spawn_from_a_worker_of_another_pool(void **state)
{
    (void)state;
    test_in_each_pool(check_other_pool);
}

/* ---- the end of a scope ---------------------------------------------- */

static int add_one(struct ws_scope *scope, void *arg)
{
    (void)scope;
    test_add(arg, 1);
    return 0;
}

static int spawn_two(struct ws_scope *scope, void *arg)
{
    ws_scope_spawn(scope, add_one, arg);
    ws_scope_spawn(scope, add_one, arg);
    return 0;
}

static int open_many(void *arg)
{
    test_counter *sum = arg;
    for (size_t i = ws_test_scale(20000); i > 0; i--) {
        uint64_t before = test_get(sum);
        int code = ws_scope(spawn_two, sum);
        test_reuse_stack();
        if (code != 0 || test_get(sum) != before + 2) {
            return 1;
        }
    }
    return 0;
}

static void check_end(ws_pool *pool)
{
    test_counter sum = {0};
    assert_int_equal(ws_pool_install(pool, open_many, &sum), 0);
}

static void scope_frame_may_go_when_the_scope_ends(void **state)
{
    (void)state;
    test_in_each_pool(check_end);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lifo_order),
    cmocka_unit_test(nested_lifo_order),
    cmocka_unit_test(mixed_lifo_order),
    cmocka_unit_test(static_scope),
    cmocka_unit_test(spawn_from_foreign_threads),
    cmocka_unit_test(foreign_spawn_wakes_a_sleeping_owner),
    cmocka_unit_test(foreign_spawn_wakes_a_single_worker),
    cmocka_unit_test(spawn_from_a_worker_of_another_pool),
    cmocka_unit_test(scope_frame_may_go_when_the_scope_ends),
};
WS_TEST_MAIN(tests)
