/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_threads.c: name and stack of a thread of the library, and every
 * way in which starting one can fail.  Signals: test_port_signals.c.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include <errno.h>
#include <unistd.h>

#include "port/platform.h"

#define MIB ((size_t)1 << 20)

static void run_in_thread(size_t stack, const char *name, wsi_thread_fn fn,
                          void *arg)
{
    wsi_thread thread;
    assert_int_equal(wsi_thread_start(&thread, stack, name, fn, arg), 0);
    assert_int_equal(wsi_thread_join(thread), 0);
}

/* ---- start and join -------------------------------------------------- */

static void *add_one(void *arg)
{
    int *n = arg;
    *n += 1;
    return NULL;
}

static void thread_runs_with_its_argument(void **state)
{
    (void)state;
    int n = 41;
    run_in_thread(0, NULL, add_one, &n);
    assert_int_equal(n, 42);
}

static void many_threads_run_at_once(void **state)
{
    (void)state;
    enum {
        THREADS = 64
    };
    wsi_thread threads[THREADS];
    int n[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(
            wsi_thread_start(&threads[i], 1, "ws-test", add_one, &n[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(wsi_thread_join(threads[i]), 0);
        assert_int_equal(n[i], 1);
    }
}

/* ---- names ----------------------------------------------------------- */

#define NAME_ROOM 64

static void *read_name(void *arg)
{
    char *name = arg;
#if defined(__linux__)
    WS_TEST_REQUIRE(pthread_getname_np(pthread_self(), name, NAME_ROOM) == 0);
#else
    name[0] = '\0';
#endif
    return NULL;
}

static void name_is_set_before_the_thread_function_runs(void **state)
{
    (void)state;
#if defined(__linux__)
    char name[NAME_ROOM];
    run_in_thread(0, "ws-pool-3", read_name, name);
    assert_string_equal(name, "ws-pool-3");
    run_in_thread(0, "exactly 15 byte", read_name, name);
    assert_string_equal(name, "exactly 15 byte");
#else
    skip();
#endif
}

static void long_name_is_cut(void **state)
{
    (void)state;
#if defined(__linux__)
    char name[NAME_ROOM];
    run_in_thread(0, "exactly 15 bytes and more", read_name, name);
    assert_string_equal(name, "exactly 15 byte");
#else
    skip();
#endif
}

static void thread_without_name_inherits_one(void **state)
{
    (void)state;
    char mine[NAME_ROOM];
    char name[NAME_ROOM];
    read_name(mine);
    run_in_thread(0, NULL, read_name, name);
    assert_string_equal(name, mine);
    run_in_thread(0, "", read_name, name);
    assert_string_equal(name, mine);
}

/* ---- stack ----------------------------------------------------------- */

static size_t seen_stack;

static int see_stack(pthread_t *out, const pthread_attr_t *attr,
                     wsi_thread_fn fn, void *arg)
{
    if (pthread_attr_getstacksize(attr, &seen_stack) != 0) {
        seen_stack = 0;
    }
    return pthread_create(out, attr, fn, arg);
}

static size_t stack_asked_for(size_t stack)
{
    const wsi_port_ops_table saved = wsi_port_ops;
    int n = 0;
    wsi_thread thread;
    seen_stack = 0;
    wsi_port_ops.thread_create = see_stack;
    int error = wsi_thread_start(&thread, stack, NULL, add_one, &n);
    if (error == 0) {
        error = wsi_thread_join(thread);
    }
    wsi_port_ops = saved;
    assert_int_equal(error, 0);
    assert_int_equal(n, 1);
    return seen_stack;
}

static void stack_is_what_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(stack_asked_for(0), 8 * MIB);
    assert_int_equal(stack_asked_for(MIB), MIB);
    assert_int_equal(stack_asked_for(64 * MIB), 64 * MIB);
}

static void stack_is_rounded_up(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t odd = MIB + 1;
    assert_int_equal(stack_asked_for(odd), MIB + page);
    const size_t least = stack_asked_for(1);
    assert_true(least >= 1 && least % page == 0);
}

static size_t use_stack(size_t frames);

/* Through a variable, so that the compiler cannot merge the frames. */
static size_t (*volatile next_frame)(size_t frames) = use_stack;

/* Frames of 16 KiB; returns their number. */
static size_t use_stack(size_t frames)
{
    volatile unsigned char frame[16384];
    frame[0] = 1;
    frame[sizeof(frame) - 1] = (unsigned char)frames;
    const size_t below = frames > 1 ? next_frame(frames - 1) : 0;
    return below + frame[0];
}

static void *use_frames(void *arg)
{
    size_t *frames = arg;
    *frames = use_stack(*frames);
    return NULL;
}

static void whole_stack_can_be_used(void **state)
{
    (void)state;
    /* 24 MiB of frames: more than any default, and half of what is asked for,
     * since a sanitizer makes frames larger. */
    size_t frames = 24 * MIB / 16384;
    run_in_thread(64 * MIB, NULL, use_frames, &frames);
    assert_int_equal(frames, 24 * MIB / 16384);
}

static size_t create_calls;

static int count_create(pthread_t *out, const pthread_attr_t *attr,
                        wsi_thread_fn fn, void *arg)
{
    create_calls++;
    return pthread_create(out, attr, fn, arg);
}

static void absurd_stack_size_is_an_error(void **state)
{
    static const size_t excess[] = {1, 4096, 1 << 20};
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    const size_t max = wsi_stack_size_max();
    wsi_thread thread;
    int n = 0;
    create_calls = 0;
    wsi_port_ops.thread_create = count_create;
    int error = wsi_thread_start(&thread, SIZE_MAX, NULL, add_one, &n);
    for (size_t i = 0; error == EINVAL && i < 3; i++) {
        error = wsi_thread_start(&thread, max + excess[i], NULL, add_one, &n);
    }
    wsi_port_ops = saved;
    assert_int_equal(error, EINVAL);
    assert_int_equal(create_calls, 0);
    assert_true(max >= 8 * MIB);
}

static int see_only(pthread_t *out, const pthread_attr_t *attr,
                    wsi_thread_fn fn, void *arg)
{
    (void)out;
    (void)fn;
    (void)arg;
    return pthread_attr_getstacksize(attr, &seen_stack) == 0 ? EPERM : EINVAL;
}

static void largest_stack_size_is_tried(void **state)
{
    (void)state;
    /* Not really: the address space may be too small under a sanitizer. */
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_thread thread;
    seen_stack = 0;
    wsi_port_ops.thread_create = see_only;
    const int error =
        wsi_thread_start(&thread, wsi_stack_size_max(), NULL, add_one, NULL);
    wsi_port_ops = saved;
    assert_int_equal(error, EPERM);
    assert_true(seen_stack >= wsi_stack_size_max());
}

/* ---- failures -------------------------------------------------------- */

static int create_error;
static size_t failures_left;

static int fail_some(pthread_t *out, const pthread_attr_t *attr,
                     wsi_thread_fn fn, void *arg)
{
    create_calls++;
    if (failures_left > 0) {
        failures_left--;
        return create_error;
    }
    return pthread_create(out, attr, fn, arg);
}

/* Starts a thread whose creation fails `failures` times. */
static int start_with_failures(int error, size_t failures)
{
    const wsi_port_ops_table saved = wsi_port_ops;
    int n = 0;
    wsi_thread thread;
    create_calls = 0;
    create_error = error;
    failures_left = failures;
    wsi_port_ops.thread_create = fail_some;
    const int result = wsi_thread_start(&thread, 0, "retry", add_one, &n);
    int joined = 0;
    if (result == 0) {
        joined = wsi_thread_join(thread);
    }
    wsi_port_ops = saved;
    assert_int_equal(joined, 0);
    assert_int_equal(n, result == 0 ? 1 : 0);
    return result;
}

static void passing_shortage_of_threads_is_retried(void **state)
{
    (void)state;
    for (size_t failures = 0; failures <= 3; failures++) {
        assert_int_equal(start_with_failures(EAGAIN, failures), 0);
        assert_int_equal(create_calls, failures + 1);
    }
}

static void lasting_shortage_of_threads_is_returned(void **state)
{
    (void)state;
    assert_int_equal(start_with_failures(EAGAIN, SIZE_MAX), EAGAIN);
    assert_int_equal(create_calls, 4);
}

static void other_errors_are_returned_at_once(void **state)
{
    (void)state;
    assert_int_equal(start_with_failures(EPERM, SIZE_MAX), EPERM);
    assert_int_equal(create_calls, 1);
    assert_int_equal(start_with_failures(EINVAL, SIZE_MAX), EINVAL);
    assert_int_equal(create_calls, 1);
}

static void *no_memory(size_t align, size_t size)
{
    (void)align;
    (void)size;
    return NULL;
}

static void no_memory_is_returned(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    int n = 0;
    wsi_thread thread;
    create_calls = 0;
    wsi_port_ops.thread_create = count_create;
    wsi_port_ops.mem_alloc = no_memory;
    const int error = wsi_thread_start(&thread, 0, "x", add_one, &n);
    wsi_port_ops = saved;
    assert_int_equal(error, ENOMEM);
    assert_int_equal(create_calls, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(thread_runs_with_its_argument),
    cmocka_unit_test(many_threads_run_at_once),
    cmocka_unit_test(name_is_set_before_the_thread_function_runs),
    cmocka_unit_test(long_name_is_cut),
    cmocka_unit_test(thread_without_name_inherits_one),
    cmocka_unit_test(stack_is_what_was_asked_for),
    cmocka_unit_test(stack_is_rounded_up),
    cmocka_unit_test(whole_stack_can_be_used),
    cmocka_unit_test(absurd_stack_size_is_an_error),
    cmocka_unit_test(largest_stack_size_is_tried),
    cmocka_unit_test(passing_shortage_of_threads_is_retried),
    cmocka_unit_test(lasting_shortage_of_threads_is_returned),
    cmocka_unit_test(other_errors_are_returned_at_once),
    cmocka_unit_test(no_memory_is_returned),
};
WS_TEST_MAIN(tests)
