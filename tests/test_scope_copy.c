/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scope_copy.c: ws_scope_spawn_copy and ws_spawn_copy: the job has its own
 * copy of the argument.
 */
#include "support/pools.h"

enum {
    SIZE_MAX_TESTED = 4096
};

static const size_t sizes[] = {0, 1, 8, 95, 96, 97, 1000, SIZE_MAX_TESTED};

static test_counter runs;
static test_counter bytes;

/* The copy is 1, 2, 3, ... from its first byte on. */
static int check_copy(void *arg)
{
    unsigned char *copy = arg;
    size_t n = copy != NULL ? copy[0] : 0;
    WS_TEST_REQUIRE((uintptr_t)arg % 16 == 0);
    for (size_t i = 0; i < n; i++) {
        WS_TEST_REQUIRE(copy[i] == (unsigned char)(n + i));
        copy[i] = 0xEE; /* it is ours */
    }
    test_add(&bytes, n);
    test_add(&runs, 1);
    return 0;
}

static int check_copy_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return check_copy(arg);
}

/* Fills the first bytes; the first one says how many. */
static size_t fill(unsigned char *buffer, size_t size)
{
    size_t n = size < 100 ? size : 100;
    for (size_t i = 0; i < n; i++) {
        buffer[i] = (unsigned char)(n + i);
    }
    return n;
}

typedef struct {
    ws_pool *pool;
    uint64_t expected;
} copying;

static int spawn_copies(struct ws_scope *scope, void *arg)
{
    copying *c = arg;
    unsigned char buffer[SIZE_MAX_TESTED];
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        if (sizes[k] == 0) {
            continue;
        }
        c->expected += fill(buffer, sizes[k]);
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, check_copy_in_scope, buffer,
                                            sizes[k]) == WS_OK);
        c->expected += fill(buffer, sizes[k]);
        WS_TEST_REQUIRE(ws_spawn_copy(c->pool, check_copy, buffer, sizes[k]) ==
                        WS_OK);
        memset(buffer, 0, sizeof(buffer));
    }
    return 0;
}

static void check_copies(ws_pool *pool, unsigned flags)
{
    const size_t rounds = ws_test_scale(200);
    copying c = {pool, 0};
    test_set(&runs, 0);
    test_set(&bytes, 0);
    for (size_t i = 0; i < rounds; i++) {
        assert_int_equal(ws_scope_in(pool, flags, spawn_copies, &c), 0);
    }
    test_await(&runs, rounds * 14);
    assert_int_equal(test_get(&bytes), c.expected);
}

static void every_size_is_copied(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (unsigned flags = 0; flags <= 7; flags++) {
            check_copies(pool, flags);
        }
        test_destroy(pool);
    }
}

static int count(void *arg)
{
    (void)arg;
    test_add(&runs, 1);
    return 0;
}

static int count_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return count(arg);
}

static int spawn_empty(struct ws_scope *scope, void *arg)
{
    (void)arg;
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, count_in_scope, NULL, 0) ==
                    WS_OK);
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, count_in_scope, NULL, 1) ==
                    WS_EINVAL);
    WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, NULL, "", 1) == WS_EINVAL);
    return 0;
}

static void nothing_can_be_copied(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_DEFAULT);
    test_set(&runs, 0);
    assert_int_equal(ws_scope_in(pool, 0, spawn_empty, NULL), 0);
    assert_int_equal(ws_spawn_copy(pool, count, NULL, 0), WS_OK);
    assert_int_equal(ws_spawn_copy(pool, count, NULL, 1), WS_EINVAL);
    assert_int_equal(ws_spawn_copy(pool, NULL, "", 1), WS_EINVAL);
    assert_int_equal(ws_scope_spawn_copy(NULL, count_in_scope, "", 1),
                     WS_EINVAL);
    test_destroy(pool);
    assert_int_equal(test_get(&runs), 2);
}

/* ---- other threads --------------------------------------------------- */

typedef struct {
    struct ws_scope *scope;
    copying *c;
} guest;

static void *copy_as_guest(void *arg)
{
    guest *g = arg;
    spawn_copies(g->scope, g->c);
    return NULL;
}

static int host(struct ws_scope *scope, void *arg)
{
    copying *c = arg;
    copying own[3] = {{c->pool, 0}, {c->pool, 0}, {c->pool, 0}};
    guest guests[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        guests[i] = (guest){scope, &own[i]};
        threads[i] = test_thread(copy_as_guest, &guests[i]);
    }
    for (int i = 0; i < 3; i++) {
        test_join_thread(threads[i]);
        c->expected += own[i].expected;
    }
    return 0;
}

static void check_guests(ws_pool *pool)
{
    const size_t rounds = ws_test_scale(40);
    for (unsigned flags = 0; flags <= 7; flags++) {
        copying c = {pool, 0};
        test_set(&runs, 0);
        test_set(&bytes, 0);
        for (size_t i = 0; i < rounds; i++) {
            assert_int_equal(ws_scope_in(pool, flags, host, &c), 0);
        }
        test_await(&runs, 3 * rounds * 14);
        assert_int_equal(test_get(&bytes), c.expected);
    }
}

static void foreign_threads_copy_too(void **state)
{
    (void)state;
    test_in_each_pool(check_guests);
}

/* ---- whose copy it is ------------------------------------------------ */

enum {
    TWINS = 50
};

typedef struct {
    test_counter started;
} family;

typedef struct {
    family *f;
    unsigned char own[SIZE_MAX_TESTED - sizeof(family *)];
} twin;

/* The size is the one at hand, so only so many bytes of `own` are there. */
static size_t own_bytes;

static int meet_twins(struct ws_scope *scope, void *arg)
{
    twin *t = arg;
    uint64_t number = test_add(&t->f->started, 1);
    (void)scope;
    for (size_t i = 0; i < own_bytes; i++) {
        WS_TEST_REQUIRE(t->own[i] == 0x55);
        t->own[i] = (unsigned char)number;
    }
    /* While two jobs run, and after other jobs were given memory. */
    if (ws_current_num_workers() > 1) {
        test_await(&t->f->started, number / 2 * 2 + 2);
    }
    for (size_t i = 0; i < own_bytes; i++) {
        WS_TEST_REQUIRE(t->own[i] == (unsigned char)number);
    }
    return 0;
}

static int spawn_twins(struct ws_scope *scope, void *arg)
{
    static twin t;
    t.f = arg;
    memset(t.own, 0x55, sizeof(t.own));
    for (int i = 0; i < TWINS; i++) {
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, meet_twins, &t,
                                            offsetof(twin, own) + own_bytes) ==
                        WS_OK);
    }
    WS_TEST_REQUIRE(t.own[0] == 0x55);
    /* The jobs have theirs. */
    memset(&t, 0, sizeof(t));
    return 0;
}

static void check_twins(ws_pool *pool)
{
    static const size_t own_sizes[] = {8, 88, 89, SIZE_MAX_TESTED - 64};
    for (int i = 0; i < 4; i++) {
        own_bytes = own_sizes[i];
        for (unsigned flags = 0; flags <= 7; flags++) {
            family f = {{0}};
            assert_int_equal(ws_scope_in(pool, flags, spawn_twins, &f), 0);
            assert_int_equal(test_get(&f.started), TWINS);
        }
    }
}

static void each_job_has_its_own_copy(void **state)
{
    (void)state;
    test_in_each_pool(check_twins);
}

/* ---- memory ---------------------------------------------------------- */

static test_counter memory_is_out;
static test_counter allocations;
static test_counter frees;

static void *alloc_or_not(size_t align, size_t size)
{
    void *p = test_get(&memory_is_out) ? NULL : wsi_mem_alloc_real(align, size);
    test_add(&allocations, p != NULL);
    return p;
}

/* Until the caches are empty and beyond. */
static int spawn_starving(struct ws_scope *scope, void *arg)
{
    unsigned char buffer[200];
    uint64_t *spawned = arg;
    test_set(&memory_is_out, 1);
    for (int i = 0; i < 5000; i++) {
        fill(buffer, 96);
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, check_copy_in_scope, buffer,
                                            96) == WS_OK);
        fill(buffer, 200);
        WS_TEST_REQUIRE(ws_scope_spawn_copy(scope, check_copy_in_scope, buffer,
                                            200) == WS_ENOMEM);
        ++*spawned;
    }
    WS_TEST_REQUIRE(ws_spawn_copy(NULL, check_copy, buffer, 200) == WS_ENOMEM);
    test_set(&memory_is_out, 0);
    return 0;
}

static void out_of_memory_runs_small_ones_at_once(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_or_not;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.max_spares = WS_NO_SPARES;
    ws_pool *pool = test_pool_with(&config);
    uint64_t spawned = 0;
    test_set(&runs, 0);
    assert_int_equal(ws_scope_in(pool, 0, spawn_starving, &spawned), 0);
    assert_int_equal(test_get(&runs), spawned);
    test_destroy(pool);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

enum {
    STARVED = 2200, /* more than the first chunks have room for */
    SATED = 50      /* the last ones, for which there is memory again */
};

typedef struct {
    struct ws_scope *scope;
    test_counter ends[STARVED];
    uint64_t since; /* no memory from this job on */
    size_t size;
    uint64_t refused;
} famine;

typedef struct {
    famine *f;
    uint64_t number;
    char more[160]; /* more than any record has room for */
} starved;

static int run_starved(struct ws_scope *scope, void *arg)
{
    const starved *s = arg;
    (void)scope;
    test_add(&s->f->ends[s->number], 1);
    return 0;
}

static void *spawn_starved(void *arg)
{
    famine *f = arg;
    for (uint64_t i = 0; i < STARVED; i++) {
        const starved s = {.f = f, .number = i};
        if (i == f->since || i == STARVED - SATED) {
            test_set(&memory_is_out, i == f->since);
        }
        int code = ws_scope_spawn_copy(f->scope, run_starved, &s, f->size);
        if (code != WS_OK) {
            WS_TEST_REQUIRE(code == WS_ENOMEM && f->size > 96);
            WS_TEST_REQUIRE(test_add(&f->ends[i], 1) == 0);
            f->refused++;
        }
    }
    return NULL;
}

static int starve_here(struct ws_scope *scope, void *arg)
{
    ((famine *)arg)->scope = scope;
    spawn_starved(arg);
    return 0;
}

static int starve_a_guest(struct ws_scope *scope, void *arg)
{
    ((famine *)arg)->scope = scope;
    test_join_thread(test_thread(spawn_starved, arg));
    return 0;
}

/* Not even one record, or no larger deque or injector. */
static void check_famine(unsigned workers, unsigned policy, unsigned flags)
{
    static const size_t famine_sizes[] = {96, sizeof(starved)};
    for (int i = 0; i < 8; i++) {
        static famine f;
        ws_pool *pool = test_pool_near_wrap(workers, policy, 2);
        memset(&f, 0, sizeof(f));
        f.size = famine_sizes[i / 2 % 2];
        f.since = i % 2 ? 1 : 0;
        ws_scope_fn body = i < 4 ? starve_here : starve_a_guest;
        assert_int_equal(ws_scope_in(pool, flags, body, &f), 0);
        for (int k = 0; k < STARVED; k++) {
            assert_int_equal(test_get(&f.ends[k]), 1);
        }
        assert_int_equal(f.refused,
                         f.size > 96 ? STARVED - SATED - f.since : 0);
        test_destroy(pool);
    }
}

static void out_of_memory_runs_or_refuses_each_job_once(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_or_not;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            check_famine(workers, p, 0);
            check_famine(workers, p, WS_SCOPE_FIFO);
            check_famine(workers, p, WS_SCOPE_FIFO | WS_SCOPE_IN_PLACE);
        }
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static void free_counted(void *p)
{
    test_add(&frees, p != NULL);
    wsi_mem_free_real(p);
}

static int fail_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    return 7;
}

static int spawn_and_fail(struct ws_scope *scope, void *arg)
{
    unsigned char buffer[SIZE_MAX_TESTED];
    (void)arg;
    for (int i = 0; i < 50; i++) {
        fill(buffer, sizeof(buffer));
        ws_scope_spawn_copy(scope, check_copy_in_scope, buffer, sizeof(buffer));
        if (i == 25) {
            ws_scope_spawn_copy(scope, fail_in_scope, buffer, sizeof(buffer));
        }
    }
    return 0;
}

/* What was dropped is freed as well. */
static void every_block_is_freed(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_or_not;
    wsi_port_ops.mem_free = free_counted;
    test_set(&allocations, 0);
    test_set(&frees, 0);
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        ws_pool *pool = test_pool(workers, WS_WAIT_DEFAULT);
        for (unsigned flags = 0; flags <= 7; flags++) {
            assert_int_equal(ws_scope_in(pool, flags, spawn_and_fail, NULL), 7);
        }
        test_destroy(pool);
    }
    wsi_port_ops.mem_free = wsi_mem_free_real;
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
    assert_int_equal(test_get(&allocations), test_get(&frees));
}

static int spawn_many(struct ws_scope *scope, void *arg)
{
    unsigned char buffer[96];
    const size_t *size = arg;
    for (int i = 0; i < 10000; i++) {
        fill(buffer, *size);
        ws_scope_spawn_copy(scope, check_copy_in_scope, buffer, *size);
    }
    return 0;
}

static void small_ones_allocate_once_in_a_thousand(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_or_not;
    for (unsigned flags = 0; flags <= 7; flags++) {
        size_t size = flags % 2 ? 96 : 8;
        ws_pool *pool = test_pool(1, WS_WAIT_ANY);
        test_set(&allocations, 0);
        assert_int_equal(ws_scope_in(pool, flags, spawn_many, &size), 0);
        /* The deque has doubled six times. */
        assert_in_range(test_get(&allocations), 1, 10 + 6);
        test_set(&allocations, 0);
        if ((flags & WS_SCOPE_IN_PLACE) == 0) {
            assert_int_equal(ws_scope_in(pool, flags, spawn_many, &size), 0);
            assert_int_equal(test_get(&allocations), 0);
        }
        test_destroy(pool);
    }
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_is_copied),
    cmocka_unit_test(nothing_can_be_copied),
    cmocka_unit_test(foreign_threads_copy_too),
    cmocka_unit_test(each_job_has_its_own_copy),
    cmocka_unit_test(out_of_memory_runs_small_ones_at_once),
    cmocka_unit_test(out_of_memory_runs_or_refuses_each_job_once),
    cmocka_unit_test(every_block_is_freed),
    cmocka_unit_test(small_ones_allocate_once_in_a_thousand),
};
WS_TEST_MAIN(tests)
