/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_injector_stress.c: the segmented queue, by up to 16 threads.
 *
 * Every item comes out exactly once, whichever form of stealing takes it, and
 * in order where one pusher or one thief makes an order.  Each case runs with
 * the indices beginning at 0, just below 2^32 and just below 2^64.
 */
#include "support/test.h"

#include "port/platform.h"
#include "queue/injector.h"

static void *item(size_t i)
{
    return (void *)(uintptr_t)i;
}

static size_t id(const void *p)
{
    return (size_t)(uintptr_t)p;
}

static uint64_t starts[] = {0, ((uint64_t)1 << 32) - 3 * WSI_INJECTOR_LAP,
                            UINT64_MAX - 3 * WSI_INJECTOR_LAP + 1};

enum {
    MAX_THREADS = 16
};

typedef struct team team;

typedef struct {
    team *team;
    wsi_thread thread;
    size_t index;
    uint64_t random;
    size_t hits;
} member;

struct team {
    wsi_injector queue;
    size_t n;             /* items of the pushers, numbered from 1 */
    wsi_atomic_u64 total; /* thieves end when so many are consumed */
    wsi_atomic_u64 next;
    wsi_atomic_u64 consumed;
    wsi_atomic_u32 with_hits;
    wsi_atomic_u32 ready;
    size_t n_pushers;
    size_t n_thieves;
    bool single;          /* thieves take one item at a time */
    bool generous;        /* and make way after each turn */
    wsi_atomic_u32 *seen; /* how often each item came out, or NULL */
    member members[MAX_THREADS];
};

static void meet(team *t)
{
    wsi_u32_fetch_add_acq_rel(&t->ready, 1);
    while (wsi_u32_load_acquire(&t->ready) != t->n_pushers + t->n_thieves) {
        wsi_thread_yield();
    }
}

static void *pusher_main(void *arg)
{
    member *m = arg;
    team *t = m->team;
    meet(t);
    for (;;) {
        const size_t i = (size_t)wsi_u64_fetch_add_relaxed(&t->next, 1) + 1;
        if (i > t->n) {
            return NULL;
        }
        WS_TEST_REQUIRE(wsi_injector_push(&t->queue, item(i)));
        if (ws_test_random(&m->random) % 256 == 0) {
            wsi_thread_yield();
        }
    }
}

static void consume(member *m, void *p)
{
    team *t = m->team;
    WS_TEST_REQUIRE(p != NULL);
    if (t->seen != NULL) {
        WS_TEST_REQUIRE(id(p) <= t->n);
        WS_TEST_REQUIRE(wsi_u32_fetch_add_relaxed(&t->seen[id(p)], 1) == 0);
    }
    if (m->hits++ == 0) {
        wsi_u32_fetch_add_acq_rel(&t->with_hits, 1);
    }
    wsi_u64_fetch_add_relaxed(&t->consumed, 1);
}

static void *thief_main(void *arg)
{
    member *m = arg;
    team *t = m->team;
    size_t last = 0;
    wsi_deque own;
    WS_TEST_REQUIRE(
        wsi_deque_init(&own, m->index % 2 == 0 ? WS_LIFO : WS_FIFO, 2, 0));
    meet(t);
    while (wsi_u64_load_relaxed(&t->consumed) <
           wsi_u64_load_acquire(&t->total)) {
        const uint64_t r = t->single ? 0 : ws_test_random(&m->random) >> 32;
        void *out = NULL;
        bool answered;
        ws_steal result;
        if (r % 3 == 0) {
            result = wsi_injector_steal(&t->queue, &out);
        } else {
            result = wsi_injector_steal_batch(
                &t->queue, &own, 1 + (size_t)(r / 3 % 40),
                r % 3 == 1 ? &out : NULL, &answered);
        }
        const size_t hits = m->hits;
        void *p = out != NULL ? out : wsi_deque_pop(&own);
        for (; p != NULL; p = wsi_deque_pop(&own)) {
            /* With one pusher a thief sees the items in order, and with one
             * thief it sees all. */
            WS_TEST_REQUIRE(t->n_pushers > 1 || id(p) > last);
            WS_TEST_REQUIRE(t->n_pushers > 1 || t->n_thieves > 1 ||
                            id(p) == last + 1);
            last = id(p);
            consume(m, p);
        }
        WS_TEST_REQUIRE((m->hits > hits) == (result == WS_STEAL_SUCCESS));
        if (result != WS_STEAL_SUCCESS || t->generous) {
            wsi_thread_yield();
        }
    }
    wsi_deque_destroy(&own);
    return NULL;
}

static team *team_open(uint64_t start, size_t n, size_t n_pushers,
                       size_t n_thieves)
{
    team *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    assert_true(n_pushers + n_thieves <= MAX_THREADS);
    assert_true(wsi_injector_init(&t->queue, start));
    t->n = n;
    t->n_pushers = n_pushers;
    t->n_thieves = n_thieves;
    wsi_u64_init(&t->total, n);
    t->seen = calloc(n + 1, sizeof(*t->seen));
    assert_non_null(t->seen);
    return t;
}

static void team_start(team *t)
{
    for (size_t i = 0; i < t->n_pushers + t->n_thieves; i++) {
        member *m = &t->members[i];
        m->team = t;
        m->index = i;
        m->random = i * 7919 + 1;
        assert_int_equal(
            wsi_thread_start(&m->thread, 0, NULL,
                             i < t->n_pushers ? pusher_main : thief_main, m),
            0);
    }
}

/* Every item came out once, and nothing is left. */
static void team_close(team *t)
{
    for (size_t i = 0; i < t->n_pushers + t->n_thieves; i++) {
        assert_int_equal(wsi_thread_join(t->members[i].thread), 0);
    }
    assert_int_equal(wsi_injector_len(&t->queue), 0);
    assert_int_equal(wsi_u64_load_relaxed(&t->consumed),
                     wsi_u64_load_relaxed(&t->total));
    for (size_t i = 1; t->seen != NULL && i <= t->n; i++) {
        assert_int_equal(wsi_u32_load_relaxed(&t->seen[i]), 1);
    }
    wsi_injector_destroy(&t->queue);
    free(t->seen);
    free(t);
}

static void spsc(void **state)
{
    team *t = team_open(*(uint64_t *)*state, ws_test_scale(100000), 1, 1);
    t->single = true;
    team_start(t);
    team_close(t);
}

static void mpmc(void **state)
{
    team *t = team_open(*(uint64_t *)*state, ws_test_scale(100000), 4, 4);
    t->single = true;
    team_start(t);
    team_close(t);
}

/* Everything is there when the thieves start; each sees rising values. */
static void stampede(void **state)
{
    team *t = team_open(*(uint64_t *)*state, ws_test_scale(100000), 0, 8);
    for (size_t i = 1; i <= t->n; i++) {
        assert_true(wsi_injector_push(&t->queue, item(i)));
    }
    team_start(t);
    team_close(t);
}

static void stress(void **state)
{
    team *t = team_open(*(uint64_t *)*state, ws_test_scale(200000), 3, 5);
    team_start(t);
    team_close(t);
}

static void exactly_once_with_16_threads(void **state)
{
    team *t = team_open(*(uint64_t *)*state, ws_test_scale(1000000), 8, 8);
    team_start(t);
    team_close(t);
}

/* There is always enough for all, so whoever runs gets something. */
static void no_starvation(void **state)
{
    team *t = team_open(*(uint64_t *)*state, 0, 0, 8);
    size_t pushed = 0;
    free(t->seen);
    t->seen = NULL;
    t->generous = true;
    wsi_u64_init(&t->total, UINT64_MAX);
    team_start(t);
    while (wsi_u32_load_acquire(&t->with_hits) != t->n_thieves) {
        while (wsi_injector_len(&t->queue) < 1000) {
            assert_true(wsi_injector_push(&t->queue, item(++pushed)));
        }
        wsi_thread_yield();
    }
    wsi_u64_store_release(&t->total, pushed);
    team_close(t);
}

/* Thieves take a part; what is left is consecutive. */
static void destructors(void **state)
{
    const size_t n = ws_test_scale(50000);
    team *t = team_open(*(uint64_t *)*state, n, 0, 8);
    for (size_t i = 1; i <= n; i++) {
        assert_true(wsi_injector_push(&t->queue, item(i)));
    }
    wsi_u64_init(&t->total, n / 2);
    team_start(t);
    for (size_t i = 0; i < t->n_thieves; i++) {
        assert_int_equal(wsi_thread_join(t->members[i].thread), 0);
    }
    t->n_thieves = 0;
    const size_t taken = (size_t)wsi_u64_load_relaxed(&t->consumed);
    assert_in_range(taken, n / 2, n - 1);
    for (size_t i = 1; i <= n; i++) {
        void *out;
        if (i > taken) {
            assert_int_equal(wsi_injector_steal(&t->queue, &out),
                             WS_STEAL_SUCCESS);
            assert_int_equal(id(out), i);
            consume(&t->members[0], out);
        }
    }
    wsi_u64_init(&t->total, n);
    team_close(t);
}

#define AT_ALL_STARTS(name)                                                    \
    {#name, name, NULL, NULL, &starts[0]},                                     \
        {#name "_over_32_bits", name, NULL, NULL, &starts[1]},                 \
    {                                                                          \
#name "_over_64_bits", name, NULL, NULL, &starts[2]                    \
    }

static const struct CMUnitTest tests[] = {
    AT_ALL_STARTS(spsc),
    AT_ALL_STARTS(mpmc),
    AT_ALL_STARTS(stampede),
    AT_ALL_STARTS(stress),
    AT_ALL_STARTS(exactly_once_with_16_threads),
    AT_ALL_STARTS(no_starvation),
    AT_ALL_STARTS(destructors),
};
WS_TEST_MAIN(tests)
