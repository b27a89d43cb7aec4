/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_system.c: the clock, the process id, the table of operations.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "port/platform.h"

static void clock_never_goes_back(void **state)
{
    (void)state;
    uint64_t last = wsi_clock_ns();
    for (size_t i = 0; i < ws_test_scale(100000); i++) {
        const uint64_t now = wsi_clock_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void clock_advances(void **state)
{
    (void)state;
    const uint64_t start = wsi_clock_ns();
    while (wsi_clock_ns() - start < 1000000) {
        wsi_thread_yield();
    }
}

static uint64_t stopped_clock(void)
{
    return 42;
}

static void clock_can_be_replaced(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_port_ops.clock_ns = stopped_clock;
    const uint64_t now = wsi_clock_ns();
    wsi_port_ops = saved;
    assert_int_equal(now, 42);
}

static void process_id_differs_in_a_forked_child(void **state)
{
    (void)state;
    const uint64_t here = wsi_process_id();
    assert_int_equal(wsi_process_id(), here);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(wsi_process_id() != here ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(wsi_process_id(), here);
}

static wsi_point seen_point;
static void *seen_object;

static void see(wsi_point point, void *object)
{
    seen_point = point;
    seen_object = object;
}

static void points_call_the_hook_only_when_there_is_one(void **state)
{
    int object = 0;
    (void)state;
    assert_true(wsi_port_ops.at_point == NULL);
    wsi_at_point(WSI_POINT_LATCH_SET, &object);
    wsi_port_ops.at_point = see;
    wsi_at_point(WSI_POINT_CLAIM_HELD, &object);
    wsi_port_ops.at_point = NULL;
    assert_int_equal(seen_point, WSI_POINT_CLAIM_HELD);
    assert_ptr_equal(seen_object, &object);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(clock_never_goes_back),
    cmocka_unit_test(clock_advances),
    cmocka_unit_test(clock_can_be_replaced),
    cmocka_unit_test(process_id_differs_in_a_forked_child),
    cmocka_unit_test(points_call_the_hook_only_when_there_is_one),
};
WS_TEST_MAIN(tests)
