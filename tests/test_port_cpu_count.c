/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_cpu_count.c: how many CPUs the process may use.
 *
 * The affinity mask is the real one where a test can narrow it, and a stand-in
 * for the machine with thousands of CPUs.  Quotas: test_port_cgroup.c.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "port/platform.h"

static void count_is_between_one_and_online(void **state)
{
    (void)state;
    const unsigned n = wsi_cpu_count();
    assert_true(n >= 1);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    assert_true(online < 1 || n <= (unsigned long)online);
}

static void count_respects_the_quota(void **state)
{
    (void)state;
    const unsigned quota = wsi_cgroup_cpu_limit("");
    assert_true(quota == 0 || wsi_cpu_count() <= quota);
}

static void affinity_to_one_cpu_counts_one(void **state)
{
    (void)state;
#if defined(__linux__)
    cpu_set_t before;
    cpu_set_t one;
    if (sched_getaffinity(0, sizeof(before), &before) != 0) {
        skip(); /* more CPUs than the fixed type holds */
    }
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &before)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0) {
        skip();
    }
    const unsigned n = wsi_cpu_count();
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(n, 1);
#else
    skip();
#endif
}

static size_t kernel_mask_bytes;
static size_t mask_calls;

/* A kernel whose own mask has kernel_mask_bytes, with three CPUs in it. */
static int wide_machine(size_t bytes, void *mask)
{
    mask_calls++;
    if (bytes < kernel_mask_bytes) {
        return EINVAL;
    }
    unsigned char *byte = mask;
    byte[0] |= 1;
    byte[kernel_mask_bytes / 2] |= 16;
    byte[kernel_mask_bytes - 1] |= 128;
    return 0;
}

static int empty_mask(size_t bytes, void *mask)
{
    mask_calls++;
    memset(mask, 0, bytes);
    return 0;
}

static int forbidden(size_t bytes, void *mask)
{
    (void)bytes;
    (void)mask;
    mask_calls++;
    return EPERM;
}

static void affinity_mask_of_any_width_is_counted(void **state)
{
    (void)state;
    for (size_t bytes = 8; bytes <= 65536; bytes *= 2) {
        kernel_mask_bytes = bytes;
        assert_int_equal(wsi_affinity_cpu_count(wide_machine), 3);
    }
}

static void affinity_that_cannot_be_read_is_unknown(void **state)
{
    (void)state;
    mask_calls = 0;
    kernel_mask_bytes = SIZE_MAX;
    assert_int_equal(wsi_affinity_cpu_count(wide_machine), 0);
    assert_true(mask_calls > 1 && mask_calls < 64);

    mask_calls = 0;
    assert_int_equal(wsi_affinity_cpu_count(forbidden), 0);
    assert_int_equal(mask_calls, 1);

    mask_calls = 0;
    assert_int_equal(wsi_affinity_cpu_count(empty_mask), 0);
    assert_int_equal(mask_calls, 1);
}

static void *no_memory(size_t align, size_t size)
{
    (void)align;
    (void)size;
    return NULL;
}

static void count_is_at_least_one_without_memory(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_port_ops.mem_alloc = no_memory;
    const unsigned affinity = wsi_affinity_cpu_count(empty_mask);
    const unsigned n = wsi_cpu_count();
    wsi_port_ops = saved;
    assert_int_equal(affinity, 0);
    assert_true(n >= 1);
}

static unsigned ninety_nine(void)
{
    return 99;
}

static unsigned none(void)
{
    return 0;
}

static void count_comes_from_the_replaceable_operation(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_port_ops.cpu_count = ninety_nine;
    const unsigned many = wsi_cpu_count();
    wsi_port_ops.cpu_count = none;
    const unsigned least = wsi_cpu_count();
    wsi_port_ops = saved;
    assert_int_equal(many, 99);
    assert_int_equal(least, 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(count_is_between_one_and_online),
    cmocka_unit_test(count_respects_the_quota),
    cmocka_unit_test(affinity_to_one_cpu_counts_one),
    cmocka_unit_test(affinity_mask_of_any_width_is_counted),
    cmocka_unit_test(affinity_that_cannot_be_read_is_unknown),
    cmocka_unit_test(count_is_at_least_one_without_memory),
    cmocka_unit_test(count_comes_from_the_replaceable_operation),
};
WS_TEST_MAIN(tests)
