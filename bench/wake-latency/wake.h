/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wake.h: rounds with a rest before each, in which the pool falls asleep.
 */
#ifndef BENCH_WAKE_LATENCY_WAKE_H
#define BENCH_WAKE_LATENCY_WAKE_H

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../support/runner.h"

#define WAKE_REST_NS 1000000
/* Point leaf: for how long the worker forks before its long leaf. */
#define WAKE_BUSY_NS 100000
/* A leaf whose sibling nobody has begun by then ends. */
#define WAKE_LEAF_NS 100000000

static uint64_t wake_rounds;
static int wake_is_leaf;
static double *wake_us;
static uint64_t wake_jobs;

/* Point leaf needs a second worker; 0 or an error. */
static inline int wake_setup(bench_args *args)
{
    wake_rounds = args->size;
    wake_is_leaf = strcmp(args->point, "leaf") == 0;
    if (wake_is_leaf && args->workers < 2) {
        args->workers = 2;
    }
    wake_us = (double *)malloc(wake_rounds * sizeof(*wake_us));
    return wake_us == NULL ||
           (!wake_is_leaf && strcmp(args->point, "submit") != 0);
}

/* The empty job. */
static inline void wake_job(void)
{
    wake_jobs++;
}

static inline void wake_measure(uint64_t (*submit_ns)(void),
                                uint64_t (*leaf_ns)(void))
{
    const struct timespec rest = {0, WAKE_REST_NS};
    wake_jobs = 0;
    for (uint64_t i = 0; i < wake_rounds; i++) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
        uint64_t ns = wake_is_leaf ? leaf_ns() : submit_ns();
        wake_us[i] = (double)ns / 1000;
    }
}

/* ---- a job that waits in a busy worker's deque ------------------------- */

static uint64_t wake_leaf_at;
static uint64_t wake_begun_at;
static uint32_t wake_begun;

/* The forked job. */
static inline void wake_note(void)
{
    wake_begun_at = bench_now_ns();
    __atomic_store_n(&wake_begun, 1, __ATOMIC_RELEASE);
    wake_job();
}

/* What the worker does meanwhile. */
static inline void wake_leaf(void)
{
    wake_leaf_at = bench_now_ns();
    while (__atomic_load_n(&wake_begun, __ATOMIC_ACQUIRE) == 0 &&
           bench_now_ns() - wake_leaf_at < WAKE_LEAF_NS) {
    }
}

/* Before the fork. */
static inline void wake_leaf_prepare(void)
{
    __atomic_store_n(&wake_begun, 0, __ATOMIC_RELAXED);
}

/* After the join. */
static inline uint64_t wake_leaf_ns(void)
{
    return wake_begun_at > wake_leaf_at ? wake_begun_at - wake_leaf_at : 0;
}

/* ---- two threads and a word -------------------------------------------- */

static inline void wake_until(uint32_t *word, uint32_t value)
{
    uint32_t seen;
    while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value) {
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

static inline void wake_set(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- results ----------------------------------------------------------- */

static int wake_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void wake_value(const char *name, double rank)
{
    bench_value(name, wake_us[(uint64_t)((double)wake_rounds * rank)]);
}

static uint64_t wake_check(void)
{
    qsort(wake_us, wake_rounds, sizeof(*wake_us), wake_compare);
    wake_value("p50_us", 0.5);
    wake_value("p99_us", 0.99);
    wake_value("p999_us", 0.999);
    bench_series("latency_us", wake_us, wake_rounds);
    return wake_jobs;
}

static uint64_t wake_units(void)
{
    return wake_rounds;
}

#endif
