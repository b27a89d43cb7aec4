/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_deque.c: the public deque, used by one thread.
 *
 * Results of push, pop and steal; growth; options and bad input; counted
 * handles and the drop callback.  Each case runs for both flavors.  Batches and
 * a model of all operations are in test_deque_steal.c, the protocol is in
 * test_deque_owner.c and _claim.c, threads are in test_deque_stress.c.
 */
#include "support/test.h"

#include <wsteal/deque.h>

#include "port/platform.h"

static void *item(size_t i)
{
    return (void *)(uintptr_t)i;
}

static size_t id(const void *p)
{
    return (size_t)(uintptr_t)p;
}

static ws_flavor flavors[] = {WS_LIFO, WS_FIFO};

static ws_flavor flavor_of(void **state)
{
    return *(const ws_flavor *)*state;
}

static ws_worker *worker_new(ws_flavor flavor, size_t capacity)
{
    ws_worker_opts opts = WS_WORKER_OPTS_INIT;
    ws_worker *worker = NULL;
    opts.capacity = capacity;
    assert_int_equal(ws_worker_create(&worker, flavor, &opts), WS_OK);
    assert_non_null(worker);
    return worker;
}

static ws_stealer *stealer_new(ws_worker *worker)
{
    ws_stealer *stealer = NULL;
    assert_int_equal(ws_worker_stealer(worker, &stealer), WS_OK);
    assert_non_null(stealer);
    return stealer;
}

static void push(ws_worker *worker, size_t i)
{
    assert_int_equal(ws_worker_push(worker, item(i)), WS_OK);
}

static size_t pop(ws_worker *worker)
{
    return id(ws_worker_pop(worker));
}

/* 0: empty.  With one thread RETRY is impossible. */
static size_t steal(ws_stealer *stealer)
{
    void *out = NULL;
    const ws_steal result = ws_stealer_steal(stealer, &out);
    assert_int_equal(result, out != NULL ? WS_STEAL_SUCCESS : WS_STEAL_EMPTY);
    return id(out);
}

static void release_both(ws_worker *worker, ws_stealer *stealer)
{
    ws_worker_destroy(worker);
    ws_stealer_release(stealer);
}

/* ---- memory that fails and counts ------------------------------------ */

static struct {
    wsi_port_ops_table saved;
    size_t allocs;
    size_t frees;
    size_t bytes;   /* of all allocations together */
    size_t largest; /* allocation */
    size_t refused; /* size of the last one that failed */
    size_t left;    /* allocations until they fail; SIZE_MAX: never */
} memory;

static void *memory_alloc(size_t align, size_t size)
{
    if (memory.left == 0) {
        memory.refused = size;
        return NULL;
    }
    memory.left -= memory.left != SIZE_MAX;
    memory.allocs++;
    memory.bytes += size;
    memory.largest = size > memory.largest ? size : memory.largest;
    return wsi_mem_alloc_real(align, size);
}

static void memory_free(void *p)
{
    memory.frees++;
    wsi_mem_free_real(p);
}

static void memory_watch(size_t left)
{
    memset(&memory, 0, sizeof(memory));
    memory.saved = wsi_port_ops;
    memory.left = left;
    wsi_port_ops.mem_alloc = memory_alloc;
    wsi_port_ops.mem_free = memory_free;
}

static void memory_restore(void)
{
    wsi_port_ops = memory.saved;
}

/* ---- results --------------------------------------------------------- */

static void smoke(void **state)
{
    const bool lifo = flavor_of(state) == WS_LIFO;
    ws_worker *worker = worker_new(flavor_of(state), 0);
    ws_stealer *stealer = stealer_new(worker);

    assert_int_equal(pop(worker), 0);
    assert_int_equal(steal(stealer), 0);

    push(worker, 1);
    assert_int_equal(pop(worker), 1);
    assert_int_equal(pop(worker), 0);
    assert_int_equal(steal(stealer), 0);

    push(worker, 2);
    assert_int_equal(steal(stealer), 2);
    assert_int_equal(steal(stealer), 0);
    assert_int_equal(pop(worker), 0);

    for (size_t i = 3; i <= 5; i++) {
        push(worker, i);
    }
    for (size_t i = 3; i <= 5; i++) {
        assert_int_equal(steal(stealer), i);
    }
    assert_int_equal(steal(stealer), 0);

    for (size_t i = 6; i <= 9; i++) {
        push(worker, i);
    }
    assert_int_equal(pop(worker), lifo ? 9 : 6);
    assert_int_equal(steal(stealer), lifo ? 6 : 7);
    assert_int_equal(pop(worker), 8);
    assert_int_equal(pop(worker), lifo ? 7 : 9);
    assert_int_equal(pop(worker), 0);
    release_both(worker, stealer);
}

static void is_empty(void **state)
{
    /* Pushes, pops (o), steals, and the answer after each. */
    static const char ops[] = "-++ooo++sss+o";
    static const char answers[] = "1000110001101";
    ws_worker *worker = worker_new(flavor_of(state), 0);
    ws_stealer *stealer = stealer_new(worker);
    for (size_t i = 0; ops[i] != '\0'; i++) {
        if (ops[i] == '+') {
            push(worker, 1);
        } else if (ops[i] == 'o') {
            pop(worker);
        } else if (ops[i] == 's') {
            steal(stealer);
        }
        assert_int_equal(ws_worker_is_empty(worker), answers[i] - '0');
        assert_int_equal(ws_stealer_is_empty(stealer), answers[i] - '0');
    }
    release_both(worker, stealer);
}

/* ---- growth ---------------------------------------------------------- */

static void grows_and_keeps_every_item(void **state)
{
    const bool lifo = flavor_of(state) == WS_LIFO;
    const size_t n = 10000;
    ws_worker *worker = worker_new(flavor_of(state), 1);
    ws_stealer *stealer = stealer_new(worker);
    for (size_t i = 1; i <= n; i++) {
        push(worker, i);
        assert_int_equal(ws_worker_len(worker), i);
    }
    for (size_t i = 1; i <= n / 2; i++) {
        assert_int_equal(steal(stealer), i);
    }
    for (size_t i = n / 2 + 1; i <= n; i++) {
        assert_int_equal(pop(worker), lifo ? n + n / 2 + 1 - i : i);
    }
    assert_int_equal(pop(worker), 0);
    release_both(worker, stealer);
}

static void memory_is_bounded_by_the_peak_and_returned(void **state)
{
    const size_t n = ws_test_scale(1000000);
    memory_watch(SIZE_MAX);
    ws_worker *worker = worker_new(flavor_of(state), 2);
    for (size_t i = 1; i <= n; i++) {
        push(worker, i);
    }
    assert_int_equal(ws_worker_len(worker), n);
    while (pop(worker) != 0) {
    }
    const size_t allocs = memory.allocs;
    assert_true(memory.bytes <= 2 * memory.largest + 4096);
    /* A second burst of the same size needs nothing more. */
    for (size_t i = 1; i <= n; i++) {
        push(worker, i);
    }
    while (pop(worker) != 0) {
    }
    assert_int_equal(memory.allocs, allocs);
    ws_worker_destroy(worker);
    memory_restore();
    assert_int_equal(memory.frees, memory.allocs);
}

/* ---- options and bad input ------------------------------------------- */

/* The largest capacity that wsteal/deque.h allows. */
#define LARGEST ((size_t)1 << (sizeof(void *) > 4 ? 30 : 28))

static void capacity_is_rounded_up(void **state)
{
    static const struct {
        size_t asked;
        size_t slots;
    } sizes[] = {{0, 64},
                 {1, 2},
                 {2, 2},
                 {3, 4},
                 {64, 64},
                 {65, 128},
                 {1000, 1024},
                 {4096, 4096},
                 {LARGEST - 1, LARGEST},
                 {LARGEST, LARGEST}};
    ws_worker_opts opts = WS_WORKER_OPTS_INIT;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        ws_worker *worker = NULL;
        /* The second allocation is the buffer; it is not made. */
        memory_watch(1);
        opts.capacity = sizes[i].asked;
        const int result = ws_worker_create(&worker, flavor_of(state), &opts);
        memory_restore();
        assert_int_equal(result, WS_ENOMEM);
        assert_null(worker);
        assert_int_equal(memory.frees, 1);
        const uint64_t bytes = (uint64_t)sizes[i].slots * sizeof(void *);
        assert_in_range(memory.refused, bytes, bytes + 256);
    }
}

static void create_refuses_bad_arguments(void **state)
{
    static const size_t absurd[] = {LARGEST + 1, SIZE_MAX / 2,
                                    SIZE_MAX / sizeof(void *), SIZE_MAX};
    const ws_flavor flavor = flavor_of(state);
    ws_worker *const untouched = item(77);
    ws_worker *worker = untouched;
    ws_worker_opts opts = WS_WORKER_OPTS_INIT;
    memory_watch(0);
    assert_int_equal(ws_worker_create(NULL, flavor, NULL), WS_EINVAL);
    assert_int_equal(ws_worker_create(&worker, (ws_flavor)2, NULL), WS_EINVAL);
    assert_int_equal(ws_worker_create(&worker, (ws_flavor)99, &opts),
                     WS_EINVAL);
    for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++) {
        opts.capacity = absurd[i];
        assert_int_equal(ws_worker_create(&worker, flavor, &opts), WS_EINVAL);
    }
    opts.capacity = 0;
    for (size_t size = 0; size < sizeof(size_t); size++) {
        opts.struct_size = size;
        assert_int_equal(ws_worker_create(&worker, flavor, &opts), WS_EINVAL);
    }
    memory_restore();
    assert_ptr_equal(worker, untouched);
}

static void null_handles_are_empty(void **state)
{
    ws_worker *worker = worker_new(flavor_of(state), 0);
    ws_stealer *stealer = stealer_new(worker);
    ws_stealer *untouched = item(77);
    push(worker, 1);
    assert_int_equal(ws_worker_push(NULL, item(1)), WS_EINVAL);
    assert_int_equal(ws_worker_push(worker, NULL), WS_EINVAL);
    assert_null(ws_worker_pop(NULL));
    assert_int_equal(ws_worker_len(NULL), 0);
    assert_int_equal(ws_worker_is_empty(NULL), 1);
    assert_int_equal(ws_stealer_len(NULL), 0);
    assert_int_equal(ws_stealer_is_empty(NULL), 1);
    assert_int_equal(ws_worker_stealer(NULL, &untouched), WS_EINVAL);
    assert_int_equal(ws_worker_stealer(worker, NULL), WS_EINVAL);
    assert_int_equal(ws_stealer_clone(NULL, &untouched), WS_EINVAL);
    assert_int_equal(ws_stealer_clone(stealer, NULL), WS_EINVAL);
    assert_ptr_equal(untouched, item(77));
    assert_int_equal(ws_stealer_steal(stealer, NULL), WS_STEAL_EMPTY);
    assert_int_equal(ws_stealer_steal(NULL, (void **)&untouched),
                     WS_STEAL_EMPTY);
    assert_ptr_equal(untouched, item(77));
    ws_worker_destroy(NULL);
    ws_stealer_release(NULL);
    /* None of this took the item or a reference. */
    assert_int_equal(ws_worker_len(worker), 1);
    assert_int_equal(pop(worker), 1);
    release_both(worker, stealer);
}

/* ---- handles and drop ------------------------------------------------ */

static size_t dropped[16];
static size_t n_dropped;

static void drop_record(void *p, void *arg)
{
    assert_ptr_equal(arg, dropped);
    assert_true(n_dropped < sizeof(dropped) / sizeof(*dropped));
    dropped[n_dropped++] = id(p);
}

static void options_of_another_size_are_read_as_far_as_known(void **state)
{
    struct {
        ws_worker_opts known;
        size_t tail[4];
    } newer = {.known = {sizeof(newer), 4, drop_record, dropped},
               .tail = {1, 2, 3, 4}};
    ws_worker_opts older = {offsetof(ws_worker_opts, drop), 4, drop_record,
                            dropped};
    ws_worker *worker = NULL;
    assert_int_equal(ws_worker_create(&worker, flavor_of(state), &newer.known),
                     WS_OK);
    push(worker, 1);
    n_dropped = 0;
    ws_worker_destroy(worker);
    assert_int_equal(n_dropped, 1);
    /* An old program's struct ended before `drop`. */
    assert_int_equal(ws_worker_create(&worker, flavor_of(state), &older),
                     WS_OK);
    push(worker, 1);
    ws_worker_destroy(worker);
    assert_int_equal(n_dropped, 1);
}

/* Four handles in each of the 24 orders: the last one, whichever it is, drops
 * the items, oldest first. */
static void last_handle_drops_what_is_left_oldest_first(void **state)
{
    for (size_t order = 0; order < 24; order++) {
        ws_worker_opts opts = WS_WORKER_OPTS_INIT;
        ws_worker *worker;
        ws_stealer *stealers[3];
        size_t at[4] = {0, 1, 2, 3};
        opts.drop = drop_record;
        opts.drop_arg = dropped;
        opts.capacity = 4;
        memory_watch(SIZE_MAX);
        assert_int_equal(ws_worker_create(&worker, flavor_of(state), &opts),
                         WS_OK);
        stealers[0] = stealer_new(worker);
        stealers[1] = stealer_new(worker);
        assert_int_equal(ws_stealer_clone(stealers[1], &stealers[2]), WS_OK);
        for (size_t i = 1; i <= 10; i++) {
            push(worker, i);
        }
        /* Some are public now, the others are private. */
        assert_int_equal(steal(stealers[0]), 1);
        n_dropped = 0;
        for (size_t i = 0, code = order; i < 4; code /= 4 - i, i++) {
            const size_t pick = i + code % (4 - i);
            const size_t handle = at[pick];
            at[pick] = at[i];
            assert_int_equal(n_dropped, 0);
            assert_int_equal(memory.frees, 0);
            if (handle == 3) {
                ws_worker_destroy(worker);
            } else {
                ws_stealer_release(stealers[handle]);
            }
        }
        memory_restore();
        assert_int_equal(memory.frees, memory.allocs);
        assert_int_equal(n_dropped, 9);
        for (size_t i = 0; i < n_dropped; i++) {
            assert_int_equal(dropped[i], i + 2);
        }
    }
}

static void stealers_outlive_the_owner(void **state)
{
    ws_worker *worker = worker_new(flavor_of(state), 0);
    ws_stealer *stealer = stealer_new(worker);
    for (size_t i = 1; i <= 5; i++) {
        push(worker, i);
    }
    ws_worker_destroy(worker);
    for (size_t i = 1; i <= 5; i++) {
        assert_int_equal(ws_stealer_len(stealer), 6 - i);
        assert_int_equal(steal(stealer), i);
    }
    assert_int_equal(steal(stealer), 0);
    ws_stealer_release(stealer);
}

static void combine_prefers_success_then_retry(void **state)
{
    static const ws_steal truth[3][3] = {
        /* EMPTY, SUCCESS, RETRY */
        {WS_STEAL_EMPTY, WS_STEAL_SUCCESS, WS_STEAL_RETRY},
        {WS_STEAL_SUCCESS, WS_STEAL_SUCCESS, WS_STEAL_SUCCESS},
        {WS_STEAL_RETRY, WS_STEAL_SUCCESS, WS_STEAL_RETRY},
    };
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(ws_steal_combine((ws_steal)(i / 3), (ws_steal)(i % 3)),
                         truth[i / 3][i % 3]);
    }
}

static void create_fails_at_each_allocation(void **state)
{
    ws_worker *worker = item(77);
    size_t left = 0;
    int result;
    for (;; left++) {
        memory_watch(left);
        result = ws_worker_create(&worker, flavor_of(state), NULL);
        memory_restore();
        if (result == WS_OK) {
            break;
        }
        assert_int_equal(result, WS_ENOMEM);
        assert_ptr_equal(worker, item(77));
        assert_int_equal(memory.frees, memory.allocs);
    }
    assert_int_equal(left, 2);
    ws_worker_destroy(worker);
}

/* See test_deque_claim.c for all states of the range. */
static void push_without_memory_changes_nothing(void **state)
{
    ws_worker *worker = worker_new(flavor_of(state), 8);
    ws_stealer *stealer = stealer_new(worker);
    size_t next = 1;
    memory_watch(0);
    for (size_t head = 1; head < 20; head++) {
        while (next < head + 7) {
            push(worker, next++);
        }
        assert_int_equal(ws_worker_push(worker, item(next)), WS_ENOMEM);
        assert_int_equal(ws_worker_push(worker, item(next)), WS_ENOMEM);
        assert_int_equal(ws_worker_len(worker), 7);
        assert_int_equal(steal(stealer), head);
    }
    memory_restore();
    push(worker, next++);
    push(worker, next++);
    for (size_t i = 20; i < next; i++) {
        assert_int_equal(steal(stealer), i);
    }
    release_both(worker, stealer);
}

#define BOTH(name)                                                             \
    {#name "_lifo", name, NULL, NULL, &flavors[0]},                            \
    {                                                                          \
#name "_fifo", name, NULL, NULL, &flavors[1]                           \
    }

static const struct CMUnitTest tests[] = {
    BOTH(smoke),
    BOTH(is_empty),
    BOTH(grows_and_keeps_every_item),
    BOTH(memory_is_bounded_by_the_peak_and_returned),
    BOTH(capacity_is_rounded_up),
    BOTH(create_refuses_bad_arguments),
    BOTH(null_handles_are_empty),
    BOTH(options_of_another_size_are_read_as_far_as_known),
    BOTH(last_handle_drops_what_is_left_oldest_first),
    BOTH(stealers_outlive_the_owner),
    BOTH(create_fails_at_each_allocation),
    BOTH(push_without_memory_changes_nothing),
    cmocka_unit_test(combine_prefers_success_then_retry),
};
WS_TEST_MAIN(tests)
