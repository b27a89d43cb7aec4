/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_deque_steal.c: stealing through the public handles, by one thread.
 *
 * Which items a batch takes and in which order the destination pops them, for
 * deques of both flavors and the injector as source; limits; a destination
 * that grows or cannot; all operations of a deque mixed, against a model.
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

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static ws_worker *worker_new(ws_flavor flavor, size_t capacity)
{
    ws_worker_opts opts = WS_WORKER_OPTS_INIT;
    ws_worker *worker = NULL;
    opts.capacity = capacity;
    assert_int_equal(ws_worker_create(&worker, flavor, &opts), WS_OK);
    return worker;
}

static size_t pop(ws_worker *worker)
{
    return id(ws_worker_pop(worker));
}

/* The number of allocations until they fail; SIZE_MAX: they do not. */
static size_t memory_left = SIZE_MAX;

static void *limited_alloc(size_t align, size_t size)
{
    if (memory_left == 0) {
        return NULL;
    }
    memory_left -= memory_left != SIZE_MAX;
    return wsi_mem_alloc_real(align, size);
}

/* ---- sources --------------------------------------------------------- */

typedef enum {
    LIFO = WS_LIFO,
    FIFO = WS_FIFO,
    INJECTOR
} kind;

/* Any queue that can be stolen from, with the items [head, next). */
typedef struct {
    kind kind;
    ws_worker *worker;
    ws_stealer *stealer;
    ws_injector *injector;
    size_t head;
    size_t next;
} source;

static int source_push(source *s)
{
    const int result = s->kind == INJECTOR
                           ? ws_injector_push(s->injector, item(s->next))
                           : ws_worker_push(s->worker, item(s->next));
    s->next += result == WS_OK;
    return result;
}

static source source_new(kind from, size_t capacity, size_t n)
{
    source s = {.kind = from, .head = 1, .next = 1};
    if (from == INJECTOR) {
        assert_int_equal(ws_injector_create(&s.injector), WS_OK);
    } else {
        s.worker = worker_new((ws_flavor)from, capacity);
        assert_int_equal(ws_worker_stealer(s.worker, &s.stealer), WS_OK);
    }
    while (n-- > 0) {
        assert_int_equal(source_push(&s), WS_OK);
    }
    return s;
}

static void source_end(source *s)
{
    ws_worker_destroy(s->worker);
    ws_stealer_release(s->stealer);
    ws_injector_destroy(s->injector);
}

static size_t source_len(const source *s)
{
    return s->kind == INJECTOR ? ws_injector_len(s->injector)
                               : ws_stealer_len(s->stealer);
}

static ws_steal source_steal(source *s, void **out)
{
    return s->kind == INJECTOR ? ws_injector_steal(s->injector, out)
                               : ws_stealer_steal(s->stealer, out);
}

/* No item is lost or comes twice, and only the oldest is stolen. */
static void source_drain(source *s)
{
    void *out;
    assert_int_equal(source_len(s), s->next - s->head);
    while (s->head != s->next) {
        assert_int_equal(source_steal(s, &out), WS_STEAL_SUCCESS);
        assert_int_equal(id(out), s->head++);
    }
    assert_int_equal(source_steal(s, &out), WS_STEAL_EMPTY);
    source_end(s);
}

enum {
    NO_LIMIT = 12345 /* the call without a limit */
};

/* One batch; `out` NULL: without the pop. */
static ws_steal batch(source *s, ws_worker *dest, size_t limit, void **out)
{
    if (limit == NO_LIMIT && s->kind == INJECTOR) {
        return out != NULL
                   ? ws_injector_steal_batch_and_pop(s->injector, dest, out)
                   : ws_injector_steal_batch(s->injector, dest);
    }
    if (limit == NO_LIMIT) {
        return out != NULL
                   ? ws_stealer_steal_batch_and_pop(s->stealer, dest, out)
                   : ws_stealer_steal_batch(s->stealer, dest);
    }
    if (s->kind == INJECTOR) {
        return out != NULL ? ws_injector_steal_batch_with_limit_and_pop(
                                 s->injector, dest, limit, out)
                           : ws_injector_steal_batch_with_limit(s->injector,
                                                                dest, limit);
    }
    return out != NULL
               ? ws_stealer_steal_batch_with_limit_and_pop(s->stealer, dest,
                                                           limit, out)
               : ws_stealer_steal_batch_with_limit(s->stealer, dest, limit);
}

/* One batch into an empty `dest`, which is drained.  Checks that the oldest
 * items were taken and that all come in the order of the source's owner.
 * Returns how many there were. */
static size_t take(source *s, ws_worker *dest, size_t limit, bool and_pop)
{
    const size_t before = source_len(s);
    void *out = NULL;
    const ws_steal result = batch(s, dest, limit, and_pop ? &out : NULL);
    const size_t n = before - source_len(s);
    assert_int_equal(result, n > 0 ? WS_STEAL_SUCCESS : WS_STEAL_EMPTY);
    assert_int_equal(out != NULL, and_pop && n > 0);
    assert_int_equal(ws_worker_len(dest), n - (out != NULL));
    for (size_t i = 0; i < n; i++) {
        const size_t next = i == 0 && and_pop ? id(out) : pop(dest);
        assert_int_equal(next,
                         s->kind == LIFO ? s->head + n - 1 - i : s->head + i);
    }
    assert_int_equal(pop(dest), 0);
    s->head += n;
    return n;
}

/* Calls f for each kind of source, flavor of dest, and form of batch. */
static void for_all(void (*f)(kind from, ws_flavor to, bool and_pop))
{
    for (size_t i = 0; i < 12; i++) {
        f((kind)(i % 3), i / 3 % 2 == 0 ? WS_LIFO : WS_FIFO, i / 6 == 0);
    }
}

/* ---- crossbeam's cases ----------------------------------------------- */

typedef struct {
    kind from;
    ws_flavor to;
    bool and_pop;
    size_t expect[4];
} row;

static void steal(void **state)
{
    const row *r = *state;
    source s = source_new(r->from, 0, 3);
    source_drain(&s);
}

static void steal_batch(void **state)
{
    const row *r = *state;
    source s = source_new(r->from, 0, r->and_pop ? 6 : 4);
    ws_worker *dest = worker_new(r->to, 0);
    size_t i = 0;
    void *out = NULL;
    assert_int_equal(batch(&s, dest, NO_LIMIT, r->and_pop ? &out : NULL),
                     WS_STEAL_SUCCESS);
    if (r->and_pop) {
        assert_int_equal(id(out), r->expect[i++]);
    }
    while (r->expect[i] != 0) {
        assert_int_equal(pop(dest), r->expect[i++]);
    }
    assert_int_equal(pop(dest), 0);
    s.head += i;
    source_drain(&s);
    ws_worker_destroy(dest);
}

/* ---- how many -------------------------------------------------------- */

static void moves_half(kind from, ws_flavor to, bool and_pop)
{
    ws_worker *dest = worker_new(to, 0);
    for (size_t n = 0; n <= 70; n++) {
        source s = source_new(from, 0, n);
        assert_int_equal(take(&s, dest, NO_LIMIT, and_pop),
                         smaller((n + 1) / 2, 32));
        source_drain(&s);
    }
    ws_worker_destroy(dest);
}

static void batch_is_half_rounded_up_and_at_most_32(void **state)
{
    (void)state;
    for_all(moves_half);
}

static void obeys_limit(kind from, ws_flavor to, bool and_pop)
{
    static const size_t limits[] = {0, 1, 2, 31, 32, 33, 1000, SIZE_MAX};
    static const size_t lens[] = {0, 1, 2, 3, 61, 62, 63, 64, 65, 1000, 9000};
    ws_worker *dest = worker_new(to, 0);
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        for (size_t k = 0; k < sizeof(lens) / sizeof(*lens); k++) {
            source s = source_new(from, 0, lens[k]);
            const size_t n = take(&s, dest, limits[i], and_pop);
            assert_int_equal(
                n, smaller(smaller((lens[k] + 1) / 2, limits[i]), 32));
            source_drain(&s);
        }
    }
    ws_worker_destroy(dest);
}

static void limit_bounds_the_batch(void **state)
{
    (void)state;
    for_all(obeys_limit);
}

/* Batch after batch: each takes something, at most half, until none is left.
 * An item that is private or in the next segment may make it fewer. */
static void drains(kind from, ws_flavor to, bool and_pop)
{
    ws_worker *dest = worker_new(to, 0);
    source s = source_new(from, 0, 1000);
    while (s.head != s.next) {
        const size_t half = (s.next - s.head + 1) / 2;
        const size_t n = take(&s, dest, NO_LIMIT, and_pop);
        assert_true(n >= 1 && n <= smaller(half, 32));
    }
    assert_int_equal(take(&s, dest, NO_LIMIT, and_pop), 0);
    source_end(&s);
    ws_worker_destroy(dest);
}

static void batches_drain_the_source(void **state)
{
    (void)state;
    for_all(drains);
}

static void injector_batch_ends_with_its_segment(void **state)
{
    (void)state;
    source s = source_new(INJECTOR, 0, 200);
    ws_worker *dest = worker_new(WS_FIFO, 0);
    void *out;
    while (s.head <= 60) {
        assert_int_equal(source_steal(&s, &out), WS_STEAL_SUCCESS);
        assert_int_equal(id(out), s.head++);
    }
    assert_int_equal(take(&s, dest, NO_LIMIT, false), 3);
    assert_int_equal(take(&s, dest, NO_LIMIT, false), 32);
    assert_int_equal(take(&s, dest, NO_LIMIT, true), 31);
    assert_int_equal(take(&s, dest, NO_LIMIT, true), 32);
    source_drain(&s);
    ws_worker_destroy(dest);
}

/* ---- the destination ------------------------------------------------- */

/* A dest of capacity 2 that may grow `left` times holds 2 << left slots, all
 * but one usable; `held` of them are. */
static void fits(kind from, ws_flavor to, bool and_pop)
{
    for (size_t left = 0; left <= 6; left++) {
        for (size_t held = 0; held < 2; held++) {
            const wsi_port_ops_table saved = wsi_port_ops;
            source s = source_new(from, 0, 100);
            ws_worker *dest = worker_new(to, 2);
            void *out = NULL;
            if (held > 0) {
                assert_int_equal(ws_worker_push(dest, item(999)), WS_OK);
            }
            wsi_port_ops.mem_alloc = limited_alloc;
            memory_left = left;
            const size_t room =
                ((size_t)2 << left) - 1 - held + (and_pop ? 1 : 0);
            const ws_steal result =
                batch(&s, dest, NO_LIMIT, and_pop ? &out : NULL);
            wsi_port_ops = saved;
            const size_t n = 100 - source_len(&s);
            assert_int_equal(n, smaller(room, 32));
            assert_int_equal(result, n > 0 ? WS_STEAL_SUCCESS : WS_STEAL_RETRY);
            assert_int_equal(ws_worker_len(dest), held + n - (out != NULL));
            s.head += n;
            source_drain(&s);
            size_t sum = id(out);
            for (size_t i; (i = pop(dest)) != 0;) {
                sum += i;
            }
            assert_int_equal(sum, n * (n + 1) / 2 + 999 * held);
            ws_worker_destroy(dest);
        }
    }
}

static void dest_that_cannot_grow_takes_what_fits(void **state)
{
    (void)state;
    for_all(fits);
}

static void self_steal_is_empty(void **state)
{
    for (size_t n = 0; n < 5; n++) {
        source s = source_new(((const row *)*state)->from, 0, n);
        void *out = item(77);
        assert_int_equal(batch(&s, s.worker, NO_LIMIT, NULL), WS_STEAL_EMPTY);
        assert_int_equal(batch(&s, s.worker, 1, NULL), WS_STEAL_EMPTY);
        assert_int_equal(batch(&s, s.worker, NO_LIMIT, &out), WS_STEAL_EMPTY);
        assert_int_equal(batch(&s, s.worker, 1, &out), WS_STEAL_EMPTY);
        assert_ptr_equal(out, item(77));
        source_drain(&s);
    }
}

static void batch_of_null_is_empty(void **state)
{
    (void)state;
    for (kind k = LIFO; k <= INJECTOR; k = (kind)(k + 1)) {
        source s = source_new(k, 0, 4);
        source none = {.kind = k};
        ws_worker *dest = worker_new(WS_LIFO, 0);
        void *out = item(77);
        assert_int_equal(batch(&none, dest, 3, NULL), WS_STEAL_EMPTY);
        assert_int_equal(batch(&none, dest, 3, &out), WS_STEAL_EMPTY);
        assert_int_equal(batch(&s, NULL, 3, NULL), WS_STEAL_EMPTY);
        assert_int_equal(batch(&s, NULL, 3, &out), WS_STEAL_EMPTY);
        assert_ptr_equal(out, item(77));
        assert_int_equal(
            k == INJECTOR
                ? ws_injector_steal_batch_and_pop(s.injector, dest, NULL)
                : ws_stealer_steal_batch_and_pop(s.stealer, dest, NULL),
            WS_STEAL_EMPTY);
        assert_int_equal(ws_worker_len(dest), 0);
        source_drain(&s);
        ws_worker_destroy(dest);
    }
}

/* ---- a model --------------------------------------------------------- */

/* Any sequence of operations: values and lengths are those of an array. */
static void agrees_with_a_model(void **state)
{
    const row *r = *state;
    uint64_t random = 0x5eed + (uint64_t)r->from;
    const size_t rounds = ws_test_scale(200);
    size_t *model = calloc(8192, sizeof(*model));
    ws_worker *dest = worker_new(r->to, 0);
    assert_non_null(model);
    for (size_t round = 0; round < rounds; round++) {
        source s = source_new(r->from, (size_t)1 << round % 8, 0);
        /* How often it pushes, in 16: from draining to growing. */
        const uint64_t pushes = 6 + round % 5;
        size_t head = 0;
        size_t tail = 0;
        for (size_t step = 0; step < 4000 || head != tail; step++) {
            const uint64_t op = ws_test_random(&random) >> 60;
            const bool any = head != tail;
            if (op < pushes && step < 4000) {
                model[tail++] = s.next;
                assert_int_equal(source_push(&s), WS_OK);
            } else if (op < 12) {
                const size_t expected = !any              ? 0
                                        : r->from == LIFO ? model[--tail]
                                                          : model[head++];
                assert_int_equal(pop(s.worker), expected);
            } else if (op < 15) {
                void *out = NULL;
                assert_int_equal(source_steal(&s, &out), any);
                assert_int_equal(id(out), any ? model[head++] : 0);
            } else {
                /* The items of a batch are no run of numbers: count them. */
                void *out = NULL;
                assert_int_equal(batch(&s, dest, NO_LIMIT, &out), any);
                const size_t n = tail - head - source_len(&s);
                for (size_t i = 0; i < n; i++) {
                    assert_int_equal(
                        i == 0 ? id(out) : pop(dest),
                        model[r->from == LIFO ? head + n - 1 - i : head + i]);
                }
                head += n;
            }
            assert_int_equal(source_len(&s), tail - head);
            assert_int_equal(ws_worker_len(s.worker), tail - head);
        }
        source_end(&s);
    }
    ws_worker_destroy(dest);
    free(model);
}

#define ROW(name, function, ...)                                               \
    {                                                                          \
        name, function, NULL, NULL, &(row)                                     \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

static const struct CMUnitTest tests[] = {
    ROW("steal_fifo", steal, .from = FIFO),
    ROW("steal_lifo", steal, .from = LIFO),
    ROW("steal_injector", steal, .from = INJECTOR),
    ROW("steal_batch_fifo_fifo", steal_batch, FIFO, WS_FIFO, false, {1, 2}),
    ROW("steal_batch_lifo_lifo", steal_batch, LIFO, WS_LIFO, false, {2, 1}),
    ROW("steal_batch_fifo_lifo", steal_batch, FIFO, WS_LIFO, false, {1, 2}),
    ROW("steal_batch_lifo_fifo", steal_batch, LIFO, WS_FIFO, false, {2, 1}),
    ROW("steal_batch_injector_fifo", steal_batch, INJECTOR, WS_FIFO, false,
        {1, 2}),
    ROW("steal_batch_injector_lifo", steal_batch, INJECTOR, WS_LIFO, false,
        {1, 2}),
    ROW("steal_batch_and_pop_fifo_fifo", steal_batch, FIFO, WS_FIFO, true,
        {1, 2, 3}),
    ROW("steal_batch_and_pop_lifo_lifo", steal_batch, LIFO, WS_LIFO, true,
        {3, 2, 1}),
    ROW("steal_batch_and_pop_fifo_lifo", steal_batch, FIFO, WS_LIFO, true,
        {1, 2, 3}),
    ROW("steal_batch_and_pop_lifo_fifo", steal_batch, LIFO, WS_FIFO, true,
        {3, 2, 1}),
    ROW("steal_batch_and_pop_injector_fifo", steal_batch, INJECTOR, WS_FIFO,
        true, {1, 2, 3}),
    ROW("steal_batch_and_pop_injector_lifo", steal_batch, INJECTOR, WS_LIFO,
        true, {1, 2, 3}),
    cmocka_unit_test(batch_is_half_rounded_up_and_at_most_32),
    cmocka_unit_test(limit_bounds_the_batch),
    cmocka_unit_test(batches_drain_the_source),
    cmocka_unit_test(injector_batch_ends_with_its_segment),
    cmocka_unit_test(dest_that_cannot_grow_takes_what_fits),
    cmocka_unit_test(batch_of_null_is_empty),
    ROW("self_steal_is_empty_lifo", self_steal_is_empty, .from = LIFO),
    ROW("self_steal_is_empty_fifo", self_steal_is_empty, .from = FIFO),
    ROW("agrees_with_a_model_lifo", agrees_with_a_model, .from = LIFO,
        .to = WS_FIFO),
    ROW("agrees_with_a_model_fifo", agrees_with_a_model, .from = FIFO,
        .to = WS_LIFO),
};
WS_TEST_MAIN(tests)
