/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * deque_probe.h: for tests that look into one deque, used by one thread.
 *
 * begin() makes the deque `dq`, whose first index is the case's initial state,
 * end() checks what is left of it.  At WSI_POINT_CLAIM_HELD a test can run the
 * owner's or another thief's operations in the middle of a steal.
 */
#ifndef WS_TESTS_SUPPORT_DEQUE_PROBE_H
#define WS_TESTS_SUPPORT_DEQUE_PROBE_H

#include "support/test.h"

#include "port/platform.h"
#include "queue/deque.h"
#include "queue/range.h"

static uint64_t starts[] = {0, ((uint64_t)1 << 40) - 3};

/* Of the running case. */
static uint64_t start;
static wsi_deque deque;
static wsi_deque *const dq = &deque;
static wsi_port_ops_table real_ops;

static inline void *item(size_t i)
{
    return (void *)(uintptr_t)i;
}

static inline size_t id(const void *p)
{
    return (size_t)(uintptr_t)p;
}

static inline void begin(void **state, ws_flavor flavor, size_t capacity,
                         size_t n)
{
    start = *(const uint64_t *)*state;
    real_ops = wsi_port_ops;
    memset(dq, 0xA5, sizeof(*dq));
    assert_true(wsi_deque_init(dq, flavor, capacity, start));
    for (size_t i = 1; i <= n; i++) {
        assert_int_equal(wsi_deque_push(dq, item(i)), WSI_PUSH_OK);
    }
}

static inline size_t pop(void)
{
    return id(wsi_deque_pop(dq));
}

/* 0: not stolen, and `expected` says why. */
static inline size_t steal(wsi_steal_mode mode, ws_steal expected)
{
    void *out = NULL;
    assert_int_equal(wsi_deque_steal(dq, mode, &out), expected);
    assert_int_equal(out != NULL, expected == WS_STEAL_SUCCESS);
    return id(out);
}

/* What is left are the items [from, to), oldest first. */
static inline void end(size_t from, size_t to)
{
    wsi_port_ops = real_ops;
    assert_int_equal(wsi_u64_load_relaxed(&dq->claim_ids), 0);
    assert_int_equal(wsi_deque_len(dq), to - from);
    assert_int_equal(wsi_deque_has_work(dq), to != from);
    for (; from != to; from++) {
        assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), from);
    }
    steal(WSI_STEAL_FORCE, WS_STEAL_EMPTY);
    assert_int_equal(pop(), 0);
    wsi_deque_destroy(dq);
}

/* The range ends `after` items behind the start. */
static inline void expect_range(uint64_t after, uint64_t count, uint64_t claim)
{
    const uint64_t range = wsi_deque_look(dq);
    assert_int_equal(wsi_range_end(range - (start << WSI_RANGE_END_SHIFT)),
                     after);
    assert_int_equal(wsi_range_count(range), count);
    assert_int_equal(wsi_range_claim(range), claim);
}

/* Runs `act` once, when a claim is held. */
static void (*on_claim)(void);

static inline void at_point(wsi_point point, void *object)
{
    void (*act)(void) = on_claim;
    on_claim = NULL;
    assert_int_equal(point, WSI_POINT_CLAIM_HELD);
    assert_ptr_equal(object, dq);
    if (act != NULL) {
        act();
    }
}

static inline void at_claim(void (*act)(void))
{
    on_claim = act;
    wsi_port_ops.at_point = at_point;
}

/* A case that runs with the indices at 0 and just below their wrap. */
#define AT_BOTH_ENDS(name)                                                     \
    {#name, name, NULL, NULL, &starts[0]},                                     \
    {                                                                          \
#name "_at_wrap", name, NULL, NULL, &starts[1]                         \
    }

#endif
