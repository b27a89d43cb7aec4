/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_deque_claim.c: forced exposure, and a buffer that cannot grow.
 *
 * White box, one thread: the hooks of the port run the other side's operations
 * in the middle of a call: at WSI_POINT_CLAIM_HELD, while a thief holds its
 * claim; in the heavy fence; in the allocation of a bigger buffer.  Step names
 * (O7, F3) are those of src/README.md.  Each case runs with the indices
 * beginning at 0 and just below 2^40, where they wrap.
 */
#include "support/deque_probe.h"

/* ---- a claim is held ------------------------------------------------- */

static size_t n_items;
static size_t n_pops;

static void owner_pops(void)
{
    const uint64_t n = (n_items + 1) / 2;
    expect_range(n, n, 1);
    assert_true(wsi_deque_has_work(dq));
    assert_int_equal(wsi_deque_len(dq), n_items);
    for (size_t i = 0; i < n_pops; i++) {
        assert_int_equal(pop(), i < n_items ? n_items - i : 0);
        if (n_items - i == n) {
            /* The first item that the claim covers: O7. */
            expect_range(n / 2, n / 2, 0);
        }
    }
}

/* The owner pops any number of items while a thief holds its claim: an item
 * that the claim may cover settles it, and the thief's CAS fails. */
static void owner_settles_a_claim_that_it_meets(void **state)
{
    for (n_items = 1; n_items <= 12; n_items++) {
        for (n_pops = 0; n_pops <= n_items + 1; n_pops++) {
            const size_t left = n_items > n_pops ? n_items - n_pops : 0;
            const bool met = n_pops > 0 && left < (n_items + 1) / 2;
            begin(state, WS_LIFO, 4, n_items);
            at_claim(owner_pops);
            steal(WSI_STEAL_FORCE, met ? WS_STEAL_RETRY : WS_STEAL_SUCCESS);
            end(met ? 1 : 2, left + 1);
        }
    }
}

/* The owner's pops before the fence, which had not seen the claim: only their
 * store of bottom shows.  n_pops as above. */
static bool pops_unseen(void)
{
    const uint64_t bottom = wsi_u64_load_relaxed(&dq->bottom);
    wsi_u64_store_release(&dq->bottom, bottom - n_pops);
    assert_int_equal(wsi_deque_len(dq), n_items - n_pops);
    return true;
}

static void thief_opens_what_exists_after_the_fence(void **state)
{
    for (n_items = 1; n_items <= 12; n_items++) {
        for (n_pops = 0; n_pops <= n_items; n_pops++) {
            const size_t left = n_items - n_pops;
            const size_t half = (n_items + 1) / 2;
            const size_t open = left < half ? left : half;
            begin(state, WS_LIFO, 4, n_items);
            dq->fences = WSI_FENCES_ASYMMETRIC;
            wsi_port_ops.membarrier = pops_unseen;
            steal(WSI_STEAL_FORCE,
                  open > 0 ? WS_STEAL_SUCCESS : WS_STEAL_EMPTY);
            expect_range(open, open > 0 ? open - 1 : 0, 0);
            wsi_port_ops = real_ops;
            dq->fences = wsi_fences_mode();
            end(open > 0 ? 2 : 1, left + 1);
        }
    }
}

static void owner_pushes_under_claim(void)
{
    wsi_deque_poison(dq);
    assert_int_equal(wsi_deque_push(dq, item(4)), WSI_PUSH_ANSWERED);
    expect_range(2, 2, 1); /* the claim stays: its thief opens items */
    for (size_t i = 5; i <= 100; i++) {
        assert_int_equal(wsi_deque_push(dq, item(i)), WSI_PUSH_OK);
    }
    for (size_t i = 0; i < 4; i++) { /* over the old slots */
        wsi_deque_buffer *old =
            ((wsi_deque_buffer *)wsi_ptr_load_relaxed(&dq->buffer))->retired;
        wsi_ptr_store_relaxed(&old->slots[i], item(999));
    }
    expect_range(2, 2, 1);
}

static void buffer_grows_under_a_claim(void **state)
{
    begin(state, WS_LIFO, 4, 3);
    at_claim(owner_pushes_under_claim);
    assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), 1);
    expect_range(2, 1, 0);
    end(2, 101);
}

static void others_respect_a_claim(void)
{
    void *out;
    const wsi_deque_view view = wsi_deque_look(dq);
    assert_int_equal(wsi_deque_steal_seen(dq, view, &out), WS_STEAL_RETRY);
    steal(WSI_STEAL_POLITE, WS_STEAL_RETRY);
    steal(WSI_STEAL_FORCE, WS_STEAL_RETRY);
    wsi_deque_force_open(dq);
    assert_int_equal(wsi_deque_look(dq), view);
}

static void only_a_takeover_touches_a_claim(void **state)
{
    begin(state, WS_LIFO, 8, 5);
    at_claim(others_respect_a_claim);
    assert_int_equal(steal(WSI_STEAL_TAKEOVER, WS_STEAL_SUCCESS), 1);
    end(2, 6);
}

/* Thieves that take over from each other, each while the one before holds its
 * claim, until the ids are used up.  The last to get one wins. */
static size_t n_thieves;

static void next_thief(void)
{
    const uint64_t claim = wsi_range_claim(wsi_deque_look(dq));
    assert_int_equal(claim, n_thieves);
    expect_range(5, 5, claim);
    if (n_thieves == WSI_RANGE_CLAIM_IDS) {
        steal(WSI_STEAL_TAKEOVER, WS_STEAL_RETRY);
        expect_range(5, 5, claim);
        return;
    }
    at_claim(next_thief);
    if (++n_thieves == WSI_RANGE_CLAIM_IDS) {
        assert_int_equal(steal(WSI_STEAL_TAKEOVER, WS_STEAL_SUCCESS), 1);
    } else {
        steal(WSI_STEAL_TAKEOVER, WS_STEAL_RETRY);
    }
    expect_range(5, 4, 0);
}

static void takeover_wins_until_all_claim_ids_are_in_use(void **state)
{
    begin(state, WS_LIFO, 8, 10);
    n_thieves = 1;
    at_claim(next_thief);
    steal(WSI_STEAL_FORCE, WS_STEAL_RETRY);
    assert_int_equal(n_thieves, WSI_RANGE_CLAIM_IDS);
    end(2, 11);
}

/* The state between O8 and O10: the owner took three public items back, keeps
 * the newest, and moves the two others. */
static void nobody_touches_the_owners_claim(void **state)
{
    const uint64_t moving =
        wsi_range_make(5 + *(uint64_t *)*state, 2, WSI_RANGE_OWNER);
    wsi_deque dest;
    bool answered;
    void *out;
    begin(state, WS_LIFO, 8, 3);
    assert_true(wsi_deque_init(&dest, WS_LIFO, 8, 0));
    wsi_u64_store_release(&dq->bottom, start + 2);
    wsi_u64_store_release(&dq->range, moving);
    for (int mode = WSI_STEAL_POLITE; mode <= WSI_STEAL_TAKEOVER; mode++) {
        steal((wsi_steal_mode)mode, WS_STEAL_RETRY);
        assert_int_equal(wsi_deque_steal_batch(dq, &dest, 9,
                                               (wsi_steal_mode)mode, NULL,
                                               &answered),
                         WS_STEAL_RETRY);
    }
    assert_int_equal(wsi_deque_steal_seen(dq, wsi_deque_look(dq), &out),
                     WS_STEAL_RETRY);
    wsi_deque_force_open(dq);
    assert_int_equal(wsi_deque_look(dq), moving);
    assert_int_equal(wsi_deque_len(dq), 2);
    assert_true(wsi_deque_has_work(dq));
    wsi_u64_store_release(&dq->bottom, start + 3);
    wsi_u64_store_release(&dq->range, wsi_range_make(start, 0, 0));
    wsi_deque_destroy(&dest);
    end(1, 4);
}

/* ---- no membarrier --------------------------------------------------- */

static size_t refusals;

static bool membarrier_refused(void)
{
    refusals++;
    assert_true(wsi_range_claim(wsi_deque_look(dq)) != 0);
    return false;
}

static void refused_membarrier_withdraws_the_claim(void **state)
{
    void *out = NULL;
    bool answered;
    wsi_deque dest;
    begin(state, WS_LIFO, 8, 6);
    dq->fences = WSI_FENCES_ASYMMETRIC;
    wsi_port_ops.membarrier = membarrier_refused;
    refusals = 0;
    steal(WSI_STEAL_FORCE, WS_STEAL_RETRY);
    steal(WSI_STEAL_TAKEOVER, WS_STEAL_RETRY);
    wsi_deque_force_open(dq);
    assert_true(wsi_deque_init(&dest, WS_LIFO, 8, 0));
    assert_int_equal(
        wsi_deque_steal_batch(dq, &dest, 9, WSI_STEAL_FORCE, &out, &answered),
        WS_STEAL_RETRY);
    assert_null(out);
    assert_int_equal(wsi_deque_len(&dest), 0);
    wsi_deque_destroy(&dest);
    assert_int_equal(refusals, 4);
    assert_int_equal(wsi_u64_load_relaxed(&dq->limit), 0);
    expect_range(0, 0, 0);
    /* The polite way is left, and was asked. */
    assert_int_equal(pop(), 6);
    assert_int_equal(wsi_deque_push(dq, item(6)), WSI_PUSH_ANSWERED);
    assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), 1);
    dq->fences = wsi_fences_mode();
    end(2, 7);
}

/* ---- the limit of count ---------------------------------------------- */

static void claim_stops_at_4095(void **state)
{
    begin(state, WS_LIFO, 2, 10000);
    assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), 1);
    expect_range(4095, 4094, 0);
    end(2, 10001);
}

static void fifo_owner_pops_under_claim(void)
{
    expect_range(4095 + 2953, 2953, 1);
    assert_int_equal(pop(), 4096);
    expect_range(4095 + 4095, 4094, 0);
}

static void fifo_owner_settles_a_claim(void **state)
{
    begin(state, WS_FIFO, 2, 10001);
    for (size_t i = 1; i <= 4095; i++) {
        assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), i);
    }
    at_claim(fifo_owner_pops_under_claim);
    steal(WSI_STEAL_FORCE, WS_STEAL_RETRY);
    for (size_t i = 4097; i <= 10001; i++) {
        assert_int_equal(pop(), i);
    }
    end(1, 1);
}

/* ---- a buffer that cannot grow --------------------------------------- */

/* A bigger buffer is refused, after a thief has come. */
static void *alloc_thief_opens(size_t align, size_t size)
{
    (void)align;
    (void)size;
    while (wsi_deque_len(dq) > 1) {
        steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS);
    }
    wsi_deque_force_open(dq);
    return NULL;
}

static void *alloc_thief_takes_all(size_t align, size_t size)
{
    alloc_thief_opens(align, size);
    steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS);
    return NULL;
}

static void *alloc_refused(size_t align, size_t size)
{
    (void)align;
    (void)size;
    return NULL;
}

/* Pushes until it fails; `next` is the first item that did not fit. */
static size_t fill(size_t next)
{
    wsi_push result;
    size_t len = wsi_deque_len(dq);
    while ((result = wsi_deque_push(dq, item(next))) == WSI_PUSH_OK) {
        assert_int_equal(wsi_deque_len(dq), ++len);
        next++;
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(result, WSI_PUSH_FULL);
        assert_int_equal(wsi_deque_len(dq), len);
        result = wsi_deque_push(dq, item(next));
    }
    return next;
}

static const size_t sizes[] = {2, 8, 8192};
#define N_SIZES (sizeof(sizes) / sizeof(*sizes))

static void full_push_changes_nothing(void **state)
{
    for (size_t i = 0; i < 2 * N_SIZES; i++) {
        begin(state, i % 2 == 0 ? WS_LIFO : WS_FIFO, sizes[i / 2], 0);
        wsi_port_ops.mem_alloc = alloc_refused;
        size_t next = fill(1); /* of a LIFO deque nothing is public */
        assert_int_equal(next, sizes[i / 2]);
        for (size_t k = 1; k <= 10; k++) {
            assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), k);
            next = fill(next); /* now something is, unless all went */
            wsi_deque_force_open(dq);
            next = fill(next);
        }
        wsi_port_ops = real_ops;
        assert_int_equal(wsi_deque_push(dq, item(next)), WSI_PUSH_OK);
        end(11, next + 1);
    }
}

static size_t filled_to;

static void fill_under_claim(void)
{
    filled_to = fill(filled_to);
}

/* No claim reaches the item that does not fit.  A FIFO deque holds a claim when
 * more than 4095 items were pushed. */
static void full_push_under_a_claim_changes_nothing(void **state)
{
    for (size_t i = 0; i < 2 * N_SIZES; i++) {
        const ws_flavor flavor = i % 2 == 0 ? WS_LIFO : WS_FIFO;
        const size_t size = sizes[i / 2];
        size_t head = 1;
        if (flavor == WS_FIFO && size < 8192) {
            continue;
        }
        begin(state, flavor, size, 0);
        wsi_port_ops.mem_alloc = alloc_refused;
        filled_to = fill(1);
        while (flavor == WS_FIFO && head <= 4095) {
            assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), head++);
        }
        at_claim(fill_under_claim);
        assert_int_equal(steal(WSI_STEAL_FORCE, WS_STEAL_SUCCESS), head++);
        assert_null(on_claim);
        assert_int_equal(wsi_deque_len(dq), filled_to - head);
        end(head, filled_to);
    }
}

static void full_push_of_an_item_that_became_public_fails(void **state)
{
    for (int flavor = WS_LIFO; flavor <= WS_FIFO; flavor++) {
        begin(state, (ws_flavor)flavor, 4, 3);
        wsi_port_ops.mem_alloc = alloc_thief_opens;
        /* Item 4 is the only one left and public when the push gives up. */
        assert_int_equal(wsi_deque_push(dq, item(4)), WSI_PUSH_FULL);
        expect_range(4, 0, 0);
        assert_int_equal(wsi_deque_mark(dq), start + 3);
        assert_int_equal(wsi_deque_push(dq, item(5)), WSI_PUSH_OK);
        end(5, 6);
    }
}

static void full_push_succeeds_when_the_item_was_stolen(void **state)
{
    for (int flavor = WS_LIFO; flavor <= WS_FIFO; flavor++) {
        begin(state, (ws_flavor)flavor, 4, 3);
        wsi_port_ops.mem_alloc = alloc_thief_takes_all;
        assert_int_equal(wsi_deque_push(dq, item(4)), WSI_PUSH_OK);
        assert_int_equal(wsi_deque_mark(dq), start + 4);
        assert_int_equal(wsi_deque_len(dq), 0);
        wsi_port_ops.mem_alloc = alloc_refused;
        assert_int_equal(fill(5), 8);
        end(5, 8);
    }
}

static const struct CMUnitTest tests[] = {
    AT_BOTH_ENDS(owner_settles_a_claim_that_it_meets),
    AT_BOTH_ENDS(thief_opens_what_exists_after_the_fence),
    AT_BOTH_ENDS(buffer_grows_under_a_claim),
    AT_BOTH_ENDS(only_a_takeover_touches_a_claim),
    AT_BOTH_ENDS(nobody_touches_the_owners_claim),
    AT_BOTH_ENDS(takeover_wins_until_all_claim_ids_are_in_use),
    AT_BOTH_ENDS(refused_membarrier_withdraws_the_claim),
    AT_BOTH_ENDS(claim_stops_at_4095),
    AT_BOTH_ENDS(fifo_owner_settles_a_claim),
    AT_BOTH_ENDS(full_push_changes_nothing),
    AT_BOTH_ENDS(full_push_under_a_claim_changes_nothing),
    AT_BOTH_ENDS(full_push_of_an_item_that_became_public_fails),
    AT_BOTH_ENDS(full_push_succeeds_when_the_item_was_stolen),
};
WS_TEST_MAIN(tests)
