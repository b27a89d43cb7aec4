/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_sleep.c: the sleep module alone, on one thread: what happens between
 * announcing and blocking is called from the module's own operations, so that
 * every interleaving here is forced.  Pools: test_sleep_edge.c.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include "core/sleep.h"
#include "port/platform.h"

enum {
    N = 4,
    AWAKE = 0, /* the states of sleep.c */
    SLEEPY = 1,
    SLEEPING = 2,
    ON_LATCH = 3
};

typedef struct bed bed;

struct bed {
    wsi_sleep sleep;
    wsi_parker parkers[N];
    wsi_latch latch;
    wsi_sleep_ops ops;
    char calls[16]; /* 'a' = ask, 'l' = look, 'c' = about to block */
    bool has_work;
    void (*during_look)(bed *b);
    void (*during_commit)(bed *b);
};

static void note(bed *b, char what)
{
    size_t n = strlen(b->calls);
    assert_true(n + 1 < sizeof(b->calls));
    b->calls[n] = what;
}

static unsigned count(const bed *b, unsigned shift)
{
    /* relaxed: no other thread */
    return (unsigned)(wsi_u64_load_relaxed(&b->sleep.word) >> shift & 0xffff);
}

static unsigned sleeping(const bed *b)
{
    return count(b, 0);
}

static unsigned searching(const bed *b)
{
    return count(b, 16);
}

static uint32_t events(const bed *b)
{
    return count(b, 48) << 16 | count(b, 32);
}

static uint32_t state_of(const bed *b, unsigned index)
{
    /* relaxed: no other thread */
    return wsi_u32_load_relaxed(&b->parkers[index].state);
}

static void ask(void *pool)
{
    note(pool, 'a');
}

static bool look(void *pool, unsigned self)
{
    (void)self;
    bed *b = pool;
    note(b, 'l');
    if (b->during_look != NULL) {
        b->during_look(b);
    }
    return b->has_work;
}

static bed *in_commit;

static void at_point(wsi_point point, void *object)
{
    if (point == WSI_POINT_SLEEP_COMMIT) {
        assert_ptr_equal(object, &in_commit->sleep);
        note(in_commit, 'c');
        if (in_commit->during_commit != NULL) {
            in_commit->during_commit(in_commit);
        }
    }
}

static unsigned owner; /* of the latch that was set */

static void make(bed *b, uint32_t first_event)
{
    memset(b, 0, sizeof(*b));
    wsi_sleep_init(&b->sleep, b->parkers, N, first_event);
    wsi_latch_init(&b->latch, wsi_latch_new(1));
    b->ops = (wsi_sleep_ops){ask, look, b};
    in_commit = b;
    wsi_port_ops.at_point = at_point;
}

/* Worker 1 has nothing to do, and nobody else does anything. */
static bool block(bed *b)
{
    wsi_sleep_begin_search(&b->sleep);
    return wsi_sleep_block(&b->sleep, 1, &b->latch, &b->ops, UINT64_MAX);
}

static void assert_searches_again(const bed *b)
{
    assert_int_equal(searching(b), 1);
    assert_int_equal(sleeping(b), 0);
    assert_int_equal(state_of(b, 1), AWAKE);
}

/* ---- going to sleep -------------------------------------------------- */

static void is_announced(bed *b)
{
    assert_string_equal(b->calls, "al");
    assert_int_equal(searching(b), 0);
    assert_int_equal(sleeping(b), 1);
    assert_int_equal(state_of(b, 1), SLEEPY);
}

static void announces_and_asks_before_the_last_look(void **state)
{
    (void)state;
    static bed b;
    make(&b, 0);
    b.during_look = is_announced;
    b.has_work = true;
    assert_false(block(&b));
    assert_string_equal(b.calls, "al");
    assert_searches_again(&b);
    assert_int_equal(events(&b), 0);
    assert_false(wsi_latch_is_set(&b.latch));
    /* Nobody has to wake the waiter now. */
    assert_false(wsi_latch_set(&b.latch, &owner));
}

static void latch_that_is_set_forbids_sleep(void **state)
{
    (void)state;
    static bed b;
    make(&b, 0);
    assert_false(wsi_latch_set(&b.latch, &owner));
    assert_false(block(&b));
    assert_string_equal(b.calls, "");
    assert_searches_again(&b);
}

static void announce(bed *b)
{
    assert_int_equal(wsi_sleep_announce_jobs(&b->sleep, 3), 1);
}

static void announce_to_nobody(bed *b)
{
    assert_int_equal(wsi_sleep_announce_jobs(&b->sleep, 3), 1);
    /* It has been woken: nobody is left to wake. */
    assert_int_equal(wsi_sleep_announce_jobs(&b->sleep, 3), 0);
    assert_int_equal(wsi_sleep_wake_one(&b->sleep, 3), 0);
}

static void set_latch(bed *b)
{
    wsi_sleep_set_latch(&b->sleep, &b->latch);
}

static void wake(bed *b)
{
    wsi_sleep_wake(&b->sleep, 1);
}

static void nothing_lost_during(bool look_or_commit)
{
    static void (*const comes[])(bed *) = {announce, announce_to_nobody,
                                           set_latch, wake};
    for (size_t i = 0; i < sizeof(comes) / sizeof(comes[0]); i++) {
        static bed b;
        /* The events may wrap. */
        make(&b, i % 2 == 0 ? UINT32_MAX : 7);
        b.during_look = look_or_commit ? comes[i] : NULL;
        b.during_commit = look_or_commit ? NULL : comes[i];
        assert_false(block(&b));
        assert_searches_again(&b);
        assert_int_equal(wsi_latch_is_set(&b.latch), comes[i] == set_latch);
    }
}

static void what_comes_during_the_look_is_not_lost(void **state)
{
    (void)state;
    nothing_lost_during(true);
}

static void what_comes_before_the_commit_is_not_lost(void **state)
{
    (void)state;
    nothing_lost_during(false);
}

static void event_for_another_sleeper_forbids_sleep(void **state)
{
    (void)state;
    static bed b;
    make(&b, 0);
    /* Worker 0 sleeps and is the one that the announcement wakes. */
    wsi_sleep_begin_search(&b.sleep);
    /* relaxed, both: no other thread */
    wsi_u64_store_relaxed(&b.sleep.word, 1);
    wsi_u32_store_relaxed(&b.parkers[0].state, SLEEPING);
    b.during_look = announce;
    assert_false(block(&b));
    assert_string_equal(b.calls, "al");
    assert_int_equal(state_of(&b, 0), AWAKE);
    /* Each moves only itself: worker 0 has not run yet. */
    assert_int_equal(searching(&b), 1);
    assert_int_equal(sleeping(&b), 1);
}

static bool refuse(void)
{
    return false;
}

/* Blocks, and returns although nobody wakes it. */
static void naps_when_the_heavy_fence_is_refused(void **state)
{
    (void)state;
    static bed b;
    make(&b, 0);
    b.sleep.fences = WSI_FENCES_ASYMMETRIC;
    wsi_port_ops.membarrier = refuse;
    for (int i = 0; i < 3; i++) {
        memset(b.calls, 0, sizeof(b.calls));
        assert_true(block(&b));
        assert_string_equal(b.calls, "alc");
        assert_searches_again(&b);
        assert_int_equal(wsi_sleep_end_search(&b.sleep, 1, &b.ops), 0);
        assert_int_equal(searching(&b), 0);
    }
    wsi_port_ops.membarrier = wsi_membarrier;
}

static void thief_mark_survives_a_sleep(void **state)
{
    (void)state;
    static bed b;
    make(&b, 0);
    b.has_work = true;
    wsi_latch_mark_thief(&b.latch, 1023);
    assert_int_equal(wsi_latch_thief(&b.latch), 1023);
    assert_false(block(&b));
    assert_int_equal(wsi_latch_thief(&b.latch), 1023);
    wsi_latch_set(&b.latch, &owner);
    assert_int_equal(wsi_latch_thief(&b.latch), -1);
}

/* ---- on a latch alone ------------------------------------------------ */

static void latch_or_another_word_ends_the_wait_on_a_latch(void **state)
{
    (void)state;
    static bed b;
    wsi_atomic_u32 also;
    make(&b, 0);
    wsi_u32_init(&also, 1);
    wsi_sleep_block_on_latch(&b.sleep, 1, &b.latch, &also, UINT64_MAX);
    assert_int_equal(state_of(&b, 1), AWAKE);
    assert_false(wsi_latch_set(&b.latch, &owner)); /* nobody to wake */
    wsi_u32_store_relaxed(&also, 0);
    wsi_sleep_block_on_latch(&b.sleep, 1, &b.latch, &also, UINT64_MAX);
    assert_int_equal(state_of(&b, 1), AWAKE);
    assert_int_equal(searching(&b) + sleeping(&b), 0);
}

/* ---- waking ---------------------------------------------------------- */

static void put(bed *b, const uint32_t states[N])
{
    uint64_t n = 0;
    for (unsigned i = 0; i < N; i++) {
        /* relaxed, both: no other thread */
        wsi_u32_store_relaxed(&b->parkers[i].state, states[i]);
        n += states[i] == SLEEPY || states[i] == SLEEPING;
    }
    wsi_u64_store_relaxed(&b->sleep.word, n);
}

static void wakes_the_next_sleeper_in_the_ring(void **state)
{
    static const uint32_t states[N] = {SLEEPING, ON_LATCH, SLEEPY, AWAKE};
    static const unsigned woken[N] = {2, 2, 0, 0};
    (void)state;
    for (unsigned from = 0; from < N; from++) {
        static bed b;
        make(&b, 0);
        put(&b, states);
        assert_int_equal(wsi_sleep_announce_jobs(&b.sleep, from), 1);
        for (unsigned i = 0; i < N; i++) {
            assert_int_equal(state_of(&b, i),
                             i == woken[from] ? AWAKE : states[i]);
        }
        assert_int_equal(events(&b), 1);
        /* The counts are moved by who was woken, when it runs. */
        assert_int_equal(sleeping(&b), 2);
        assert_int_equal(searching(&b), 0);
        /* Another event wakes the other one, and then there is none. */
        assert_int_equal(wsi_sleep_announce_jobs(&b.sleep, from), 1);
        assert_int_equal(wsi_sleep_announce_jobs(&b.sleep, from), 0);
        assert_int_equal(wsi_sleep_wake_one(&b.sleep, from), 0);
        assert_int_equal(state_of(&b, 1), ON_LATCH);
    }
}

static void wakes_one_worker_whatever_it_does(void **state)
{
    static const uint32_t states[N] = {SLEEPING, ON_LATCH, SLEEPY, AWAKE};
    (void)state;
    static bed b;
    make(&b, 0);
    put(&b, states);
    for (unsigned i = 0; i < N; i++) {
        wsi_sleep_wake(&b.sleep, i);
        assert_int_equal(state_of(&b, i), AWAKE);
    }
    assert_int_equal(sleeping(&b), 2);
    assert_int_equal(searching(&b), 0);
}

static void events_wrap_without_touching_the_counts(void **state)
{
    (void)state;
    static bed b;
    make(&b, UINT32_MAX - 1);
    wsi_sleep_begin_search(&b.sleep);
    wsi_sleep_begin_search(&b.sleep);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(events(&b), UINT32_MAX - 1 + i);
        assert_int_equal(wsi_sleep_announce_jobs(&b.sleep, 0), 0);
        assert_int_equal(searching(&b), 2);
        assert_int_equal(sleeping(&b), 0);
    }
}

/* ---- the end of a search --------------------------------------------- */

static void search_ends(bool work, bool fenced, unsigned others,
                        const char *calls, unsigned woken)
{
    static const uint32_t states[N] = {SLEEPING, AWAKE, AWAKE, AWAKE};
    static bed b;
    make(&b, 0);
    put(&b, states);
    b.has_work = work;
    if (!fenced) {
        b.sleep.fences = WSI_FENCES_ASYMMETRIC;
        wsi_port_ops.membarrier = refuse;
    }
    for (unsigned i = 0; i <= others; i++) {
        wsi_sleep_begin_search(&b.sleep);
    }
    assert_int_equal(wsi_sleep_end_search(&b.sleep, 1, &b.ops), woken);
    assert_string_equal(b.calls, calls);
    assert_int_equal(state_of(&b, 0), woken > 0 ? AWAKE : SLEEPING);
    assert_int_equal(sleeping(&b), 1);
    assert_int_equal(searching(&b), others);
    wsi_port_ops.membarrier = wsi_membarrier;
}

static void last_searcher_looks_again_and_wakes_the_next(void **state)
{
    (void)state;
    search_ends(true, true, 0, "al", 1);
    search_ends(false, true, 0, "al", 0);
    /* It cannot know: better one too many. */
    search_ends(false, false, 0, "a", 1);
    /* Another one still searches. */
    search_ends(true, true, 1, "", 0);
}

static void last_searcher_without_sleepers_just_goes(void **state)
{
    (void)state;
    static bed b;
    make(&b, 0);
    wsi_sleep_begin_search(&b.sleep);
    assert_int_equal(wsi_sleep_end_search(&b.sleep, 1, &b.ops), 0);
    assert_string_equal(b.calls, "");
    assert_int_equal(searching(&b), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(announces_and_asks_before_the_last_look),
    cmocka_unit_test(latch_that_is_set_forbids_sleep),
    cmocka_unit_test(what_comes_during_the_look_is_not_lost),
    cmocka_unit_test(what_comes_before_the_commit_is_not_lost),
    cmocka_unit_test(event_for_another_sleeper_forbids_sleep),
    cmocka_unit_test(naps_when_the_heavy_fence_is_refused),
    cmocka_unit_test(thief_mark_survives_a_sleep),
    cmocka_unit_test(latch_or_another_word_ends_the_wait_on_a_latch),
    cmocka_unit_test(wakes_the_next_sleeper_in_the_ring),
    cmocka_unit_test(wakes_one_worker_whatever_it_does),
    cmocka_unit_test(events_wrap_without_touching_the_counts),
    cmocka_unit_test(last_searcher_looks_again_and_wakes_the_next),
    cmocka_unit_test(last_searcher_without_sleepers_just_goes),
};
WS_TEST_MAIN(tests)
