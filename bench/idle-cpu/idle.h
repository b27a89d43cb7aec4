/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * idle.h: what is billed.
 *
 * An implementation gives two functions: one that runs a tree of idle_leaf(),
 * 2^IDLE_DEPTH of them, and one that runs a job in the pool and waits for it.
 */
#ifndef BENCH_IDLE_CPU_IDLE_H
#define BENCH_IDLE_CPU_IDLE_H

#include <string.h>
#include <time.h>

#include "../support/runner.h"

#define IDLE_DEPTH 11
/* Longer than the 200 ms for which libomp waits awake. */
#define IDLE_SETTLE_MS 220
#define IDLE_TICK_MS 10

typedef enum {
    IDLE,
    AFTER_BURST,
    SLEEPING_JOB,
    TICKS,
    IDLE_POINTS
} idle_point;

typedef struct {
    uint64_t (*burst)(void);
    void (*run)(void (*job)(void));
} idle_pool;

static const idle_pool *idle_of;
static uint64_t idle_ms;
static idle_point idle_at;
static uint64_t idle_cpu_ns;
static uint64_t idle_jobs;

static void idle_rest(uint64_t ms)
{
    struct timespec t;
    t.tv_sec = (time_t)(ms / 1000);
    t.tv_nsec = (long)(ms % 1000 * 1000000);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static uint64_t idle_cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Some microseconds of work; 1. */
static inline uint64_t idle_leaf(void)
{
    uint64_t state = 0;
    uint64_t any = 0;
    for (int i = 0; i < 2000; i++) {
        any |= bench_random(&state);
    }
    return any != 0;
}

static int idle_setup(const bench_args *args, const idle_pool *pool)
{
    static const char *const names[IDLE_POINTS] = {
        "idle",
        "after_burst",
        "sleeping_job",
        "ticks",
    };
    int at = 0;
    while (at < IDLE_POINTS && strcmp(names[at], args->point) != 0) {
        at++;
    }
    idle_at = (idle_point)at;
    idle_ms = args->size;
    idle_of = pool;
    /* All threads are there from now on. */
    pool->burst();
    if (idle_at == IDLE) {
        idle_rest(IDLE_SETTLE_MS);
    }
    return idle_at == IDLE_POINTS;
}

static void idle_sleeping_job(void)
{
    idle_jobs++;
    idle_rest(idle_ms);
}

static void idle_tick(void)
{
    idle_jobs++;
}

static void idle_prepare(void)
{
    idle_jobs = 0;
    if (idle_at == SLEEPING_JOB) {
        idle_rest(IDLE_SETTLE_MS);
    } else if (idle_at == AFTER_BURST) {
        idle_jobs = idle_of->burst();
    }
}

static void idle_sample(void)
{
    uint64_t cpu = idle_cpu_now();
    if (idle_at == SLEEPING_JOB) {
        idle_of->run(idle_sleeping_job);
    } else if (idle_at == TICKS) {
        for (uint64_t ms = 0; ms < idle_ms; ms += IDLE_TICK_MS) {
            idle_of->run(idle_tick);
            idle_rest(IDLE_TICK_MS);
        }
    } else {
        idle_rest(idle_ms);
    }
    idle_cpu_ns = idle_cpu_now() - cpu;
}

static uint64_t idle_check(void)
{
    double cpu_us = (double)idle_cpu_ns / 1000;
    bench_value("cpu_us", cpu_us);
    bench_value("cpu_us_per_s", cpu_us * 1000 / (double)idle_ms);
    return idle_jobs;
}

static uint64_t idle_units(void)
{
    return idle_ms;
}

#endif
