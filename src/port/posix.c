/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * posix.c: the futex from mutexes and condition variables, and no membarrier.
 *
 * Any thread may call.  A static table of buckets, chosen by a hash of the
 * word's address; a waiter lists itself in its bucket, on its own stack.
 *  - No wake is lost: the waiter reads the word under the bucket's mutex, and
 *    a waker changes the word before it takes that mutex.  Either the waiter
 *    sees the change or the waker sees the waiter.
 *  - A bucket serves many words, so a waker marks its waiters and then
 *    broadcasts; the others go back to sleep.  Broadcast, and under the mutex,
 *    because pthread_cond_signal() can lose a wake in glibc (bug 25847).
 *  - A forked child starts with an empty table: the mutexes and the waiters it
 *    would inherit belong to threads that it does not have.
 * Compiled with WSTEAL_PORT_POSIX only.  Layer: port.
 */
#if defined(__APPLE__)
#define _DARWIN_C_SOURCE 1
#else
#define _POSIX_C_SOURCE 200809L
#endif

#include "port/platform.h"

#ifdef WSTEAL_PORT_POSIX

#include <time.h>

#define BUCKET_BITS 6
#define BUCKETS (1U << BUCKET_BITS)
#define NS_PER_S UINT64_C(1000000000)
/* A day.  Longer waits end early, which is allowed, and no sum overflows. */
#define LONGEST_WAIT_NS (UINT64_C(86400) * NS_PER_S)
#define NAP_NS 1000000

typedef struct waiter {
    struct waiter *next;
    const void *address;
    bool woken; /* then also unlinked */
} waiter;

typedef struct {
    _Alignas(WSI_CACHE_LINE) pthread_mutex_t mutex;
    pthread_cond_t changed;
    waiter *first; /* the longest waiter first */
} bucket;

static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static bucket table[BUCKETS];
static bool table_usable;

/* Runs in the only thread there is, or under table_once. */
static void table_reset(void)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) {
        table_usable = false;
        return;
    }
#if !defined(__APPLE__)
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0;
#else
    bool ok = true; /* waits by relative time instead */
#endif
    for (unsigned i = 0; i < BUCKETS; i++) {
        bucket *b = &table[i];
        b->first = NULL;
        ok = ok && pthread_mutex_init(&b->mutex, NULL) == 0;
        ok = ok && pthread_cond_init(&b->changed, &attr) == 0;
    }
    (void)pthread_condattr_destroy(&attr);
    table_usable = ok;
}

static void table_start(void)
{
    table_reset();
    /* Out of memory here means only that a forked child cannot use the pool
     * machinery of its parent's library; there is no one to tell. */
    (void)pthread_atfork(NULL, NULL, table_reset);
}

static bucket *bucket_of(const void *address)
{
    /* Fibonacci hashing; the low bits of an aligned address say nothing. */
    const uint64_t h =
        ((uint64_t)(uintptr_t)address >> 2) * UINT64_C(0x9E3779B97F4A7C15);
    return &table[h >> (64 - BUCKET_BITS)];
}

static uint64_t now_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
    struct timespec t;
    t.tv_sec = (time_t)(ns / NS_PER_S);
    t.tv_nsec = (long)(ns % NS_PER_S);
    return t;
}

/* One sleep on the bucket; false = time is up (or the wait cannot be done). */
static bool bucket_sleep(bucket *b, bool timed, uint64_t deadline)
{
    if (!timed) {
        return pthread_cond_wait(&b->changed, &b->mutex) == 0;
    }
#if defined(__APPLE__)
    const uint64_t now = now_ns();
    if (now >= deadline) {
        return false;
    }
    const struct timespec rest = to_timespec(deadline - now);
    return pthread_cond_timedwait_relative_np(&b->changed, &b->mutex, &rest) ==
           0;
#else
    const struct timespec end = to_timespec(deadline);
    return pthread_cond_timedwait(&b->changed, &b->mutex, &end) == 0;
#endif
}

static void bucket_append(bucket *b, waiter *w)
{
    waiter **link = &b->first;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = w;
}

static void bucket_remove(bucket *b, const waiter *w)
{
    waiter **link = &b->first;
    while (*link != w) {
        link = &(*link)->next;
    }
    *link = w->next;
}

void wsi_futex_wait(const wsi_atomic_u32 *word, uint32_t expected,
                    uint64_t timeout_ns)
{
    if (pthread_once(&table_once, table_start) != 0 || !table_usable) {
        /* No table: naps instead of sleeps.  Slow, but nobody hangs. */
        const struct timespec nap = {0, NAP_NS};
        (void)nanosleep(&nap, NULL);
        return;
    }
    const bool timed = timeout_ns != UINT64_MAX;
    const uint64_t deadline =
        !timed ? 0
               : now_ns() + (timeout_ns < LONGEST_WAIT_NS ? timeout_ns
                                                          : LONGEST_WAIT_NS);
    bucket *b = bucket_of(word);
    waiter self = {NULL, word, false};
    if (pthread_mutex_lock(&b->mutex) != 0) {
        return;
    }
    /* relaxed: the mutex orders it with the waker, who changed the word before
     * it took the mutex in wsi_futex_wake(); what the word guards, the caller
     * acquires itself */
    if (wsi_u32_load_relaxed(word) == expected) {
        bucket_append(b, &self);
        while (!self.woken && bucket_sleep(b, timed, deadline)) {
        }
        if (!self.woken) {
            bucket_remove(b, &self);
        }
    }
    (void)pthread_mutex_unlock(&b->mutex);
}

void wsi_futex_wake(const wsi_atomic_u32 *word, uint32_t n)
{
    if (pthread_once(&table_once, table_start) != 0 || !table_usable) {
        return;
    }
    const void *address = word;
    bucket *b = bucket_of(address);
    if (pthread_mutex_lock(&b->mutex) != 0) {
        return;
    }
    uint32_t woken = 0;
    waiter **link = &b->first;
    while (*link != NULL && woken < n) {
        waiter *w = *link;
        if (w->address == address) {
            *link = w->next;
            w->woken = true;
            woken++;
        } else {
            link = &w->next;
        }
    }
    if (woken > 0) {
        (void)pthread_cond_broadcast(&b->changed);
    }
    (void)pthread_mutex_unlock(&b->mutex);
}

bool wsi_membarrier_available(void)
{
    return false;
}

bool wsi_membarrier(void)
{
    return false;
}

#endif
