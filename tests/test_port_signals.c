/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_signals.c: the threads of the library leave the program's signals
 * to the program's threads, from their first instruction on.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "port/platform.h"

static void run_in_thread(wsi_thread_fn fn, void *arg)
{
    wsi_thread thread;
    assert_int_equal(wsi_thread_start(&thread, 0, "target", fn, arg), 0);
    assert_int_equal(wsi_thread_join(thread), 0);
}

static void *add_one(void *arg)
{
    int *n = arg;
    *n += 1;
    return NULL;
}

/* ---- masks ----------------------------------------------------------- */

static bool is_synchronous(int signal_number)
{
    static const int list[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                               SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (list[i] == signal_number) {
            return true;
        }
    }
    return false;
}

/* Can it be blocked, and is it not one that the libc keeps for itself? */
static bool is_maskable(int signal_number)
{
    return signal_number != SIGKILL && signal_number != SIGSTOP &&
           (signal_number < 32 || signal_number >= SIGRTMIN);
}

static void *read_mask(void *arg)
{
    WS_TEST_REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, arg) == 0);
    return NULL;
}

static void assert_worker_mask(const sigset_t *mask)
{
    for (int s = 1; s <= SIGRTMAX; s++) {
        if (is_maskable(s)) {
            assert_int_equal(sigismember(mask, s) == 1, !is_synchronous(s));
        }
    }
}

static void only_synchronous_signals_are_open(void **state)
{
    (void)state;
    sigset_t mask;
    run_in_thread(read_mask, &mask);
    assert_worker_mask(&mask);
}

static void mask_does_not_depend_on_the_starter(void **state)
{
    (void)state;
    sigset_t all;
    sigset_t before;
    sigset_t mask;
    sigfillset(&all);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
    wsi_thread thread;
    const int error = wsi_thread_start(&thread, 0, NULL, read_mask, &mask);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(error, 0);
    assert_int_equal(wsi_thread_join(thread), 0);
    assert_worker_mask(&mask);
}

static int refuse_create(pthread_t *out, const pthread_attr_t *attr,
                         wsi_thread_fn fn, void *arg)
{
    (void)out;
    (void)attr;
    (void)fn;
    (void)arg;
    return EPERM;
}

static void assert_mask_is_usr2_only(void)
{
    sigset_t now;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    for (int s = 1; s <= SIGRTMAX; s++) {
        if (is_maskable(s)) {
            assert_int_equal(sigismember(&now, s) == 1, s == SIGUSR2);
        }
    }
}

static void mask_of_the_starter_is_given_back(void **state)
{
    (void)state;
    sigset_t mine;
    sigset_t before;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &mine, &before), 0);
    int n = 0;
    run_in_thread(add_one, &n);
    assert_mask_is_usr2_only();

    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_thread thread;
    wsi_port_ops.thread_create = refuse_create;
    const int error = wsi_thread_start(&thread, 0, NULL, add_one, &n);
    wsi_port_ops = saved;
    assert_int_equal(error, EPERM);
    assert_mask_is_usr2_only();
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

/* ---- delivery -------------------------------------------------------- */

static _Thread_local int is_main_thread;
static wsi_atomic_u32 handled_by_main;
static wsi_atomic_u32 handled_by_others;

static void count_signal(int signal_number)
{
    (void)signal_number;
    /* relaxed: counters that are read after the joins */
    wsi_u32_fetch_add_relaxed(
        is_main_thread ? &handled_by_main : &handled_by_others, 1);
}

static void *send_signals(void *arg)
{
    wsi_atomic_u32 *stop = arg;
    /* acquire: pairs with the release in the case */
    while (wsi_u32_load_acquire(stop) == 0) {
        WS_TEST_REQUIRE(kill(getpid(), SIGUSR1) == 0);
        wsi_thread_yield();
    }
    return NULL;
}

/* While threads start, run and end, a process-wide signal has no thread but
 * the main one to go to, and even that one only outside of the call. */
static void signals_reach_only_the_main_thread(void **state)
{
    (void)state;
    struct sigaction action;
    struct sigaction before;
    memset(&action, 0, sizeof(action));
    action.sa_handler = count_signal;
    action.sa_flags = SA_RESTART;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    is_main_thread = 1;

    wsi_atomic_u32 stop;
    wsi_u32_init(&stop, 0);
    wsi_thread sender;
    assert_int_equal(wsi_thread_start(&sender, 0, NULL, send_signals, &stop),
                     0);
    int n = 0;
    const int rounds = (int)ws_test_scale(500);
    for (int i = 0; i < rounds; i++) {
        run_in_thread(add_one, &n);
    }
    /* relaxed: counts only; the loop ends with the first signal */
    while (wsi_u32_load_relaxed(&handled_by_main) == 0) {
        wsi_thread_yield();
    }
    /* release: pairs with the acquire in send_signals() */
    wsi_u32_store_release(&stop, 1);
    assert_int_equal(wsi_thread_join(sender), 0);

    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(n, rounds);
    /* relaxed: all senders are joined */
    assert_int_equal(wsi_u32_load_relaxed(&handled_by_others), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(only_synchronous_signals_are_open),
    cmocka_unit_test(mask_does_not_depend_on_the_starter),
    cmocka_unit_test(mask_of_the_starter_is_given_back),
    cmocka_unit_test(signals_reach_only_the_main_thread),
};
WS_TEST_MAIN(tests)
