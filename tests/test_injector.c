/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_injector.c: the segmented queue, by one thread.
 *
 * Order, lengths over the ends of segments, recycled segments, each allocation
 * failing, and what a thief sees in the middle of another thread's operation.
 * Most cases run with the indices beginning at 0, just below 2^32 and just
 * below 2^64.  The order of batches is in test_deque_steal.c, threads are in
 * test_injector_stress.c.
 */
#include "support/test.h"

#include "port/platform.h"
#include "queue/injector.h"

/* Items that fit into one allocation. */
#define CHUNK ((size_t)WSI_INJECTOR_SLOTS * WSI_INJECTOR_CHUNK)

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

/* ---- memory that fails and counts ------------------------------------ */

static struct {
    wsi_port_ops_table saved;
    wsi_atomic_u64 allocs;
    wsi_atomic_u64 frees;
    uint64_t refuse_from; /* this allocation and all later ones fail */
} memory;

static void *memory_alloc(size_t align, size_t size)
{
    if (wsi_u64_fetch_add_relaxed(&memory.allocs, 1) >= memory.refuse_from) {
        wsi_u64_fetch_sub_acq_rel(&memory.allocs, 1);
        return NULL;
    }
    return wsi_mem_alloc_real(align, size);
}

static void memory_free(void *p)
{
    wsi_u64_fetch_add_relaxed(&memory.frees, 1);
    wsi_mem_free_real(p);
}

static void memory_watch(uint64_t refuse_from)
{
    memset(&memory, 0, sizeof(memory));
    memory.saved = wsi_port_ops;
    memory.refuse_from = refuse_from;
    wsi_port_ops.mem_alloc = memory_alloc;
    wsi_port_ops.mem_free = memory_free;
}

static uint64_t memory_allocs(void)
{
    return wsi_u64_load_relaxed(&memory.allocs);
}

static void memory_restore(void)
{
    wsi_port_ops = memory.saved;
    assert_int_equal(wsi_u64_load_relaxed(&memory.frees), memory_allocs());
}

/* ---- one thread ------------------------------------------------------ */

static wsi_injector injector;
static wsi_injector *const q = &injector;

static void begin(void **state)
{
    assert_true(wsi_injector_init(q, *(const uint64_t *)*state));
}

static void push(size_t i)
{
    assert_true(wsi_injector_push(q, item(i)));
}

/* 0: empty.  With one thread RETRY is impossible. */
static size_t steal(void)
{
    void *out = NULL;
    const ws_steal result = wsi_injector_steal(q, &out);
    assert_int_equal(result, out != NULL ? WS_STEAL_SUCCESS : WS_STEAL_EMPTY);
    return id(out);
}

static void smoke(void **state)
{
    begin(state);
    assert_int_equal(steal(), 0);
    push(1);
    push(2);
    assert_int_equal(steal(), 1);
    assert_int_equal(steal(), 2);
    assert_int_equal(steal(), 0);
    push(3);
    assert_int_equal(steal(), 3);
    assert_int_equal(steal(), 0);
    wsi_injector_destroy(q);
}

static void is_empty(void **state)
{
    ws_injector *public = NULL;
    void *out;
    (void)state;
    assert_int_equal(ws_injector_create(&public), WS_OK);
    assert_int_equal(ws_injector_is_empty(public), 1);
    for (size_t round = 0; round < 200; round++) {
        assert_int_equal(ws_injector_push(public, item(1)), WS_OK);
        assert_int_equal(ws_injector_is_empty(public), 0);
        assert_int_equal(ws_injector_push(public, item(2)), WS_OK);
        assert_int_equal(ws_injector_is_empty(public), 0);
        assert_int_equal(ws_injector_steal(public, &out), WS_STEAL_SUCCESS);
        assert_int_equal(ws_injector_is_empty(public), 0);
        assert_int_equal(ws_injector_steal(public, &out), WS_STEAL_SUCCESS);
        assert_int_equal(ws_injector_is_empty(public), 1);
        assert_int_equal(ws_injector_steal(public, &out), WS_STEAL_EMPTY);
    }
    ws_injector_destroy(public);
}

static void null_injector_is_empty(void **state)
{
    ws_injector *public = NULL;
    void *out = item(77);
    (void)state;
    assert_int_equal(ws_injector_create(NULL), WS_EINVAL);
    assert_int_equal(ws_injector_create(&public), WS_OK);
    assert_int_equal(ws_injector_push(NULL, item(1)), WS_EINVAL);
    assert_int_equal(ws_injector_push(public, NULL), WS_EINVAL);
    assert_int_equal(ws_injector_push(public, item(1)), WS_OK);
    assert_int_equal(ws_injector_steal(NULL, &out), WS_STEAL_EMPTY);
    assert_int_equal(ws_injector_steal(public, NULL), WS_STEAL_EMPTY);
    assert_ptr_equal(out, item(77));
    assert_int_equal(ws_injector_len(NULL), 0);
    assert_int_equal(ws_injector_is_empty(NULL), 1);
    assert_int_equal(ws_injector_len(public), 1);
    ws_injector_destroy(NULL);
    ws_injector_destroy(public); /* an item that is left is forgotten */
}

/* Every distance from head to tail, at every place within a lap. */
static void len_counts_items_over_segment_ends(void **state)
{
    for (size_t offset = 0; offset < 70; offset++) {
        size_t head = 1;
        size_t tail = 1;
        begin(state);
        while (head <= offset) {
            push(tail++);
            assert_int_equal(steal(), head++);
        }
        while (tail - head < 300) {
            assert_int_equal(wsi_injector_len(q), tail - head);
            push(tail++);
        }
        while (head != tail) {
            assert_int_equal(wsi_injector_len(q), tail - head);
            assert_int_equal(steal(), head++);
        }
        assert_int_equal(wsi_injector_len(q), 0);
        assert_int_equal(steal(), 0);
        wsi_injector_destroy(q);
    }
}

/* Batches from the start index on: the 64th index of a lap is no item. */
static void batch_is_half_at_any_index(void **state)
{
    wsi_deque dest;
    bool answered;
    size_t left = 600;
    size_t next = 1;
    begin(state);
    assert_true(wsi_deque_init(&dest, WS_FIFO, 64, 0));
    for (size_t i = 1; i <= left; i++) {
        push(i);
    }
    while (left > 0) {
        const size_t segment = WSI_INJECTOR_SLOTS - (600 - left) % 63;
        size_t expected = (left + 1) / 2;
        expected =
            expected < WS_STEAL_BATCH_MAX ? expected : WS_STEAL_BATCH_MAX;
        expected = expected < segment ? expected : segment;
        assert_int_equal(
            wsi_injector_steal_batch(q, &dest, SIZE_MAX, NULL, &answered),
            WS_STEAL_SUCCESS);
        assert_int_equal(wsi_deque_len(&dest), expected);
        left -= expected;
        assert_int_equal(wsi_injector_len(q), left);
        while (expected-- > 0) {
            assert_int_equal(id(wsi_deque_pop(&dest)), next++);
        }
    }
    assert_int_equal(
        wsi_injector_steal_batch(q, &dest, SIZE_MAX, NULL, &answered),
        WS_STEAL_EMPTY);
    wsi_deque_destroy(&dest);
    wsi_injector_destroy(q);
}

static void segments_are_recycled(void **state)
{
    const size_t n = ws_test_scale(1000000);
    size_t head = 1;
    memory_watch(UINT64_MAX);
    begin(state);
    for (size_t tail = 1; tail <= n; tail++) {
        push(tail);
        if (tail - head >= 100) {
            assert_int_equal(steal(), head++);
        }
    }
    /* 100 items lie in three segments at most. */
    assert_int_equal(memory_allocs(), 1);
    while (head <= n) {
        assert_int_equal(steal(), head++);
    }
    wsi_injector_destroy(q);
    memory_restore();
}

/* With k allocations allowed: the push that needs one more changes nothing, and
 * what is there goes on. */
static void push_without_memory_changes_nothing(void **state)
{
    ws_injector *public = item(77);
    memory_watch(0);
    assert_false(wsi_injector_init(q, 0));
    assert_int_equal(ws_injector_create(&public), WS_ENOMEM);
    memory.refuse_from = 1;
    assert_int_equal(ws_injector_create(&public), WS_ENOMEM);
    assert_ptr_equal(public, item(77));
    memory_restore();
    for (size_t k = 1; k <= 10; k++) {
        size_t head = 1;
        size_t tail = 1;
        memory_watch(k);
        begin(state);
        for (size_t refill = 0; refill < 200; refill++) {
            while (wsi_injector_push(q, item(tail))) {
                tail++;
            }
            assert_int_equal(wsi_injector_len(q), tail - head);
            assert_false(wsi_injector_push(q, item(999)));
            assert_int_equal(wsi_injector_len(q), tail - head);
            /* The last slot of a segment is given out with the next one. */
            assert_int_equal(tail % 63, 0);
            assert_true(tail - head < CHUNK * k);
            assert_int_equal(steal(), head++);
        }
        assert_true(tail > CHUNK * k - 63);
        memory.refuse_from = UINT64_MAX;
        push(tail++);
        while (head != tail) {
            assert_int_equal(steal(), head++);
        }
        assert_int_equal(steal(), 0);
        wsi_injector_destroy(q);
        memory_restore();
    }
}

/* ---- in the middle of an operation ----------------------------------- */

/* A pusher that claimed its slots and has not written its items: 4 of 40. */
static void unwritten_item_is_retry(void **state)
{
    wsi_deque dest;
    bool answered;
    void *out = NULL;
    begin(state);
    assert_true(wsi_deque_init(&dest, WS_FIFO, 64, 0));
    for (size_t i = 0; i < 3 * WSI_INJECTOR_SLOTS; i++) {
        push(999); /* the segment is a used one now */
        assert_int_equal(steal(), 999);
    }
    for (size_t i = 1; i <= 4; i++) {
        push(i);
    }
    const uint64_t tail = wsi_u64_load_relaxed(&q->tail.index);
    wsi_u64_store_release(&q->tail.index, tail + 36);
    assert_int_equal(wsi_injector_len(q), 40);
    assert_int_equal(steal(), 1);
    assert_int_equal(wsi_injector_steal_batch(q, &dest, 9, &out, &answered),
                     WS_STEAL_SUCCESS);
    assert_int_equal(id(out), 2);
    assert_int_equal(wsi_deque_len(&dest), 2);
    out = NULL;
    assert_int_equal(wsi_injector_steal(q, &out), WS_STEAL_RETRY);
    assert_int_equal(wsi_injector_steal_batch(q, &dest, 9, &out, &answered),
                     WS_STEAL_RETRY);
    assert_null(out);
    wsi_u64_store_release(&q->tail.index, tail);
    assert_int_equal(steal(), 0);
    wsi_deque_destroy(&dest);
    wsi_injector_destroy(q);
}

/* A thief that took the 63rd item and has not moved the head on yet. */
static void head_between_segments_is_retry(void **state)
{
    void *out = NULL;
    begin(state);
    for (size_t i = 1; i <= 70; i++) {
        push(i);
    }
    const uint64_t head = wsi_u64_load_relaxed(&q->head.index);
    wsi_u64_store_release(&q->head.index, head + WSI_INJECTOR_SLOTS);
    assert_int_equal(wsi_injector_len(q), 7);
    assert_int_equal(wsi_injector_steal(q, &out), WS_STEAL_RETRY);
    assert_null(out);
    wsi_u64_store_release(&q->head.index, head);
    assert_int_equal(steal(), 1);
    wsi_injector_destroy(q);
}

/* Runs while a pusher allocates the segment behind the last slot. */
static void *alloc_other_pushes(size_t align, size_t size)
{
    wsi_port_ops.mem_alloc = memory_alloc;
    push(CHUNK);
    return memory_alloc(align, size);
}

static void last_slot_lost_to_another_pusher_keeps_the_segment(void **state)
{
    memory_watch(UINT64_MAX);
    begin(state);
    for (size_t i = 1; i < CHUNK; i++) {
        push(i);
    }
    wsi_port_ops.mem_alloc = alloc_other_pushes;
    push(CHUNK + 1);
    assert_int_equal(memory_allocs(), 3);
    for (size_t i = CHUNK + 2; i < CHUNK * 3; i++) {
        push(i); /* into the spare segments too */
    }
    assert_int_equal(memory_allocs(), 3);
    for (size_t i = 1; i < CHUNK * 3; i++) {
        assert_int_equal(steal(), i);
    }
    wsi_injector_destroy(q);
    memory_restore();
}

#define AT_ALL_STARTS(name)                                                    \
    {#name, name, NULL, NULL, &starts[0]},                                     \
        {#name "_over_32_bits", name, NULL, NULL, &starts[1]},                 \
    {                                                                          \
#name "_over_64_bits", name, NULL, NULL, &starts[2]                    \
    }

static const struct CMUnitTest tests[] = {
    AT_ALL_STARTS(smoke),
    AT_ALL_STARTS(len_counts_items_over_segment_ends),
    AT_ALL_STARTS(batch_is_half_at_any_index),
    AT_ALL_STARTS(segments_are_recycled),
    AT_ALL_STARTS(push_without_memory_changes_nothing),
    AT_ALL_STARTS(unwritten_item_is_retry),
    AT_ALL_STARTS(head_between_segments_is_retry),
    AT_ALL_STARTS(last_slot_lost_to_another_pusher_keeps_the_segment),
    cmocka_unit_test(is_empty),
    cmocka_unit_test(null_injector_is_empty),
};
WS_TEST_MAIN(tests)
