/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_memory.c: aligned, zeroed memory through the replaceable
 * operations.
 */
#include "support/test.h"

#include "port/platform.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_ALLOCATOR_ENDS_PROCESS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_ALLOCATOR_ENDS_PROCESS 1
#endif

static void assert_zeroed(const void *p, size_t size)
{
    const unsigned char *byte = p;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(byte[i], 0);
    }
}

static void block_is_aligned_as_asked(void **state)
{
    (void)state;
    for (size_t align = sizeof(void *); align <= 65536; align *= 2) {
        for (size_t size = 1; size <= 300; size += 23) {
            void *p = wsi_mem_alloc(align, size);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % align, 0);
            assert_zeroed(p, size);
            wsi_mem_free(p);
        }
    }
}

static void reused_block_is_zeroed_again(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        void *p = wsi_mem_alloc(64, 1000);
        assert_non_null(p);
        assert_zeroed(p, 1000);
        memset(p, 0xA5, 1000);
        wsi_mem_free(p);
    }
}

static void size_zero_gives_a_block(void **state)
{
    (void)state;
    void *p = wsi_mem_alloc(sizeof(void *), 0);
    assert_non_null(p);
    wsi_mem_free(p);
}

static void impossible_size_gives_null(void **state)
{
    (void)state;
#ifdef TEST_ALLOCATOR_ENDS_PROCESS
    skip();
#else
    assert_null(wsi_mem_alloc(64, SIZE_MAX / 2));
#endif
}

static size_t alloc_calls;
static size_t free_calls;

static void *failing_alloc(size_t align, size_t size)
{
    (void)align;
    (void)size;
    alloc_calls++;
    return NULL;
}

static void counting_free(void *p)
{
    free_calls++;
    wsi_mem_free_real(p);
}

static void operations_can_be_replaced(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    void *p = wsi_mem_alloc(64, 10);
    alloc_calls = 0;
    free_calls = 0;
    wsi_port_ops.mem_alloc = failing_alloc;
    wsi_port_ops.mem_free = counting_free;
    void *q = wsi_mem_alloc(64, 10);
    wsi_mem_free(p);
    wsi_port_ops = saved;
    assert_non_null(p);
    assert_null(q);
    assert_int_equal(alloc_calls, 1);
    assert_int_equal(free_calls, 1);
}

static void freeing_null_does_nothing(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    free_calls = 0;
    wsi_port_ops.mem_free = counting_free;
    wsi_mem_free(NULL);
    wsi_port_ops = saved;
    assert_int_equal(free_calls, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(block_is_aligned_as_asked),
    cmocka_unit_test(reused_block_is_zeroed_again),
    cmocka_unit_test(size_zero_gives_a_block),
    cmocka_unit_test(impossible_size_gives_null),
    cmocka_unit_test(operations_can_be_replaced),
    cmocka_unit_test(freeing_null_does_nothing),
};
WS_TEST_MAIN(tests)
