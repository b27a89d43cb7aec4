/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_futex.c: sleeping on a word and waking its sleepers.
 *
 * A lost wake shows as a hang, which the watchdog ends.  Nothing here measures
 * time: a busy machine only makes the cases slower.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "port/platform.h"

#define FOREVER UINT64_MAX
#define SMALL_STACK ((size_t)256 << 10)

static wsi_thread start(wsi_thread_fn fn, void *arg)
{
    wsi_thread thread;
    assert_int_equal(wsi_thread_start(&thread, SMALL_STACK, NULL, fn, arg), 0);
    return thread;
}

static void join(wsi_thread thread)
{
    assert_int_equal(wsi_thread_join(thread), 0);
}

/* Sleeps until the word is no longer `old`. */
static void await_change(wsi_atomic_u32 *word, uint32_t old)
{
    /* acquire: pairs with the release in publish() */
    while (wsi_u32_load_acquire(word) == old) {
        wsi_futex_wait(word, old, FOREVER);
    }
}

static void publish(wsi_atomic_u32 *word, uint32_t value, uint32_t wakes)
{
    /* release: pairs with the acquire in await_change() */
    wsi_u32_store_release(word, value);
    wsi_futex_wake(word, wakes);
}

/* ---- no second thread ------------------------------------------------ */

static void wait_returns_when_the_value_differs(void **state)
{
    (void)state;
    wsi_atomic_u32 word;
    wsi_u32_init(&word, 7);
    wsi_futex_wait(&word, 6, FOREVER);
    wsi_futex_wait(&word, 0, FOREVER);
    wsi_futex_wait(&word, UINT32_MAX, FOREVER);
    wsi_futex_wait(&word, 6, UINT64_MAX - 1);
}

static void wait_ends_at_its_timeout(void **state)
{
    static const uint64_t timeouts[] = {0, 1, 999, 1000000, 20000000};
    (void)state;
    wsi_atomic_u32 word;
    wsi_u32_init(&word, 7);
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
        const uint64_t end = wsi_clock_ns() + timeouts[i];
        for (uint64_t now = 0; now < end; now = wsi_clock_ns()) {
            wsi_futex_wait(&word, 7, end - (now > 0 ? now : end));
        }
    }
}

static void wait_does_not_end_long_before_its_timeout(void **state)
{
    /* It may end early, but a wait that never sleeps is a busy loop. */
    (void)state;
    wsi_atomic_u32 word;
    wsi_u32_init(&word, 7);
    const uint64_t end = wsi_clock_ns() + 50000000;
    unsigned waits = 0;
    for (uint64_t now = wsi_clock_ns(); now < end; now = wsi_clock_ns()) {
        wsi_futex_wait(&word, 7, end - now);
        waits++;
    }
    assert_true(waits < 100);
}

static void wake_without_sleepers_does_nothing(void **state)
{
    (void)state;
    wsi_atomic_u32 word;
    wsi_u32_init(&word, 0);
    wsi_futex_wake(&word, 0);
    wsi_futex_wake(&word, 1);
    wsi_futex_wake(&word, UINT32_MAX);
    /* relaxed: no other thread */
    assert_int_equal(wsi_u32_load_relaxed(&word), 0);
}

static void wake_of_unmapped_memory_is_harmless(void **state)
{
    (void)state;
    const char *preload = getenv("LD_PRELOAD");
    if (preload != NULL && strstr(preload, "vgpreload") != NULL) {
        skip(); /* valgrind thinks that the kernel reads the word */
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    const wsi_atomic_u32 *word = p;
    wsi_futex_wait(word, 1, FOREVER);
    assert_int_equal(munmap(p, page), 0);
    wsi_futex_wake(word, 1);
    wsi_futex_wake(word, UINT32_MAX);
}

/* ---- sleepers -------------------------------------------------------- */

static void *sleeper(void *arg)
{
    await_change(arg, 0);
    return NULL;
}

static void sleeper_is_woken(void **state)
{
    (void)state;
    for (size_t i = 0; i < ws_test_scale(500); i++) {
        wsi_atomic_u32 word;
        wsi_u32_init(&word, 0);
        const wsi_thread thread = start(sleeper, &word);
        if (i % 2 == 0) { /* the odd ones try to come before the sleep */
            wsi_thread_yield();
        }
        publish(&word, 1, 1);
        join(thread);
    }
}

static void *long_sleeper(void *arg)
{
    wsi_atomic_u32 *word = arg;
    /* acquire: pairs with the release in publish() */
    while (wsi_u32_load_acquire(word) == 0) {
        wsi_futex_wait(word, 0, UINT64_MAX - 1);
    }
    return NULL;
}

static void sleeper_with_the_longest_timeout_is_woken(void **state)
{
    (void)state;
    wsi_atomic_u32 word;
    wsi_u32_init(&word, 0);
    const wsi_thread thread = start(long_sleeper, &word);
    publish(&word, 1, 1);
    join(thread);
}

#define MANY 8

static void wake_all_wakes_every_sleeper(void **state)
{
    (void)state;
    for (size_t round = 0; round < ws_test_scale(200); round++) {
        wsi_atomic_u32 word;
        wsi_thread threads[MANY];
        wsi_u32_init(&word, 0);
        for (size_t i = 0; i < MANY; i++) {
            threads[i] = start(sleeper, &word);
        }
        publish(&word, 1, UINT32_MAX);
        for (size_t i = 0; i < MANY; i++) {
            join(threads[i]);
        }
    }
}

typedef struct {
    wsi_atomic_u32 turn;
    uint32_t rounds;
} ping_pong;

static void *odd_player(void *arg)
{
    ping_pong *p = arg;
    for (uint32_t i = 0; i < p->rounds; i++) {
        await_change(&p->turn, 2 * i);
        publish(&p->turn, 2 * i + 2, 1);
    }
    return NULL;
}

static void ping_pong_loses_no_wake(void **state)
{
    (void)state;
    ping_pong p;
    wsi_u32_init(&p.turn, 0);
    p.rounds = (uint32_t)ws_test_scale(20000);
    const wsi_thread thread = start(odd_player, &p);
    for (uint32_t i = 0; i < p.rounds; i++) {
        publish(&p.turn, 2 * i + 1, 1);
        await_change(&p.turn, 2 * i + 1);
    }
    join(thread);
}

/* ---- a semaphore: wakes of one among several sleepers ---------------- */

typedef struct {
    wsi_atomic_u32 tokens;
    wsi_atomic_u32 taken;
    size_t share;
} semaphore;

static void *consumer(void *arg)
{
    semaphore *s = arg;
    for (size_t got = 0; got < s->share;) {
        /* acquire: pairs with the release half of the CAS or the add that
         * wrote the number */
        uint32_t tokens = wsi_u32_load_acquire(&s->tokens);
        if (tokens == 0) {
            wsi_futex_wait(&s->tokens, 0, FOREVER);
        } else if (wsi_u32_cas_acq_rel(&s->tokens, &tokens, tokens - 1)) {
            got++;
            /* relaxed: read after the join */
            wsi_u32_fetch_add_relaxed(&s->taken, 1);
        }
    }
    return NULL;
}

static void *producer(void *arg)
{
    semaphore *s = arg;
    for (size_t i = 0; i < s->share; i++) {
        /* acq_rel: pairs with the consumers' load and CAS */
        wsi_u32_fetch_add_acq_rel(&s->tokens, 1);
        wsi_futex_wake(&s->tokens, 1);
    }
    return NULL;
}

static void one_wake_per_token_serves_all_consumers(void **state)
{
    (void)state;
    semaphore s;
    wsi_thread threads[MANY];
    wsi_u32_init(&s.tokens, 0);
    wsi_u32_init(&s.taken, 0);
    s.share = ws_test_scale(5000);
    for (size_t i = 0; i < MANY; i++) {
        threads[i] = start(i % 2 == 0 ? consumer : producer, &s);
    }
    for (size_t i = 0; i < MANY; i++) {
        join(threads[i]);
    }
    /* relaxed, both: every thread was joined */
    assert_int_equal(wsi_u32_load_relaxed(&s.tokens), 0);
    assert_int_equal(wsi_u32_load_relaxed(&s.taken), s.share * MANY / 2);
}

/* ---- words that share a place in a hash table ------------------------ */

#define CROWD 80 /* more than posix.c has buckets */

static void each_of_many_words_wakes_its_own_sleeper(void **state)
{
    (void)state;
    static wsi_atomic_u32 words[CROWD];
    wsi_thread threads[CROWD];
    for (size_t i = 0; i < CROWD; i++) {
        wsi_u32_init(&words[i], 0);
        threads[i] = start(sleeper, &words[i]);
    }
    /* One at a time, each joined while all later ones still sleep: a wake that
     * another word's sleeper takes is a hang. */
    for (size_t i = CROWD; i-- > 0;) {
        publish(&words[i], 1, 1);
        join(threads[i]);
    }
}

/* ---- fork ------------------------------------------------------------ */

#define FORK_WORDS 256

static wsi_atomic_u32 fork_words[FORK_WORDS];
static wsi_atomic_u32 fork_stop;
static wsi_atomic_u32 fork_ready;

/* Keeps the places of all words busy with timed waits and wakes. */
static void *disturb(void *arg)
{
    (void)arg;
    /* acq_rel: pairs with the acquire in the case */
    wsi_u32_fetch_add_acq_rel(&fork_ready, 1);
    /* acquire: pairs with the release in the case */
    while (wsi_u32_load_acquire(&fork_stop) == 0) {
        for (size_t i = 0; i < FORK_WORDS; i++) {
            wsi_futex_wait(&fork_words[i], 0, 1000);
            wsi_futex_wake(&fork_words[i], 1);
        }
    }
    return NULL;
}

/* Is most of the time in the middle of a wake: most children inherit that. */
static void *hammer(void *arg)
{
    (void)arg;
    /* acq_rel: pairs with the acquire in the case */
    wsi_u32_fetch_add_acq_rel(&fork_ready, 1);
    /* acquire: pairs with the release in the case */
    while (wsi_u32_load_acquire(&fork_stop) == 0) {
        wsi_futex_wake(&fork_words[1], 1);
    }
    return NULL;
}

static void *sleep_through_forks(void *arg)
{
    /* acq_rel: pairs with the acquire in the case */
    wsi_u32_fetch_add_acq_rel(&fork_ready, 1);
    return sleeper(arg);
}

static int use_every_word(void)
{
    for (size_t i = 0; i < FORK_WORDS; i++) {
        wsi_futex_wake(&fork_words[i], UINT32_MAX);
        wsi_futex_wait(&fork_words[i], 0, 1);
    }
    return 0;
}

static void forked_child_can_sleep_and_wake(void **state)
{
    (void)state;
    wsi_thread threads[3];
    wsi_u32_init(&fork_stop, 0);
    wsi_u32_init(&fork_ready, 0);
    threads[0] = start(disturb, NULL);
    threads[1] = start(hammer, NULL);
    threads[2] = start(sleep_through_forks, &fork_words[0]);
    /* All have started, or the child would inherit what a thread that it does
     * not have was about to free.  acquire: pairs with their fetch_add */
    while (wsi_u32_load_acquire(&fork_ready) < 3) {
        wsi_thread_yield();
    }
    for (size_t i = 0; i < ws_test_scale(60); i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(WS_TEST_WATCHDOG_S); /* do not outlive the watchdog */
            _exit(use_every_word());
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    /* release: pairs with the acquire in disturb() */
    wsi_u32_store_release(&fork_stop, 1);
    publish(&fork_words[0], 1, UINT32_MAX);
    for (size_t i = 0; i < 3; i++) {
        join(threads[i]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wait_returns_when_the_value_differs),
    cmocka_unit_test(wait_ends_at_its_timeout),
    cmocka_unit_test(wait_does_not_end_long_before_its_timeout),
    cmocka_unit_test(wake_without_sleepers_does_nothing),
    cmocka_unit_test(wake_of_unmapped_memory_is_harmless),
    cmocka_unit_test(sleeper_is_woken),
    cmocka_unit_test(sleeper_with_the_longest_timeout_is_woken),
    cmocka_unit_test(wake_all_wakes_every_sleeper),
    cmocka_unit_test(ping_pong_loses_no_wake),
    cmocka_unit_test(one_wake_per_token_serves_all_consumers),
    cmocka_unit_test(each_of_many_words_wakes_its_own_sleeper),
    cmocka_unit_test(forked_child_can_sleep_and_wake),
};
WS_TEST_MAIN(tests)
