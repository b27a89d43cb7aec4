/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_sleep_edge.c: work that comes at any moment between a worker's search
 * and its sleep, with the event counter near its wrap.
 *
 * A monitor of its own reports a lost wake-up: for ten seconds in a row there
 * was work, every worker that could take it slept, and nothing happened.  A
 * busy machine cannot bring that about.  Pauses spin on the clock: they are
 * the input of the test, not its synchronisation.
 */
/* ctest: processors 2 */
/* ctest: timeout 900 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <time.h>

enum {
    WATCHDOG_S = 800,
    STUCK_S = 10,
    PAUSE_NS = 100 * 1000 /* twice the search */
};

/* ---- the monitor ----------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    unsigned sleeper; /* the only one that could come; or n: all of them */
    test_counter rounds;
    test_counter over;
    pthread_t thread;
} monitor;

static bool is_stuck(const monitor *m)
{
    const ws_pool *pool = m->pool;
    bool work = wsi_injector_len(&pool->injector) > 0;
    for (unsigned i = 0; i < pool->n_workers; i++) {
        work |= wsi_deque_has_work(&pool->workers[i].deque);
        if ((m->sleeper == pool->n_workers || m->sleeper == i) &&
            !test_sleeps(pool, i)) {
            return false;
        }
    }
    return work;
}

static void dump(const ws_pool *pool)
{
    /* relaxed: for the reader only */
    fprintf(stderr, "sleep word %llx\n",
            (unsigned long long)wsi_u64_load_relaxed(&pool->sleep.word));
    for (unsigned i = 0; i < pool->n_workers; i++) {
        ws_worker_stats s;
        ws_pool_worker_stats(pool, i, &s);
        fprintf(stderr, "worker %u: %llu jobs, %llu sleeps, %llu wakes\n", i,
                (unsigned long long)s.jobs, (unsigned long long)s.sleeps,
                (unsigned long long)s.wakes);
    }
}

static void *watch(void *arg)
{
    monitor *m = arg;
    uint64_t seen = 0;
    for (unsigned still = 0; test_get(&m->over) == 0;) {
        const struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        uint64_t rounds = test_get(&m->rounds);
        still = is_stuck(m) && rounds == seen ? still + 1 : 0;
        seen = rounds;
        if (still >= STUCK_S) {
            fprintf(stderr, "lost wake-up in round %llu\n",
                    (unsigned long long)rounds);
            dump(m->pool);
            ws_test_fail(__FILE__, __LINE__, "a worker sleeps over work");
        }
    }
    return NULL;
}

static void begin(monitor *m, ws_pool *pool, unsigned sleeper)
{
    *m = (monitor){.pool = pool, .sleeper = sleeper};
    m->thread = test_thread(watch, m);
}

static void end(monitor *m)
{
    test_set(&m->over, 1);
    test_join_thread(m->thread);
}

/* A pause of random length, most often around the end of the search. */
static void pause_somewhere(uint64_t *random)
{
    uint64_t end = wsi_clock_ns() + ws_test_random(random) % PAUSE_NS;
    while (wsi_clock_ns() < end) {
        wsi_cpu_relax();
    }
}

/* ---- from outside ---------------------------------------------------- */

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

static void submit_and_wait(unsigned workers)
{
    ws_test_watchdog(WATCHDOG_S);
    const size_t rounds = ws_test_scale(100000);
    uint64_t random = 1 + workers;
    monitor m;
    test_counter sum = {0};
    ws_pool *pool = test_pool_near_wrap(workers, WS_WAIT_ANY, 0);
    begin(&m, pool, workers);
    for (size_t i = 0; i < rounds; i++) {
        pause_somewhere(&random);
        assert_int_equal(ws_pool_install(pool, add_one, &sum), 0);
        test_add(&m.rounds, 1);
    }
    end(&m);
    assert_int_equal(test_get(&sum), rounds);
    ws_worker_stats total = test_totals(pool);
    assert_int_equal(total.jobs, rounds);
    assert_int_equal(total.injected, rounds);
    /* Each job wakes at most one sleeper. */
    assert_true(total.sleeps <= rounds);
    test_destroy(pool);
}

static void submit_and_wait_with_one_worker(void **state)
{
    (void)state;
    submit_and_wait(1);
}

static void submit_and_wait_with_two_workers(void **state)
{
    (void)state;
    submit_and_wait(2);
}

/* Bursts: several jobs at once, and each must find somebody. */
static void submit_bursts(void **state)
{
    (void)state;
    ws_test_watchdog(WATCHDOG_S);
    const size_t rounds = ws_test_scale(20000);
    uint64_t random = 5;
    monitor m;
    test_counter sum = {0};
    uint64_t expected = 0;
    ws_pool *pool = test_pool_near_wrap(4, WS_WAIT_ANY, 0);
    begin(&m, pool, 4);
    for (size_t i = 0; i < rounds; i++) {
        unsigned n = 1 + (unsigned)(ws_test_random(&random) >> 32) % 4;
        pause_somewhere(&random);
        for (unsigned k = 0; k < n; k++) {
            assert_int_equal(ws_spawn(pool, add_one, &sum), WS_OK);
        }
        expected += n;
        test_await(&sum, expected);
        test_add(&m.rounds, 1);
    }
    end(&m);
    assert_int_equal(test_totals(pool).jobs, expected);
    test_destroy(pool);
}

/* ---- from a worker --------------------------------------------------- */

typedef struct {
    monitor *m;
    uint64_t random;
    size_t rounds;
    test_counter here;
} pushing;

static int meet(void *arg)
{
    pushing *p = arg;
    uint64_t mine = test_add(&p->here, 1);
    test_await(&p->here, (mine | 1) + 1);
    return 0;
}

/* Two halves that wait for each other: the other worker has to come. */
static int join_and_pause(void *arg)
{
    pushing *p = arg;
    p->m->sleeper = 1 - (unsigned)ws_current_index();
    begin(p->m, p->m->pool, p->m->sleeper);
    for (size_t i = 0; i < p->rounds; i++) {
        pause_somewhere(&p->random);
        ws_join(meet, p, meet, p);
        test_add(&p->m->rounds, 1);
    }
    end(p->m);
    return 0;
}

static void push_and_wait(unsigned policy)
{
    ws_test_watchdog(WATCHDOG_S);
    monitor m;
    ws_pool *pool = test_pool_near_wrap(2, policy, 0);
    m.pool = pool;
    pushing p = {&m, 3, ws_test_scale(50000), {0}};
    assert_int_equal(ws_pool_install(pool, join_and_pause, &p), 0);
    assert_int_equal(test_get(&p.here), 2 * p.rounds);
    test_destroy(pool);
}

static void push_and_wait_any(void **state)
{
    (void)state;
    push_and_wait(WS_WAIT_ANY);
}

static void push_and_wait_subtree(void **state)
{
    (void)state;
    push_and_wait(WS_WAIT_SUBTREE);
}

/* A long leaf that pushed before the other worker fell asleep. */
static int hide_and_hold(void *arg)
{
    pushing *p = arg;
    for (size_t i = 0; i < p->rounds; i++) {
        test_await_sleep_of(p->m->pool, 1 - (unsigned)ws_current_index());
        ws_join(meet, p, meet, p);
    }
    return 0;
}

static void check_sleeping_thief(ws_pool *pool)
{
    monitor m = {.pool = pool};
    pushing p = {&m, 3, ws_test_scale(2000), {0}};
    assert_int_equal(ws_pool_install(pool, hide_and_hold, &p), 0);
    assert_int_equal(test_get(&p.here), 2 * p.rounds);
}

static void push_wakes_a_worker_that_sleeps(void **state)
{
    (void)state;
    test_in_pools_of(2, check_sleeping_thief);
}

/* ---- no heavy fence any more ----------------------------------------- */

static test_counter refused;

static bool membarrier_unless_refused(void)
{
    return test_get(&refused) == 0 && wsi_membarrier();
}

static int fork_down(void *arg)
{
    uintptr_t depth = (uintptr_t)arg;
    void *next = (void *)(depth - 1);
    return depth == 0 ? 0 : ws_join(fork_down, next, fork_down, next);
}

static int add_in_scope(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return add_one(arg);
}

static int spawn_hundred(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < 100; i++) {
        ws_scope_spawn(scope, add_in_scope, arg);
    }
    return 0;
}

static int open_hundred(void *arg)
{
    return fork_down((void *)8) + ws_scope(spawn_hundred, arg);
}

static void check_refused(ws_pool *pool)
{
    test_counter sum = {0};
    for (uint64_t i = 1; i <= ws_test_scale(200); i++) {
        /* Comes and goes, and the pool may sleep either way. */
        test_set(&refused, i % 3 != 0);
        assert_int_equal(ws_pool_install(pool, open_hundred, &sum), 0);
        assert_int_equal(test_get(&sum), 101 * i - 1);
        assert_int_equal(ws_spawn(pool, add_one, &sum), WS_OK);
        test_await(&sum, 101 * i);
    }
    test_set(&refused, 1);
}

static void everything_completes_without_membarrier(void **state)
{
    (void)state;
    wsi_port_ops.membarrier = membarrier_unless_refused;
    test_in_each_pool(check_refused);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(submit_and_wait_with_one_worker),
    cmocka_unit_test(submit_and_wait_with_two_workers),
    cmocka_unit_test(submit_bursts),
    cmocka_unit_test(push_and_wait_any),
    cmocka_unit_test(push_and_wait_subtree),
    cmocka_unit_test(push_wakes_a_worker_that_sleeps),
    cmocka_unit_test(everything_completes_without_membarrier),
};
WS_TEST_MAIN(tests)
