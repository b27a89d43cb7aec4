/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test.h: what every test program shares: cmocka, a watchdog, scaled counts.
 *
 * A test file ends with
 *
 *     static const struct CMUnitTest tests[] = {
 *         cmocka_unit_test(name_of_the_behaviour),
 *     };
 *     WS_TEST_MAIN(tests)
 *
 * The main function runs all cases, or those whose name is the first argument,
 * under a watchdog of WS_TEST_WATCHDOG_S seconds per case: a hang ends the
 * process with a message that names the case.  A filter that matches nothing
 * is a failure.
 */
#ifndef WS_TESTS_SUPPORT_TEST_H
#define WS_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka.h needs the headers above first. */
#include <cmocka.h>

/* Long on purpose: a busy machine must not make a test fail. */
#define WS_TEST_WATCHDOG_S 120

/* Restarts the watchdog of the running case with another limit. */
void ws_test_watchdog(unsigned seconds);

/* `n`, or about a twentieth of it (at least 1) under a sanitizer, valgrind or
 * the emulator: counts shrink, behaviour does not. */
size_t ws_test_scale(size_t n);

/* A cheap pseudo-random number, deterministic per `state` (never 0). */
uint64_t ws_test_random(uint64_t *state);

/* Fails the running test, also from a thread other than the test's own: prints
 * and ends the process, since cmocka's asserts work on the main thread only. */
void ws_test_fail(const char *file, int line, const char *what);
#define WS_TEST_REQUIRE(condition)                                             \
    ((condition) ? (void)0 : ws_test_fail(__FILE__, __LINE__, #condition))

int ws_test_run(const char *group, const struct CMUnitTest *tests, size_t n,
                int argc, char **argv);

#define WS_TEST_MAIN(tests)                                                    \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        return ws_test_run(__FILE__, tests, sizeof(tests) / sizeof(*(tests)),  \
                           argc, argv);                                        \
    }

#endif
