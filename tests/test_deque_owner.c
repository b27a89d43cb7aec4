/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_deque_owner.c: the protocol of the deque, step by step, without claims.
 *
 * White box, one thread: what a poison opens, what the owner takes back, that
 * an old view never matches, the limit of the packed count.  Each case runs
 * with the indices beginning at 0 and just below 2^40, where they wrap.  Claims
 * are in test_deque_claim.c.
 */
#include "support/deque_probe.h"

/* ---- poison ---------------------------------------------------------- */

static void poisoned_push_is_answered_and_opens_half(void **state)
{
    for (size_t n = 0; n < 10; n++) {
        begin(state, WS_LIFO, 64, n);
        wsi_deque_poison(dq);
        wsi_deque_poison(dq);
        assert_int_equal(wsi_u64_load_relaxed(&dq->limit), 0);
        expect_range(0, 0, 0);
        assert_int_equal(wsi_deque_push(dq, item(n + 1)), WSI_PUSH_ANSWERED);
        expect_range((n + 2) / 2, (n + 2) / 2, 0);
        assert_int_equal(wsi_deque_push(dq, item(n + 2)), WSI_PUSH_OK);
        /* A poison while items are public is answered, and opens no more. */
        wsi_deque_poison(dq);
        assert_int_equal(wsi_deque_push(dq, item(n + 3)), WSI_PUSH_ANSWERED);
        expect_range((n + 2) / 2, (n + 2) / 2, 0);
        end(1, n + 4);
    }
}

static void poisoned_append_is_answered_once(void **state)
{
    void *items[] = {item(4), item(5), item(6), item(7)};
    begin(state, WS_LIFO, 4, 3);
    assert_int_equal(wsi_deque_reserve(dq, 4), 4);
    wsi_deque_poison(dq);
    assert_int_equal(wsi_deque_append(dq, items, 0), WSI_PUSH_OK);
    assert_int_equal(wsi_deque_append(dq, items, 4), WSI_PUSH_ANSWERED);
    expect_range(4, 4, 0);
    assert_int_equal(wsi_deque_push(dq, item(8)), WSI_PUSH_OK);
    end(1, 9);
}

static void polite_thief_touches_nothing_but_limit(void **state)
{
    wsi_deque before;
    begin(state, WS_LIFO, 64, 0);
    memcpy(&before, dq, sizeof(before));
    steal(WSI_STEAL_POLITE, WS_STEAL_EMPTY);
    assert_memory_equal(&before, dq, sizeof(before));
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(wsi_deque_push(dq, item(i)), WSI_PUSH_OK);
    }
    wsi_port_ops.membarrier = NULL; /* would crash */
    dq->fences = WSI_FENCES_ASYMMETRIC;
    memcpy(&before, dq, sizeof(before));
    for (int i = 0; i < 3; i++) {
        wsi_deque dest;
        bool answered;
        steal(WSI_STEAL_POLITE, WS_STEAL_RETRY);
        assert_true(wsi_deque_init(&dest, WS_LIFO, 4, 0));
        assert_int_equal(wsi_deque_steal_batch(dq, &dest, 9, WSI_STEAL_POLITE,
                                               NULL, &answered),
                         WS_STEAL_RETRY);
        assert_int_equal(wsi_deque_len(&dest), 0);
        wsi_deque_destroy(&dest);
        wsi_u64_init(&before.limit, 0);
        assert_memory_equal(&before, dq, sizeof(before));
    }
    assert_int_equal(wsi_deque_push(dq, item(4)), WSI_PUSH_ANSWERED);
    assert_int_equal(steal(WSI_STEAL_POLITE, WS_STEAL_SUCCESS), 1);
    assert_int_equal(steal(WSI_STEAL_POLITE, WS_STEAL_SUCCESS), 2);
    steal(WSI_STEAL_POLITE, WS_STEAL_RETRY);
    dq->fences = wsi_fences_mode();
    end(3, 5);
}

/* ---- the owner pops -------------------------------------------------- */

static void pop_of_empty_changes_nothing(void **state)
{
    begin(state, WS_LIFO, 2, 0);
    for (size_t i = 1; i <= 10; i++) {
        assert_int_equal(pop(), 0);
        assert_int_equal(wsi_deque_mark(dq), start);
        expect_range(0, 0, 0);
        assert_int_equal(wsi_deque_push(dq, item(i)), WSI_PUSH_OK);
        assert_int_equal(wsi_deque_mark(dq), start + 1);
        assert_int_equal(pop(), i);
    }
    end(1, 1);
}

/* Six items, three public; the owner pops the private ones. */
static void three_public(void **state, size_t capacity)
{
    begin(state, WS_LIFO, capacity, 6);
    wsi_deque_force_open(dq);
    for (size_t i = 6; i > 3; i--) {
        assert_int_equal(pop(), i);
    }
    expect_range(3, 3, 0);
    assert_int_equal(wsi_deque_mark(dq), start + 3);
}

static void pop_of_a_public_item_takes_the_older_ones_back(void **state)
{
    for (size_t capacity = 2; capacity <= 64; capacity *= 2) {
        three_public(state, capacity);
        assert_int_equal(pop(), 3);
        /* Indices 3 and 4 hold the items 1 and 2 now. */
        expect_range(3, 0, 0);
        assert_int_equal(wsi_deque_mark(dq), start + 2);
        assert_int_equal(wsi_u64_load_relaxed(&dq->bottom), start + 5);
        assert_int_equal(id(wsi_deque_item(dq, start + 3)), 1);
        assert_int_equal(id(wsi_deque_item(dq, start + 4)), 2);
        assert_int_equal(wsi_deque_push(dq, item(3)), WSI_PUSH_OK);
        assert_int_equal(wsi_deque_mark(dq), start + 3);
        assert_int_equal(pop(), 3);
        end(1, 3);
    }
}

static void pop_of_the_only_public_item_moves_nothing(void **state)
{
    begin(state, WS_LIFO, 4, 1);
    wsi_deque_force_open(dq);
    expect_range(1, 1, 0);
    wsi_deque_poison(dq);
    assert_int_equal(pop(), 1);
    expect_range(1, 0, 0);
    assert_int_equal(wsi_deque_mark(dq), start);
    assert_int_equal(wsi_u64_load_relaxed(&dq->bottom), start + 1);
    /* With nothing to offer the poison waits for the next push. */
    assert_int_equal(wsi_deque_push(dq, item(2)), WSI_PUSH_ANSWERED);
    end(2, 3);
}

static void poison_waits_through_a_take_back(void **state)
{
    three_public(state, 8);
    wsi_deque_poison(dq);
    assert_int_equal(pop(), 3);
    expect_range(3, 0, 0);
    steal(WSI_STEAL_POLITE, WS_STEAL_RETRY);
    assert_int_equal(wsi_deque_push(dq, item(3)), WSI_PUSH_ANSWERED);
    expect_range(5, 2, 0);
    end(1, 4);
}

/* ---- views ----------------------------------------------------------- */

static void stale_view_takes_nothing(void **state)
{
    void *out = NULL;
    begin(state, WS_LIFO, 8, 8);
    wsi_deque_view view = wsi_deque_look(dq);
    assert_int_equal(wsi_deque_steal_seen(dq, view, &out), WS_STEAL_EMPTY);
    wsi_deque_force_open(dq);
    view = wsi_deque_look(dq);
    /* Private pushes and pops do not disturb it. */
    assert_int_equal(pop(), 8);
    assert_int_equal(wsi_deque_push(dq, item(8)), WSI_PUSH_OK);
    assert_int_equal(wsi_deque_steal_seen(dq, view, &out), WS_STEAL_SUCCESS);
    assert_int_equal(id(out), 1);
    out = NULL;
    assert_int_equal(wsi_deque_steal_seen(dq, view, &out), WS_STEAL_RETRY);
    assert_null(out);
    expect_range(4, 3, 0);
    end(2, 9);
}

/* The owner takes public items back and opens as many others, which lie in the
 * same slots: an old view must not match. */
static void view_survives_no_take_back(void **state)
{
    void *out = NULL;
    three_public(state, 4);
    const wsi_deque_view view = wsi_deque_look(dq);
    assert_int_equal(pop(), 3);
    assert_int_equal(pop(), 2);
    assert_int_equal(pop(), 1);
    for (size_t i = 11; i <= 16; i++) {
        assert_int_equal(wsi_deque_push(dq, item(i)), WSI_PUSH_OK);
    }
    wsi_deque_force_open(dq);
    for (size_t i = 16; i > 13; i--) {
        assert_int_equal(pop(), i);
    }
    assert_int_equal(wsi_range_count(wsi_deque_look(dq)), 3);
    assert_int_equal(wsi_deque_mark(dq), start + 3);
    assert_int_equal(wsi_deque_steal_seen(dq, view, &out), WS_STEAL_RETRY);
    assert_null(out);
    end(11, 14);
}

static void force_open_opens_half_and_takes_nothing(void **state)
{
    for (size_t n = 0; n < 10; n++) {
        begin(state, WS_LIFO, 4, n);
        wsi_deque_force_open(dq);
        expect_range((n + 1) / 2, (n + 1) / 2, 0);
        wsi_deque_force_open(dq); /* something is public: no more */
        expect_range((n + 1) / 2, (n + 1) / 2, 0);
        end(1, n + 1);
    }
}

/* ---- the limit of count ---------------------------------------------- */

static void count_stops_at_4095_lifo(void **state)
{
    begin(state, WS_LIFO, 2, 10000);
    wsi_deque_poison(dq);
    assert_int_equal(wsi_deque_push(dq, item(10001)), WSI_PUSH_ANSWERED);
    expect_range(4095, 4095, 0);
    for (size_t i = 1; i <= 4095; i++) {
        assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), i);
    }
    expect_range(4095, 0, 0);
    wsi_deque_force_open(dq); /* 2953 of 5906 */
    expect_range(4095 + 2953, 2953, 0);
    for (size_t i = 10001; i > 6000; i--) {
        assert_int_equal(pop(), i); /* through a take-back of 1905 items */
    }
    end(4096, 6001);
}

static void count_stops_at_4095_fifo(void **state)
{
    begin(state, WS_FIFO, 2, 10000);
    expect_range(4095, 4095, 0);
    assert_int_equal(pop(), 1);
    assert_int_equal(wsi_deque_push(dq, item(10001)), WSI_PUSH_OK);
    expect_range(4096, 4095, 0);
    for (size_t i = 2; i <= 4095; i++) {
        assert_int_equal(
            i % 3 == 0 ? pop() : steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), i);
    }
    assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), 4096);
    expect_range(4096, 0, 0);
    end(4097, 10002);
}

static const struct CMUnitTest tests[] = {
    AT_BOTH_ENDS(poisoned_push_is_answered_and_opens_half),
    AT_BOTH_ENDS(poisoned_append_is_answered_once),
    AT_BOTH_ENDS(polite_thief_touches_nothing_but_limit),
    AT_BOTH_ENDS(pop_of_empty_changes_nothing),
    AT_BOTH_ENDS(pop_of_a_public_item_takes_the_older_ones_back),
    AT_BOTH_ENDS(pop_of_the_only_public_item_moves_nothing),
    AT_BOTH_ENDS(poison_waits_through_a_take_back),
    AT_BOTH_ENDS(stale_view_takes_nothing),
    AT_BOTH_ENDS(view_survives_no_take_back),
    AT_BOTH_ENDS(force_open_opens_half_and_takes_nothing),
    AT_BOTH_ENDS(count_stops_at_4095_lifo),
    AT_BOTH_ENDS(count_stops_at_4095_fifo),
};
WS_TEST_MAIN(tests)
