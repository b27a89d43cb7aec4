/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pools.h: what the tests of pools share: counters that threads meet on, pools
 * of every kind, threads of the test's own, the sum of a pool's statistics,
 * and a look at who sleeps.
 *
 * Nothing here waits for time: test_await() and its kin spin until the event
 * itself, and a hang is the watchdog's.
 */
#ifndef WS_TESTS_SUPPORT_POOLS_H
#define WS_TESTS_SUPPORT_POOLS_H

#include "support/test.h"

#include <pthread.h>
#include <stdbool.h>

#include "core/registry.h"
#include "port/compiler.h"
#include "port/platform.h"
#include <wsteal.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_TSAN 1
#endif
#if __has_feature(address_sanitizer)
#define TEST_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TEST_TSAN 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#endif
#if defined(TEST_TSAN) || defined(TEST_ASAN)
#define TEST_SANITIZER 1
#endif

/* ---- counters and flags ---------------------------------------------- */

typedef wsi_atomic_u64 test_counter;

static inline uint64_t test_get(const test_counter *c)
{
    /* acquire: pairs with test_add() and test_set() */
    return wsi_u64_load_acquire(c);
}

/* Returns the value before. */
static inline uint64_t test_add(test_counter *c, uint64_t n)
{
    /* acq_rel: release pairs with test_get() */
    return wsi_u64_fetch_add_acq_rel(c, n);
}

static inline void test_set(test_counter *c, uint64_t value)
{
    /* release: pairs with test_get() */
    wsi_u64_store_release(c, value);
}

/* Gives way at every look: the machine may have one CPU for all of us. */
static inline void test_await(const test_counter *c, uint64_t least)
{
    while (test_get(c) < least) {
        wsi_cpu_relax();
        wsi_thread_yield();
    }
}

/* ---- threads --------------------------------------------------------- */

static inline pthread_t test_thread(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    WS_TEST_REQUIRE(pthread_create(&thread, NULL, fn, arg) == 0);
    return thread;
}

static inline void test_join_thread(pthread_t thread)
{
    WS_TEST_REQUIRE(pthread_join(thread, NULL) == 0);
}

/* ---- pools ----------------------------------------------------------- */

static inline ws_pool *test_pool_with(const ws_pool_config *config)
{
    ws_pool *pool = NULL;
    assert_int_equal(ws_pool_create(&pool, config), WS_OK);
    assert_non_null(pool);
    return pool;
}

static inline ws_pool *test_pool(unsigned workers, unsigned policy)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.wait_policy = policy;
    return test_pool_with(&config);
}

/* With one worker, and no thread that could work in its place. */
static inline ws_pool *test_pool_of_one(unsigned policy)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 1;
    config.wait_policy = policy;
    config.max_spares = WS_NO_SPARES;
    return test_pool_with(&config);
}

/* With the counters that wrap close to their end. */
static inline ws_pool *test_pool_near_wrap(unsigned workers, unsigned policy,
                                           size_t capacity)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    wsi_pool_plan plan;
    ws_pool *pool = NULL;
    config.num_threads = workers;
    config.wait_policy = policy;
    config.deque_capacity = capacity;
    assert_int_equal(wsi_pool_plan_make(&plan, &config), WS_OK);
    plan.first_index = ((uint64_t)1 << 40) - 100;
    plan.first_event = UINT32_MAX - 100;
    assert_int_equal(wsi_pool_start(&pool, &plan), WS_OK);
    return pool;
}

static inline void test_destroy(ws_pool *pool)
{
    assert_int_equal(ws_pool_destroy(pool), WS_OK);
}

/* Runs `check` with pools of 1, 2 and 4 workers and of both policies. */
static inline void test_in_each_pool(void (*check)(ws_pool *pool))
{
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool(workers, p);
            check(pool);
            test_destroy(pool);
        }
    }
}

/* Runs `check` with pools of `workers` workers and of both policies. */
static inline void test_in_pools_of(unsigned workers,
                                    void (*check)(ws_pool *pool))
{
    for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
        ws_pool *pool = test_pool(workers, p);
        check(pool);
        test_destroy(pool);
    }
}

/* ---- memory out ------------------------------------------------------ */

static test_counter test_memory_is_out;

/* For wsi_port_ops.mem_alloc. */
static inline void *test_alloc_or_not(size_t align, size_t size)
{
    return test_get(&test_memory_is_out) ? NULL
                                         : wsi_mem_alloc_real(align, size);
}

/* ---- what a pool is doing -------------------------------------------- */

static inline ws_worker_stats test_totals(const ws_pool *pool)
{
    ws_worker_stats sum = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (unsigned i = 0; i < ws_pool_worker_slots(pool); i++) {
        ws_worker_stats one;
        WS_TEST_REQUIRE(ws_pool_worker_stats(pool, i, &one) == WS_OK);
        sum.jobs += one.jobs;
        sum.steals += one.steals;
        sum.injected += one.injected;
        sum.forced += one.forced;
        sum.sleeps += one.sleeps;
        sum.wakes += one.wakes;
        sum.errors += one.errors;
        sum.lent += one.lent;
        if (one.max_depth > sum.max_depth) {
            sum.max_depth = one.max_depth;
        }
    }
    return sum;
}

/* Whether worker `index` has taken its last look and blocks or is about to:
 * the states SLEEPING and ON_LATCH of sleep.c. */
static inline bool test_sleeps(const ws_pool *pool, unsigned index)
{
    /* acquire: pairs with the sleeper's CAS or store of its state */
    return wsi_u32_load_acquire(&pool->parkers[index].state) >= 2;
}

static inline void test_await_sleep_of(const ws_pool *pool, unsigned index)
{
    while (!test_sleeps(pool, index)) {
        wsi_cpu_relax();
        wsi_thread_yield();
    }
}

static inline void test_await_sleep(const ws_pool *pool)
{
    for (unsigned i = 0; i < pool->n_workers; i++) {
        test_await_sleep_of(pool, i);
    }
}

/* Overwrites the stack below the caller, where a frame has just ended. */
__attribute__((noinline, unused)) static void test_reuse_stack(void)
{
    volatile unsigned char bytes[2048];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 0xA5;
    }
}

#endif
