/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loops.h: what the tests of loops share: places to call them from, a way to
 * make them give work away, and an operation whose order matters.
 */
#ifndef WS_TESTS_SUPPORT_LOOPS_H
#define WS_TESTS_SUPPORT_LOOPS_H

#include "support/pools.h"

#define TEST_COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- where ----------------------------------------------------------- */

/* Calls fn(arg) in a worker of pools of 1, 2, 4 and 7, of both policies. */
static inline void test_in_workers(ws_fn fn, void *arg)
{
    static const unsigned workers[] = {1, 2, 4, 7};
    for (size_t i = 0; i < TEST_COUNT(workers); i++) {
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            ws_pool *pool = test_pool(workers[i], p);
            assert_int_equal(ws_pool_install(pool, fn, arg), 0);
            test_destroy(pool);
        }
    }
}

/* Calls fn(arg) in this thread, with a global pool of 1 and of 3 workers. */
static inline void test_outside(ws_fn fn, void *arg)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    for (config.num_threads = 1; config.num_threads <= 3;
         config.num_threads += 2) {
        assert_int_equal(ws_pool_global_init(&config), WS_OK);
        assert_int_equal(fn(arg), 0);
        assert_int_equal(ws_pool_global_destroy(), WS_OK);
    }
}

static inline void test_everywhere(ws_fn fn, void *arg)
{
    test_in_workers(fn, arg);
    test_outside(fn, arg);
}

/* ---- company --------------------------------------------------------- */

typedef struct {
    test_counter first;  /* 1 + the worker that called first */
    test_counter others; /* calls of other workers */
} test_company;

static inline void test_company_init(test_company *c)
{
    test_set(&c->first, 0);
    test_set(&c->others, 0);
}

static inline void test_spin(uint64_t ns)
{
    uint64_t end = wsi_clock_ns() + ns;
    while (wsi_clock_ns() < end) {
        wsi_cpu_relax();
    }
}

/* A callback that calls this makes the loop give work away: the worker that
 * came first goes on only when another one has come, or when another one wants
 * work that the first has not put up yet.  In a pool with idle workers. */
static inline void test_await_company(test_company *c)
{
    uint64_t me = (uint64_t)(ws_current_index() + 1);
    uint64_t first = 0;
    if (test_get(&c->others) > 0 || ws_current_num_workers() == 1) {
        return;
    }
    /* A loop that takes no time is not shared. */
    test_spin(15000);
    if (me == 0) {
        return;
    }
    /* acq_rel: nothing but the value counts */
    if (!wsi_u64_cas_acq_rel(&c->first, &first, me) && first != me) {
        test_add(&c->others, 1);
        return;
    }
    while (test_get(&c->others) == 0 &&
           (ws_has_pending() == 1 || ws_hungry() == 0)) {
        wsi_cpu_relax();
        wsi_thread_yield();
    }
}

/* ---- everybody ------------------------------------------------------- */

/* One callback in each worker of a pool: the first one acts, the others wait
 * until the loop knows of it. */
typedef struct {
    ws_pool *pool;
    test_counter begun;
    test_counter actor;   /* 1 + the worker */
    test_counter release; /* of the others */
} test_crowd;

/* Whether the caller is to act: all workers are in a callback then. */
static inline bool test_crowd_come(test_crowd *c)
{
    uint64_t n = ws_pool_num_workers(c->pool);
    uint64_t me = (uint64_t)ws_current_index() + 1;
    bool acts = test_add(&c->begun, 1) == 0;
    if (acts) {
        test_await(&c->begun, n);
        test_set(&c->actor, me);
    } else if (test_get(&c->actor) != me) {
        test_await(&c->release, 1);
    }
    return acts;
}

/* The loop has seen what the actor did when the actor finds nothing to do. */
static inline void *test_crowd_watch(void *arg)
{
    test_crowd *c = arg;
    test_await(&c->actor, 1);
    test_await_sleep_of(c->pool, (unsigned)test_get(&c->actor) - 1);
    test_set(&c->release, 1);
    return NULL;
}

/* Runs `check` with pools of 1, 2, 4 and 7, of both policies; none has spare
 * threads, as one that has not gone yet would be one too many. */
static inline void test_in_crowds(void (*check)(ws_pool *pool))
{
    static const unsigned workers[] = {1, 2, 4, 7};
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.max_spares = WS_NO_SPARES;
    for (size_t i = 0; i < TEST_COUNT(workers); i++) {
        config.num_threads = workers[i];
        for (unsigned p = WS_WAIT_ANY; p <= WS_WAIT_SUBTREE; p++) {
            config.wait_policy = p;
            ws_pool *pool = test_pool_with(&config);
            check(pool);
            test_destroy(pool);
        }
    }
}

/* Runs fn(arg) in the pool; its callbacks call test_crowd_come(). */
static inline int test_crowd_run(test_crowd *c, ws_pool *pool, ws_fn fn,
                                 void *arg)
{
    c->pool = pool;
    test_set(&c->begun, 0);
    test_set(&c->actor, 0);
    test_set(&c->release, 0);
    pthread_t watcher = test_thread(test_crowd_watch, c);
    int code = ws_pool_install(pool, fn, arg);
    test_join_thread(watcher);
    return code;
}

/* ---- an operation that is associative only --------------------------- */

/* x -> a x + b, modulo 2^64. */
typedef struct {
    uint64_t a;
    uint64_t b;
} test_affine;

static const test_affine test_affine_none = {1, 0};

static inline uint64_t test_hash(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
    return x ^ x >> 29;
}

/* That of index i. */
static inline test_affine test_affine_of(size_t i)
{
    test_affine f = {test_hash(i) | 1, test_hash((uint64_t)i + 77)};
    return f;
}

/* *f and then g. */
static inline void test_affine_then(test_affine *f, test_affine g)
{
    f->a = g.a * f->a;
    f->b = g.a * f->b + g.b;
}

static inline test_affine test_affine_range(size_t begin, size_t end)
{
    test_affine f = test_affine_none;
    for (size_t i = begin; i < end; i++) {
        test_affine_then(&f, test_affine_of(i));
    }
    return f;
}

static inline bool test_affine_equal(test_affine f, test_affine g)
{
    return f.a == g.a && f.b == g.b;
}

#endif
