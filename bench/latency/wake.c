/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wake.c: from an idle pool to a running job and back.
 *
 *  1. a foreign thread installs an empty job in a pool that sleeps, beside a
 *     bare futex ping-pong between two threads that both sleep;
 *  2. private work of a worker in a long leaf: how long until an idle worker
 *     has begun it;
 *  3. processor time of an idle pool over five seconds.
 *
 * Usage: bench_latency_wake [SAMPLES]      (default 300)
 */
#define _GNU_SOURCE

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <wsteal.h>

#include "../bench.h"

static void pause_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

/* ---- 1. round trips ---------------------------------------------------- */

static _Atomic uint32_t ping;
static _Atomic uint32_t pong;

static void futex_until(_Atomic uint32_t *word, uint32_t value)
{
    uint32_t seen;
    while ((seen = atomic_load(word)) != value) {
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

static void futex_set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *partner(void *arg)
{
    uint32_t rounds = *(const uint32_t *)arg;
    for (uint32_t i = 1; i <= rounds; i++) {
        futex_until(&ping, i);
        futex_set(&pong, i);
    }
    return NULL;
}

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int round_trips(ws_pool *pool, const char *name, int samples,
                       long rest_ms)
{
    static double bare[BENCH_SAMPLES_MAX];
    static double install[BENCH_SAMPLES_MAX];
    pthread_t thread;
    uint32_t rounds = (uint32_t)samples;
    atomic_store(&ping, 0);
    atomic_store(&pong, 0);
    if (pthread_create(&thread, NULL, partner, &rounds) != 0) {
        return 1;
    }
    for (int i = 0; i < samples; i++) {
        pause_ms(rest_ms);
        double begin = bench_now();
        futex_set(&ping, (uint32_t)i + 1);
        futex_until(&pong, (uint32_t)i + 1);
        bare[i] = bench_now() - begin;
        pause_ms(rest_ms);
        begin = bench_now();
        ws_pool_install(pool, nothing, NULL);
        install[i] = bench_now() - begin;
    }
    pthread_join(thread, NULL);
    printf("%s\n", name);
    double a = bench_report("  bare futex ping-pong", "us", 1e6, bare, samples);
    double b = bench_report("  ws_pool_install", "us", 1e6, install, samples);
    printf("  ratio of the medians               %.2f\n", b / a);
    return 0;
}

/* ---- 2. private work in a long leaf ------------------------------------ */

static double begun;
static double pushed;
static atomic_int started;

static int note_begin(void *arg)
{
    (void)arg;
    begun = bench_now();
    atomic_store(&started, 1);
    return 0;
}

static int first_half(void *arg)
{
    (void)arg;
    return 0;
}

/* A leaf that never calls the library until its sibling has begun. */
static int long_leaf(void *arg)
{
    (void)arg;
    pushed = bench_now();
    while (atomic_load(&started) == 0) {
    }
    return 0;
}

static int busy_then_leaf(void *arg)
{
    /* The second join's job is private: the poison was answered by the first
     * ones, and the idle worker is searching or asleep. */
    double until = bench_now() + *(const double *)arg;
    while (bench_now() < until) {
        ws_join(first_half, NULL, first_half, NULL);
    }
    atomic_store(&started, 0);
    return ws_join(long_leaf, NULL, note_begin, NULL);
}

static void private_work(ws_pool *pool, int samples, double busy)
{
    static double delay[BENCH_SAMPLES_MAX];
    for (int i = 0; i < samples; i++) {
        ws_pool_install(pool, busy_then_leaf, &busy);
        delay[i] = begun - pushed;
        pause_ms(1);
    }
    bench_report("private job in a long leaf, begun", "us", 1e6, delay,
                 samples);
}

int main(int argc, char **argv)
{
    int samples = bench_argument(argc, argv, 300);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    for (unsigned n = 1; n <= 2; n++) {
        ws_pool *pool;
        char name[64];
        config.num_threads = n;
        if (ws_pool_create(&pool, &config) != WS_OK) {
            return 1;
        }
        snprintf(name, sizeof(name), "sleeping pool of %u", n);
        if (round_trips(pool, name, samples, 5) != 0) {
            return 1;
        }
        if (n == 2) {
            private_work(pool, samples, 20e-6);
            private_work(pool, samples, 500e-6);
            pause_ms(10);
            double cpu = bench_cpu();
            double begin = bench_now();
            while (bench_now() < begin + 5) {
                pause_ms(500);
            }
            printf(
                "idle for 5 s: %.3f ms of processor time, %.4f %% of a core\n",
                (bench_cpu() - cpu) * 1e3, (bench_cpu() - cpu) * 20);
        }
        ws_pool_destroy(pool);
    }
    return 0;
}
