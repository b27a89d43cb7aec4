/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_deque_stress.c: an owner and many thieves on one deque.
 *
 * Every case counts what was pushed, popped, stolen and left.  Thieves go
 * through all steal modes and forms, so that all of them meet: forced exposure
 * and takeover against the owner's take-back and growth.
 *
 * exactly_once follows each of 1 million ids.  With 10 million:
 *
 *     WS_TEST_SCALE=deep build/test/tests/test_deque_stress exactly_once_lifo
 */
#include "support/test.h"

#include "port/platform.h"
#include "queue/deque.h"

#define MAX_THIEVES 15

static void *item(size_t i)
{
    return (void *)(uintptr_t)i;
}

static size_t id(const void *p)
{
    return (size_t)(uintptr_t)p;
}

/* ---- the arena ------------------------------------------------------- */

typedef struct arena arena;

typedef struct {
    arena *arena;
    wsi_thread thread;
    uint64_t random;
    wsi_deque own; /* what batches go to */
    size_t hits;
    size_t last;
} thief;

struct arena {
    wsi_deque deque;
    ws_flavor flavor;
    size_t n_thieves;
    bool generous; /* thieves make way after each turn */
    /* What a thief does with the deque once; EMPTY: nothing was left. */
    ws_steal (*turn)(thief *t);
    wsi_atomic_u32 ready;
    wsi_atomic_u32 stop; /* set when nothing will be pushed any more */
    wsi_atomic_u32 with_hits;
    /* seen[i]: how often id i came out; NULL: not followed. */
    wsi_atomic_u32 *seen;
    size_t n_seen;
    wsi_atomic_u64 consumed;
    thief thieves[MAX_THIEVES];
};

static ws_flavor flavors[] = {WS_LIFO, WS_FIFO};

static void consume(arena *a, void *p)
{
    WS_TEST_REQUIRE(p != NULL);
    if (a->seen != NULL) {
        WS_TEST_REQUIRE(id(p) <= a->n_seen);
        WS_TEST_REQUIRE(wsi_u32_fetch_add_relaxed(&a->seen[id(p)], 1) == 0);
    }
}

static void *thief_main(void *arg)
{
    thief *t = arg;
    arena *a = t->arena;
    bool stopped = false;
    ws_steal result = WS_STEAL_RETRY;
    wsi_u32_fetch_add_acq_rel(&a->ready, 1);
    while (!stopped || result != WS_STEAL_EMPTY) {
        const size_t hits = t->hits;
        stopped = wsi_u32_load_acquire(&a->stop) != 0;
        result = a->turn(t);
        if (hits == 0 && t->hits > 0) {
            wsi_u32_fetch_add_acq_rel(&a->with_hits, 1);
        }
        if (result != WS_STEAL_SUCCESS || a->generous) {
            wsi_thread_yield();
        }
    }
    wsi_u64_fetch_add_acq_rel(&a->consumed, t->hits);
    return NULL;
}

static arena *arena_open(ws_flavor flavor, size_t capacity, uint64_t start,
                         size_t n_thieves, ws_steal (*turn)(thief *t))
{
    arena *a = calloc(1, sizeof(*a));
    assert_non_null(a);
    assert_true(n_thieves <= MAX_THIEVES);
    assert_true(wsi_deque_init(&a->deque, flavor, capacity, start));
    a->flavor = flavor;
    a->n_thieves = n_thieves;
    a->turn = turn;
    return a;
}

/* Starts the thieves and waits until all of them run. */
static void arena_start(arena *a)
{
    for (size_t i = 0; i < a->n_thieves; i++) {
        thief *t = &a->thieves[i];
        t->arena = a;
        t->random = i * 7919 + 1;
        assert_true(
            wsi_deque_init(&t->own, i % 2 == 0 ? WS_LIFO : WS_FIFO, 2, i));
        assert_int_equal(wsi_thread_start(&t->thread, 0, NULL, thief_main, t),
                         0);
    }
    while (wsi_u32_load_acquire(&a->ready) != a->n_thieves) {
        wsi_thread_yield();
    }
}

/* Lets the thieves end and joins them.  Returns how many items they took. */
static size_t arena_join(arena *a)
{
    wsi_u32_store_release(&a->stop, 1);
    for (size_t i = 0; i < a->n_thieves; i++) {
        assert_int_equal(wsi_thread_join(a->thieves[i].thread), 0);
        assert_int_equal(wsi_deque_len(&a->thieves[i].own), 0);
        wsi_deque_destroy(&a->thieves[i].own);
    }
    return (size_t)wsi_u64_load_acquire(&a->consumed);
}

static void arena_close(arena *a)
{
    assert_int_equal(wsi_deque_len(&a->deque), 0);
    wsi_deque_destroy(&a->deque);
    free(a);
}

static void push(arena *a, size_t i)
{
    WS_TEST_REQUIRE(wsi_deque_push(&a->deque, item(i)) != WSI_PUSH_FULL);
}

static size_t pop(arena *a)
{
    void *p = wsi_deque_pop(&a->deque);
    if (p != NULL) {
        consume(a, p);
    }
    return id(p);
}

/* ---- what thieves do ------------------------------------------------- */

static wsi_steal_mode next_mode(thief *t)
{
    return (wsi_steal_mode)(ws_test_random(&t->random) % 3);
}

static ws_steal turn_single(thief *t)
{
    void *out = NULL;
    const ws_steal result =
        wsi_deque_steal(&t->arena->deque, next_mode(t), &out);
    if (result == WS_STEAL_SUCCESS) {
        consume(t->arena, out);
        t->hits++;
        t->last = id(out);
    }
    return result;
}

/* Values that are pushed in rising order are stolen so. */
static ws_steal turn_rising(thief *t)
{
    const size_t last = t->last;
    const ws_steal result = turn_single(t);
    WS_TEST_REQUIRE(result != WS_STEAL_SUCCESS || t->last > last);
    return result;
}

static ws_steal turn_in_order(thief *t)
{
    const size_t last = t->last;
    const ws_steal result = turn_single(t);
    WS_TEST_REQUIRE(result != WS_STEAL_SUCCESS || t->last == last + 1);
    return result;
}

/* Consumes what a batch brought: `first`, if there is one, and all of t->own */
static void take_batch(thief *t, ws_steal result, void *first)
{
    size_t n = 0;
    void *p = first != NULL ? first : wsi_deque_pop(&t->own);
    for (; p != NULL; p = wsi_deque_pop(&t->own)) {
        consume(t->arena, p);
        n++;
    }
    WS_TEST_REQUIRE((n > 0) == (result == WS_STEAL_SUCCESS));
    WS_TEST_REQUIRE(n <= WS_STEAL_BATCH_MAX);
    t->hits += n;
}

/* All forms of stealing, in all modes. */
static ws_steal turn_mixed(thief *t)
{
    wsi_deque *dq = &t->arena->deque;
    const uint64_t r = ws_test_random(&t->random) >> 32;
    ws_steal result = WS_STEAL_RETRY;
    void *out = NULL;
    bool answered;
    switch (r % 6) {
    case 0:
    case 1:
        return turn_single(t);
    case 2:
        result = wsi_deque_steal_batch(dq, &t->own, WS_STEAL_BATCH_MAX,
                                       next_mode(t), NULL, &answered);
        take_batch(t, result, NULL);
        return result;
    case 3:
        result = wsi_deque_steal_batch(dq, &t->own, 1 + (size_t)(r / 6 % 40),
                                       next_mode(t), &out, &answered);
        take_batch(t, result, out);
        return result;
    case 4:
        wsi_deque_force_open(dq);
        return WS_STEAL_RETRY;
    default:
        result = wsi_deque_steal_seen(dq, wsi_deque_look(dq), &out);
        take_batch(t, result, out);
        /* EMPTY only says that nothing was public. */
        return result == WS_STEAL_SUCCESS ? result : WS_STEAL_RETRY;
    }
}

/* ---- cases ----------------------------------------------------------- */

static void spsc(void **state)
{
    const size_t n = ws_test_scale(50000);
    arena *a = arena_open(*(ws_flavor *)*state, 2, 0, 1, turn_in_order);
    arena_start(a);
    for (size_t i = 1; i <= n; i++) {
        push(a, i);
    }
    assert_int_equal(arena_join(a), n);
    assert_int_equal(pop(a), 0);
    arena_close(a);
}

/* Everything is there when the thieves start. */
static void stampede(void **state)
{
    const size_t n = ws_test_scale(100000);
    const ws_flavor flavor = *(ws_flavor *)*state;
    arena *a = arena_open(flavor, 2, 0, 8, turn_rising);
    for (size_t i = 1; i <= n; i++) {
        push(a, i);
    }
    arena_start(a);
    size_t popped = 0;
    size_t last = flavor == WS_LIFO ? n + 1 : 0;
    for (size_t i; (i = pop(a)) != 0; popped++) {
        assert_true(flavor == WS_LIFO ? i < last : i > last);
        last = i;
    }
    assert_int_equal(popped + arena_join(a), n);
    arena_close(a);
}

/* Pushes and pops at random, about 5 to 3; every item is followed.  The owner
 * makes way now and then: it would outrun thieves that share its CPU. */
static void follow(arena *a, size_t n, uint64_t random)
{
    size_t popped = 0;
    size_t next = 1;
    a->n_seen = n;
    a->seen = calloc(n + 1, sizeof(*a->seen));
    assert_non_null(a->seen);
    arena_start(a);
    while (next <= n) {
        const uint64_t r = ws_test_random(&random);
        size_t burst = r % 256 == 0 ? 1000 : r % 8;
        if (r >> 61 < 5) {
            for (; burst > 0 && next <= n; burst--) {
                push(a, next++);
            }
        } else {
            for (; burst > 0 && pop(a) != 0; burst--) {
                popped++;
            }
        }
        if ((r >> 32) % 64 == 0 || wsi_deque_len(&a->deque) > 5000) {
            wsi_thread_yield();
        }
    }
    while (pop(a) != 0) {
        popped++;
    }
    assert_int_equal(popped + arena_join(a), n);
    for (size_t i = 1; i <= n; i++) {
        /* relaxed: all threads were joined */
        assert_int_equal(wsi_u32_load_relaxed(&a->seen[i]), 1);
    }
    free(a->seen);
    arena_close(a);
}

static void stress(void **state)
{
    follow(arena_open(*(ws_flavor *)*state, 64, 0, 8, turn_mixed),
           ws_test_scale(200000), 11);
}

/* 16 threads, the smallest buffer, indices that wrap on the way. */
static void exactly_once(void **state)
{
    const uint64_t start = ((uint64_t)1 << 40) - ws_test_scale(300000);
    follow(arena_open(*(ws_flavor *)*state, 2, start, MAX_THIEVES, turn_mixed),
           ws_test_scale(1000000), 13);
}

/* New deques all the time: growth from capacity 2 meets thieves each time. */
static void growth_stress(void **state)
{
    const size_t rounds = ws_test_scale(200);
    for (size_t i = 0; i < rounds; i++) {
        follow(arena_open(*(ws_flavor *)*state, 2, i, 2, turn_mixed), 3000,
               i + 1);
    }
}

/* There is always enough for all, so whoever runs gets something. */
static void no_starvation(void **state)
{
    arena *a = arena_open(*(ws_flavor *)*state, 2, 0, 8, turn_mixed);
    uint64_t random = 17;
    size_t pushed = 0;
    size_t popped = 0;
    a->generous = true;
    arena_start(a);
    while (wsi_u32_load_acquire(&a->with_hits) != a->n_thieves) {
        while (wsi_deque_len(&a->deque) < 1000) {
            if (ws_test_random(&random) >> 62 != 0) {
                push(a, ++pushed);
            } else if (pop(a) != 0) {
                popped++;
            }
        }
        wsi_thread_yield();
    }
    while (pop(a) != 0) {
        popped++;
    }
    assert_int_equal(popped + arena_join(a), pushed);
    arena_close(a);
}

/* ---- destructors ----------------------------------------------------- */

typedef struct {
    ws_stealer *stealer;
    wsi_thread thread;
    wsi_atomic_u32 *seen;
    size_t quota;
} taker;

/* Steals its quota and lets go of the deque. */
static void *taker_main(void *arg)
{
    taker *t = arg;
    while (t->quota > 0) {
        void *out;
        const ws_steal result = ws_stealer_steal(t->stealer, &out);
        WS_TEST_REQUIRE(result != WS_STEAL_EMPTY);
        if (result == WS_STEAL_SUCCESS) {
            WS_TEST_REQUIRE(wsi_u32_fetch_add_relaxed(&t->seen[id(out)], 1) ==
                            0);
            t->quota--;
        }
    }
    ws_stealer_release(t->stealer);
    return NULL;
}

static size_t n_dropped;
static size_t last_dropped;

/* Also on a thief's thread: whichever has the last handle. */
static void drop(void *p, void *arg)
{
    wsi_atomic_u32 *seen = arg;
    WS_TEST_REQUIRE(wsi_u32_fetch_add_relaxed(&seen[id(p)], 1) == 0);
    WS_TEST_REQUIRE(n_dropped == 0 || id(p) == last_dropped + 1);
    last_dropped = id(p);
    n_dropped++;
}

/* Every item is taken once or dropped once; what is left is consecutive. */
static void destructors(void **state)
{
    enum {
        TAKERS = 8
    };
    const size_t n = ws_test_scale(50000);
    const size_t quota = n / 20;
    taker takers[TAKERS];
    ws_worker_opts opts = WS_WORKER_OPTS_INIT;
    ws_worker *worker;
    wsi_atomic_u32 *seen = calloc(n + 1, sizeof(*seen));
    assert_non_null(seen);
    opts.capacity = 2;
    opts.drop = drop;
    opts.drop_arg = seen;
    n_dropped = 0;
    assert_int_equal(ws_worker_create(&worker, *(ws_flavor *)*state, &opts),
                     WS_OK);
    for (size_t i = 1; i <= n; i++) {
        assert_int_equal(ws_worker_push(worker, item(i)), WS_OK);
    }
    for (size_t i = 0; i < TAKERS; i++) {
        takers[i] = (taker){.seen = seen, .quota = quota};
        assert_int_equal(ws_worker_stealer(worker, &takers[i].stealer), WS_OK);
        assert_int_equal(wsi_thread_start(&takers[i].thread, 0, NULL,
                                          taker_main, &takers[i]),
                         0);
    }
    for (size_t i = 0; i < n / 10; i++) {
        void *p = ws_worker_pop(worker);
        assert_non_null(p);
        assert_int_equal(wsi_u32_fetch_add_relaxed(&seen[id(p)], 1), 0);
    }
    ws_worker_destroy(worker);
    for (size_t i = 0; i < TAKERS; i++) {
        assert_int_equal(wsi_thread_join(takers[i].thread), 0);
    }
    assert_int_equal(n_dropped, n - n / 10 - TAKERS * quota);
    for (size_t i = 1; i <= n; i++) {
        assert_int_equal(wsi_u32_load_relaxed(&seen[i]), 1);
    }
    free(seen);
}

#define BOTH(name)                                                             \
    {#name "_lifo", name, NULL, NULL, &flavors[0]},                            \
    {                                                                          \
#name "_fifo", name, NULL, NULL, &flavors[1]                           \
    }

static const struct CMUnitTest tests[] = {
    BOTH(spsc),         BOTH(stampede),      BOTH(stress),
    BOTH(exactly_once), BOTH(growth_stress), BOTH(no_starvation),
    BOTH(destructors),
};
WS_TEST_MAIN(tests)
