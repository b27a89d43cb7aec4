/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_local.c: worker-local storage: who gets which slot, when a slot begins
 * and ends, sums over many jobs, the order of visits, no memory, bad arguments.
 */
#include "support/pools.h"

#include <stdalign.h>

#define SIZE_LARGEST ((size_t)1 << 30)

enum {
    THREADS = 24,
    MANY = 2 * (THREADS + 4)
};

static ws_local *make_local(ws_pool *pool, size_t size, ws_slot_fn init,
                            void *arg)
{
    ws_local *local = NULL;
    WS_TEST_REQUIRE(ws_local_create(&local, pool, size, init, arg) == WS_OK);
    return local;
}

static void count_visit(void *slot, void *arg)
{
    (void)slot;
    test_add(arg, 1);
}

/* ---- arguments and memory -------------------------------------------- */

static void bad_arguments(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_ANY);
    test_counter visits = {0};
    ws_local *local = NULL;
    assert_int_equal(ws_local_create(NULL, NULL, 8, NULL, NULL), WS_EINVAL);
    static const size_t sizes[] = {0, SIZE_LARGEST + 1, SIZE_MAX};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ws_local_create(&local, NULL, sizes[i], NULL, NULL),
                         WS_EINVAL);
    }
    assert_null(local);
    /* None of them has made the global pool. */
    assert_int_equal(ws_pool_global_init(NULL), WS_OK);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    assert_null(ws_local_get(NULL));
    assert_int_equal(ws_local_each(NULL, count_visit, &visits), 0);
    assert_int_equal(ws_local_combine(NULL, &visits, count_visit), 0);
    ws_local_destroy(NULL, count_visit);
    local = make_local(pool, 8, NULL, NULL);
    assert_non_null(ws_local_get(local));
    assert_int_equal(ws_local_each(local, NULL, &visits), 0);
    assert_int_equal(ws_local_combine(local, &visits, NULL), 0);
    assert_int_equal(test_get(&visits), 0);
    assert_int_equal(ws_local_each(local, count_visit, &visits), 1);
    ws_local_destroy(local, NULL);
    test_destroy(pool);
}

static test_counter memory_is_out;

static void *alloc_if_any(size_t align, size_t size)
{
    bool out = test_get(&memory_is_out) != 0;
    return out ? NULL : wsi_mem_alloc_real(align, size);
}

static test_counter begun;
static test_counter ended;

static int make_in_current_pool(void *arg)
{
    *(ws_local **)arg = make_local(NULL, 8, count_visit, &begun);
    return 0;
}

static int has_slot(void *arg)
{
    return ws_local_get(arg) != NULL;
}

/* Workers of the pool that the set is for, here the current one, need none. */
static void check_without_memory(ws_pool *pool, ws_pool *other, ws_local *local)
{
    test_set(&begun, 0);
    test_set(&memory_is_out, 1);
    assert_false(has_slot(local));
    assert_false(has_slot(local));
    assert_int_equal(ws_pool_install(other, has_slot, local), false);
    assert_int_equal(test_get(&begun), 0);
    assert_int_equal(ws_pool_install(pool, has_slot, local), true);
    test_set(&memory_is_out, 0);
    assert_true(has_slot(local));
    test_set(&memory_is_out, 1);
    assert_true(has_slot(local));
    assert_int_equal(test_get(&begun), 2);
    test_set(&memory_is_out, 0);
    ws_local_destroy(local, NULL);
}

static void out_of_memory(void **state)
{
    (void)state;
    wsi_port_ops.mem_alloc = alloc_if_any;
    ws_pool *pool = test_pool(2, WS_WAIT_ANY);
    ws_pool *global = NULL;
    ws_local *local = NULL;
    assert_int_equal(ws_pool_global(&global), WS_OK);
    test_set(&memory_is_out, 1);
    /* The largest size is none that is refused. */
    for (size_t size = 1; size <= SIZE_LARGEST; size *= 2) {
        assert_int_equal(ws_local_create(&local, pool, size, NULL, NULL),
                         WS_ENOMEM);
    }
    assert_null(local);
    test_set(&memory_is_out, 0);
    assert_int_equal(ws_pool_install(pool, make_in_current_pool, &local), 0);
    check_without_memory(pool, global, local);
    make_in_current_pool(&local);
    check_without_memory(global, pool, local);
    test_destroy(pool);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    wsi_port_ops.mem_alloc = wsi_mem_alloc_real;
}

/* ---- one slot a thread ----------------------------------------------- */

/* Slots in the order in which they were noted. */
typedef struct {
    ws_local *local;
    size_t size;
    void *slots[MANY];
    test_counter n;
    test_counter here; /* threads that have come, or whose turn it is */
} gathering;

static void note_slot(void *slot, void *arg)
{
    gathering *g = arg;
    g->slots[test_add(&g->n, 1)] = slot;
}

/* Notes the caller's slot: it is aligned, zeroed at first, and stays. */
static int gather(void *arg)
{
    gathering *g = arg;
    unsigned char *slot = ws_local_get(g->local);
    WS_TEST_REQUIRE(slot != NULL);
    WS_TEST_REQUIRE((uintptr_t)slot % alignof(max_align_t) == 0);
    for (size_t i = 0; i < g->size; i++) {
        WS_TEST_REQUIRE(slot[i] == 0);
    }
    memset(slot, 0xA5, g->size);
    WS_TEST_REQUIRE(ws_local_get(g->local) == slot);
    note_slot(slot, g);
    return 0;
}

static int gather_on_worker(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    return gather(arg);
}

/* All of them at once. */
static void *gather_on_thread(void *arg)
{
    gathering *g = arg;
    test_add(&g->here, 1);
    test_await(&g->here, THREADS);
    gather(g);
    return NULL;
}

/* No two share a cache line. */
static void expect_apart(const gathering *g, uint64_t n)
{
    assert_int_equal(test_get(&g->n), n);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < n; k++) {
            uintptr_t end_i = (uintptr_t)g->slots[i] + g->size - 1;
            uintptr_t line_k = (uintptr_t)g->slots[k] / WSI_CACHE_LINE;
            assert_true(i == k || g->slots[i] > g->slots[k] ||
                        end_i / WSI_CACHE_LINE < line_k);
        }
    }
}

static void check_slots(ws_pool *pool)
{
    static const size_t sizes[] = {1, 8, 96, 100, 128, 129, 1000};
    const uint64_t n = THREADS + ws_pool_num_workers(pool) + 1;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        pthread_t threads[THREADS];
        gathering g = {.size = sizes[s]};
        g.local = make_local(pool, g.size, NULL, NULL);
        for (int i = 0; i < THREADS; i++) {
            threads[i] = test_thread(gather_on_thread, &g);
        }
        assert_int_equal(ws_broadcast(pool, gather_on_worker, &g, NULL), 0);
        for (int i = 0; i < THREADS; i++) {
            test_join_thread(threads[i]);
        }
        gather(&g);
        expect_apart(&g, n);
        assert_int_equal(ws_local_each(g.local, count_visit, &g.here), n);
        ws_local_destroy(g.local, NULL);
    }
}

static void each_thread_has_its_own_slot(void **state)
{
    (void)state;
    test_in_each_pool(check_slots);
}

static ws_pool *visited;

static int gather_in_seat(void *arg)
{
    gathering *g = arg;
    gather(g);
    test_add(&g->here, 1);
    return 0;
}

static int await_gathering(void *arg)
{
    test_await(&((gathering *)arg)->here, 1);
    return 0;
}

/* Waits for a job that only another thread of its pool can run. */
static int lend_seat(void *arg)
{
    gather(arg);
    WS_TEST_REQUIRE(ws_spawn(NULL, gather_in_seat, arg) == WS_OK);
    return ws_pool_install(visited, await_gathering, arg);
}

static void a_spare_thread_has_its_own_slot(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_SUBTREE);
    gathering g = {.local = make_local(pool, 8, NULL, NULL), .size = 8};
    visited = test_pool(1, WS_WAIT_SUBTREE);
    assert_int_equal(ws_pool_install(pool, lend_seat, &g), 0);
    expect_apart(&g, 2);
    ws_local_destroy(g.local, NULL);
    test_destroy(pool);
    test_destroy(visited);
}

/* Both workers have index 0. */
static void workers_are_foreign_to_sets_of_other_pools(void **state)
{
    (void)state;
    ws_pool *a = test_pool(1, WS_WAIT_ANY);
    ws_pool *b = test_pool(1, WS_WAIT_SUBTREE);
    gathering of[] = {{.local = make_local(a, 8, NULL, NULL), .size = 8},
                      {.local = make_local(b, 8, NULL, NULL), .size = 8}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ws_pool_install(a, gather, &of[i]), 0);
        assert_int_equal(ws_pool_install(b, gather, &of[i]), 0);
        gather(&of[i]);
        expect_apart(&of[i], 3);
        ws_local_destroy(of[i].local, NULL);
    }
    test_destroy(a);
    test_destroy(b);
}

/* ---- order ----------------------------------------------------------- */

typedef struct {
    gathering *g;
    uint64_t turn;
} caller;

static void *gather_in_turn(void *arg)
{
    const caller *c = arg;
    while (test_get(&c->g->here) != c->turn) {
        wsi_thread_yield();
    }
    gather(c->g);
    test_add(&c->g->here, 1);
    return NULL;
}

/* A new thread may get the handle and the stack of one that has ended. */
static void slots_of_ended_threads_stay_theirs(void **state)
{
    (void)state;
    ws_pool *pool = test_pool(1, WS_WAIT_ANY);
    gathering g = {.local = make_local(pool, 8, NULL, NULL), .size = 8};
    for (uint64_t i = 0; i < MANY; i++) {
        caller c = {&g, i};
        test_join_thread(test_thread(gather_in_turn, &c));
    }
    expect_apart(&g, MANY);
    ws_local_destroy(g.local, NULL);
    test_destroy(pool);
}

static int gather_by_index(const ws_broadcast_ctx *ctx, void *arg)
{
    gathering *g = arg;
    g->slots[THREADS + ctx->index] = ws_local_get(g->local);
    return 0;
}

static void fold_slot(void *into, void *slot)
{
    note_slot(slot, into);
}

/* The threads start in one order and call in the other, before the workers. */
static void check_order(ws_pool *pool)
{
    const unsigned workers = ws_pool_num_workers(pool);
    const unsigned n = workers + THREADS;
    gathering g = {.local = make_local(pool, 8, NULL, NULL), .size = 8};
    gathering seen = {.n = {0}};
    caller callers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        callers[i] = (caller){&g, THREADS - 1 - i};
        threads[i] = test_thread(gather_in_turn, &callers[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        test_join_thread(threads[i]);
    }
    assert_int_equal(ws_broadcast(pool, gather_by_index, &g, NULL), 0);
    assert_int_equal(ws_local_each(g.local, note_slot, &seen), n);
    assert_int_equal(ws_local_combine(g.local, &seen, fold_slot), n);
    for (unsigned i = 0; i < n; i++) {
        void *expected = g.slots[i < workers ? THREADS + i : i - workers];
        assert_ptr_equal(seen.slots[i], expected);
        assert_ptr_equal(seen.slots[n + i], expected);
    }
    ws_local_destroy(g.local, NULL);
}

static void workers_by_index_then_others_by_first_call(void **state)
{
    (void)state;
    test_in_each_pool(check_order);
}

/* ---- the life of a slot ---------------------------------------------- */

typedef struct {
    pthread_t thread;
    uint64_t uses;
} used;

/* It can already be asked for. */
static void begin_slot(void *slot, void *arg)
{
    used *u = slot;
    WS_TEST_REQUIRE(u->uses == 0);
    WS_TEST_REQUIRE(ws_local_get(*(ws_local **)arg) == slot);
    *u = (used){pthread_self(), 1};
    test_add(&begun, 1);
}

static void end_slot(void *slot, void *arg)
{
    WS_TEST_REQUIRE(((used *)slot)->uses != 0);
    WS_TEST_REQUIRE(*(ws_local **)arg != NULL);
    test_add(&ended, 1);
}

static int use_slot(void *arg)
{
    used *u = ws_local_get(*(ws_local **)arg);
    WS_TEST_REQUIRE(pthread_equal(u->thread, pthread_self()));
    u->uses++;
    return 0;
}

static int use_on_worker(const ws_broadcast_ctx *ctx, void *arg)
{
    (void)ctx;
    return use_slot(arg);
}

static void sum_uses(void *into, void *slot)
{
    *(uint64_t *)into += ((used *)slot)->uses;
}

static void check_life(ws_pool *pool)
{
    const uint64_t n = ws_pool_num_workers(pool) + 1;
    ws_local *local = make_local(pool, sizeof(used), begin_slot, &local);
    test_set(&begun, 0);
    test_set(&ended, 0);
    for (uint64_t round = 1; round <= 3; round++) {
        uint64_t uses = 0;
        for (int i = 0; i < 10; i++) {
            assert_int_equal(ws_broadcast(pool, use_on_worker, &local, NULL),
                             0);
            use_slot(&local);
        }
        assert_int_equal(test_get(&begun), round * n);
        assert_int_equal(ws_local_combine(local, &uses, sum_uses), n);
        assert_int_equal(uses, 11 * n);
        /* Nothing is alive until somebody asks. */
        assert_int_equal(ws_local_combine(local, &uses, sum_uses), 0);
    }
    /* Two of the slots live again: only these are ended. */
    assert_int_equal(ws_pool_install(pool, use_slot, &local), 0);
    use_slot(&local);
    ws_local_destroy(local, end_slot);
    assert_int_equal(test_get(&begun), 3 * n + 2);
    assert_int_equal(test_get(&ended), 2);
}

static void slots_begin_and_end_once(void **state)
{
    (void)state;
    test_in_each_pool(check_life);
}

/* ---- sums ------------------------------------------------------------ */

typedef struct {
    ws_local *local;
    uint64_t begin;
    uint64_t end;
} range;

static int add_by_joins(void *arg)
{
    const range *r = arg;
    if (r->end - r->begin == 1) {
        *(uint64_t *)ws_local_get(r->local) += r->begin;
        return 0;
    }
    uint64_t middle = r->begin + (r->end - r->begin) / 2;
    range left = {r->local, r->begin, middle};
    range right = {r->local, middle, r->end};
    return ws_join(add_by_joins, &left, add_by_joins, &right);
}

static int add_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return add_by_joins(arg);
}

static int add_by_scope(struct ws_scope *scope, void *arg)
{
    for (range r = *(range *)arg; r.begin < r.end; r.begin++) {
        range one = {r.local, r.begin, r.begin + 1};
        ws_scope_spawn_copy(scope, add_in_scope, &one, sizeof(one));
    }
    return add_by_joins(arg);
}

static void add_up(void *into, void *slot)
{
    *(uint64_t *)into += *(uint64_t *)slot;
}

static void check_sums(ws_pool *pool)
{
    const uint64_t n = ws_test_scale(100000);
    range all = {make_local(pool, sizeof(uint64_t), NULL, NULL), 0, n};
    uint64_t sum = 0;
    assert_int_equal(ws_scope_in(pool, 0, add_by_scope, &all), 0);
    assert_true(ws_local_combine(all.local, &sum, add_up) > 0);
    /* Each number twice. */
    assert_int_equal(sum, n * (n - 1));
    ws_local_destroy(all.local, NULL);
}

static void sums_equal_the_serial_one(void **state)
{
    (void)state;
    test_in_each_pool(check_sums);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bad_arguments),
    cmocka_unit_test(out_of_memory),
    cmocka_unit_test(each_thread_has_its_own_slot),
    cmocka_unit_test(a_spare_thread_has_its_own_slot),
    cmocka_unit_test(workers_are_foreign_to_sets_of_other_pools),
    cmocka_unit_test(slots_of_ended_threads_stay_theirs),
    cmocka_unit_test(workers_by_index_then_others_by_first_call),
    cmocka_unit_test(slots_begin_and_end_once),
    cmocka_unit_test(sums_equal_the_serial_one),
};
WS_TEST_MAIN(tests)
