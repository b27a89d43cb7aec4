/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_bitmap.c: a set of numbers that many threads add to.
 */
#include "support/pools.h"

static void numbers_are_added_once(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000};
    (void)state;
    for (size_t s = 0; s < 6; s++) {
        ws_bitmap *bitmap;
        assert_int_equal(ws_bitmap_create(&bitmap, sizes[s]), WS_OK);
        for (size_t i = 0; i < sizes[s]; i++) {
            assert_int_equal(ws_bitmap_has(bitmap, i), 0);
            assert_int_equal(ws_bitmap_add(bitmap, i), 1);
            assert_int_equal(ws_bitmap_add(bitmap, i), 0);
            assert_int_equal(ws_bitmap_has(bitmap, i), 1);
            assert_int_equal(ws_bitmap_count(bitmap), i + 1);
        }
        assert_int_equal(ws_bitmap_add(bitmap, sizes[s]), 0);
        assert_int_equal(ws_bitmap_has(bitmap, SIZE_MAX), 0);
        ws_bitmap_destroy(bitmap);
    }
    ws_bitmap_destroy(NULL);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    ws_bitmap *bitmap = NULL;
    assert_int_equal(ws_bitmap_create(NULL, 1), WS_EINVAL);
#if !defined(TEST_SANITIZER) && SIZE_MAX > UINT32_MAX /* would be had, else */
    assert_int_equal(ws_bitmap_create(&bitmap, SIZE_MAX), WS_ENOMEM);
#endif
    assert_null(bitmap);
}

typedef struct {
    ws_bitmap *bitmap;
    uint64_t *notes; /* written before the number is added */
    size_t size;
    test_counter winners;
    test_counter turn;
} race;

static void *add_all(void *arg)
{
    race *r = arg;
    const uint64_t me = test_add(&r->turn, 1);
    for (size_t i = 0; i < r->size; i++) {
        const size_t number = me % 2 ? i : r->size - 1 - i;
        /* Each thread has notes of its own; the first one's counts. */
        r->notes[me * r->size + number] = number + 1;
        if (ws_bitmap_add(r->bitmap, number)) {
            test_add(&r->winners, 1);
        }
        WS_TEST_REQUIRE(ws_bitmap_has(r->bitmap, number));
    }
    return NULL;
}

static void one_thread_is_first(void **state)
{
    enum {
        THREADS = 4
    };
    (void)state;
    pthread_t threads[THREADS];
    race r = {.size = ws_test_scale(100000)};
    r.notes = calloc(THREADS * r.size, sizeof(*r.notes));
    assert_non_null(r.notes);
    assert_int_equal(ws_bitmap_create(&r.bitmap, r.size), WS_OK);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = test_thread(add_all, &r);
    }
    for (int i = 0; i < THREADS; i++) {
        test_join_thread(threads[i]);
    }
    assert_int_equal(test_get(&r.winners), r.size);
    assert_int_equal(ws_bitmap_count(r.bitmap), r.size);
    ws_bitmap_destroy(r.bitmap);
    free(r.notes);
}

/* What is stored before an add is seen by who finds the number. */
static void *publish(void *arg)
{
    race *r = arg;
    for (size_t i = 0; i < r->size; i++) {
        r->notes[i] = i + 1;
        WS_TEST_REQUIRE(ws_bitmap_add(r->bitmap, i) == 1);
    }
    return NULL;
}

static void *look(void *arg)
{
    race *r = arg;
    for (size_t i = 0; i < r->size; i++) {
        while (!ws_bitmap_has(r->bitmap, i)) {
            wsi_thread_yield();
        }
        WS_TEST_REQUIRE(r->notes[i] == i + 1);
    }
    return NULL;
}

static void adding_hands_data_over(void **state)
{
    (void)state;
    race r = {.size = ws_test_scale(100000)};
    r.notes = calloc(r.size, sizeof(*r.notes));
    assert_non_null(r.notes);
    assert_int_equal(ws_bitmap_create(&r.bitmap, r.size), WS_OK);
    pthread_t reader = test_thread(look, &r);
    pthread_t writer = test_thread(publish, &r);
    test_join_thread(reader);
    test_join_thread(writer);
    ws_bitmap_destroy(r.bitmap);
    free(r.notes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_are_added_once),
    cmocka_unit_test(nonsense_is_refused),
    cmocka_unit_test(one_thread_is_first),
    cmocka_unit_test(adding_hands_data_over),
};
WS_TEST_MAIN(tests)
