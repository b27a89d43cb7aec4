/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test.c: the main function of every test program.
 *
 * cmocka runs the cases one after the other on the main thread; a monitor
 * thread is the watchdog.  It is a thread and not SIGALRM, because a sanitizer
 * may hold back a signal for as long as a thread hangs in a system call.  It
 * has all signals blocked, sleeps unless a deadline passes, and is joined at
 * the end, so that tests see one more thread and nothing else of it.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) ||     \
    __has_feature(memory_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#endif

enum {
    EXIT_WATCHDOG = 99,
    EXIT_NO_SUCH_CASE = 98,
    EXIT_SKIPPED = 77
};

/* ---- scale ----------------------------------------------------------- */

typedef enum {
    SCALE_NORMAL,
    SCALE_BRIEF,
    SCALE_SLOW,
    SCALE_DEEP
} scale;

/* WS_TEST_SCALE=brief: what has run in full with another compiler or port.
 * slow: valgrind, an emulator.  deep: on demand, hours are welcome. */
static scale scale_now(void)
{
    const char *value = getenv("WS_TEST_SCALE");
    value = value != NULL ? value : "";
    if (strcmp(value, "deep") == 0) {
        return SCALE_DEEP;
    }
#ifdef TEST_SANITIZED
    return SCALE_SLOW;
#else
    return strcmp(value, "slow") == 0    ? SCALE_SLOW
           : strcmp(value, "brief") == 0 ? SCALE_BRIEF
                                         : SCALE_NORMAL;
#endif
}

size_t ws_test_scale(size_t n)
{
    size_t scaled = n;
    switch (scale_now()) {
    case SCALE_BRIEF:
        scaled = n / 5;
        break;
    case SCALE_SLOW:
        scaled = n / 20;
        break;
    case SCALE_DEEP:
#ifndef TEST_SANITIZED
        scaled = n <= SIZE_MAX / 10 ? n * 10 : SIZE_MAX;
#endif
        break;
    case SCALE_NORMAL:
        break;
    }
    return scaled > 0 || n == 0 ? scaled : 1;
}

uint64_t ws_test_random(uint64_t *state)
{
    /* xorshift64*: any state but 0 is good. */
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

/* ---- messages -------------------------------------------------------- */

/* Not stdio: a thread that hangs or a forked child may hold its locks. */
static void say(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t n = write(STDERR_FILENO, text, left);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        text += n;
        left -= (size_t)n;
    }
}

void ws_test_fail(const char *file, int line, const char *what)
{
    char text[512];
    snprintf(text, sizeof(text), "\n%s:%d: failed: %s\n", file, line, what);
    say(text);
    _exit(1);
}

/* ---- watchdog -------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const char *name; /* the running case; NULL: nothing to watch */
    struct timespec deadline;
    bool stop;
} watchdog = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool passed_deadline(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > watchdog.deadline.tv_sec ||
           (now.tv_sec == watchdog.deadline.tv_sec &&
            now.tv_nsec >= watchdog.deadline.tv_nsec);
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watchdog.lock);
    while (!watchdog.stop) {
        if (watchdog.name == NULL) {
            pthread_cond_wait(&watchdog.changed, &watchdog.lock);
            continue;
        }
        pthread_cond_timedwait(&watchdog.changed, &watchdog.lock,
                               &watchdog.deadline);
        if (!watchdog.stop && watchdog.name != NULL && passed_deadline()) {
            say("\nwatchdog: time is up in case ");
            say(watchdog.name);
            say("\n");
            _exit(EXIT_WATCHDOG);
        }
    }
    pthread_mutex_unlock(&watchdog.lock);
    return NULL;
}

/* Also the moment at which the limit of `name` starts; NULL: no limit. */
static void watchdog_set(const char *name, unsigned seconds)
{
    if (scale_now() == SCALE_SLOW) {
        seconds *= 2;
    } else if (scale_now() == SCALE_DEEP) {
        seconds *= 10;
    }
    pthread_mutex_lock(&watchdog.lock);
    clock_gettime(CLOCK_MONOTONIC, &watchdog.deadline);
    watchdog.deadline.tv_sec += (time_t)seconds;
    watchdog.name = name;
    pthread_cond_signal(&watchdog.changed);
    pthread_mutex_unlock(&watchdog.lock);
}

static const char *watchdog_name(void)
{
    pthread_mutex_lock(&watchdog.lock);
    const char *name = watchdog.name;
    pthread_mutex_unlock(&watchdog.lock);
    return name;
}

void ws_test_watchdog(unsigned seconds)
{
    watchdog_set(watchdog_name(), seconds);
}

static void watchdog_start(void)
{
    sigset_t all;
    sigset_t old;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog.changed, &attr);
    pthread_condattr_destroy(&attr);

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&watchdog.thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    WS_TEST_REQUIRE(error == 0);
}

static void watchdog_stop(void)
{
    pthread_mutex_lock(&watchdog.lock);
    watchdog.stop = true;
    pthread_cond_signal(&watchdog.changed);
    pthread_mutex_unlock(&watchdog.lock);
    pthread_join(watchdog.thread, NULL);
}

/* ---- cases ----------------------------------------------------------- */

/* The case that runs; cmocka runs one at a time. */
static const struct CMUnitTest *running;

/* Each case runs between these two, which call the case's own fixtures. */
static int case_begin(void **state)
{
    running = *state;
    *state = running->initial_state;
    watchdog_set(running->name, WS_TEST_WATCHDOG_S);
    return running->setup_func != NULL ? running->setup_func(state) : 0;
}

static int case_end(void **state)
{
    int result =
        running->teardown_func != NULL ? running->teardown_func(state) : 0;
    watchdog_set(NULL, 0);
    return result;
}

/* WS_TEST_SKIP: parts of names, between colons. */
static bool is_skipped(const char *name)
{
    const char *part = getenv("WS_TEST_SKIP");
    while (part != NULL && *part != '\0') {
        char text[64];
        size_t n = strcspn(part, ":");
        WS_TEST_REQUIRE(n > 0 && n < sizeof(text));
        memcpy(text, part, n);
        text[n] = '\0';
        if (strstr(name, text) != NULL) {
            return true;
        }
        part += n + (part[n] == ':');
    }
    return false;
}

int ws_test_run(const char *group, const struct CMUnitTest *tests, size_t n,
                int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : NULL;
    if (filter != NULL && strcmp(filter, "--list") == 0) {
        for (size_t i = 0; i < n; i++) {
            puts(tests[i].name);
        }
        return 0;
    }

    struct CMUnitTest *cases = calloc(n, sizeof(*cases));
    size_t count = 0;
    WS_TEST_REQUIRE(cases != NULL);
    for (size_t i = 0; i < n; i++) {
        if (filter != NULL ? strcmp(filter, tests[i].name) != 0
                           : is_skipped(tests[i].name)) {
            continue;
        }
        cases[count] = tests[i];
        cases[count].setup_func = case_begin;
        cases[count].teardown_func = case_end;
        /* cmocka only hands the pointer on, to case_begin(). */
        cases[count].initial_state = (void *)(uintptr_t)&tests[i];
        count++;
    }
    if (count == 0) {
        say(filter != NULL ? "no such case\n" : "all cases are skipped\n");
        free(cases);
        return filter != NULL ? EXIT_NO_SUCH_CASE : EXIT_SKIPPED;
    }

    watchdog_start();
    int failed = _cmocka_run_group_tests(group, cases, count, NULL, NULL);
    watchdog_stop();
    free(cases);
    /* The number of failures is not a status: 256 of them would be 0. */
    return failed != 0;
}
