/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * runner.h: one implementation of one workload as a program.
 *
 * ws-bench starts one process for each implementation, worker count and point,
 * asks each in turn for one sample, and stops it (SIGSTOP) while others run.
 * The program speaks lines:
 *
 *     bench_fib_wsteal --workers 2 --size 32 [--point NAME]
 *     > ready                                when set up
 *     < go
 *     > value NAME NUMBER                    any number of these,
 *     > series NAME NUMBER NUMBER ...        and of these, then
 *     > sample WALL_NS CPU_NS UNITS CHECK    what one sample took
 *     < end                                  (or the end of the input)
 *     > end PEAK_KIB ALLOCATIONS             and it exits with 0
 *
 * PEAK_KIB: the largest resident size of the process.  ALLOCATIONS: calls of
 * malloc and its like within the last sample, or -1 where nobody counts them;
 * they are counted if count_malloc.c is preloaded.
 */
#ifndef BENCH_SUPPORT_RUNNER_H
#define BENCH_SUPPORT_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    unsigned workers; /* at least 1 */
    uint64_t size;
    const char *point; /* one of workload.ini, or "" */
} bench_args;

typedef struct {
    /* Makes pools and inputs; *args outlives the program.  Not 0: failed. */
    int (*setup)(const bench_args *args);
    /* Before each sample, not timed; may be NULL. */
    void (*prepare)(void);
    /* What is timed. */
    void (*sample)(void);
    /* Of the last sample, not timed: a number that is the same for all
     * implementations, sizes being equal. */
    uint64_t (*check)(void);
    /* Units of work in the last sample: the time is quoted per unit. */
    uint64_t (*units)(void);
    /* May be NULL. */
    void (*teardown)(void);
} bench_program;

/* The whole of main(). */
int bench_main(int argc, char **argv, const bench_program *program);

/* Further figures of the last sample; to be called by check(). */
void bench_value(const char *name, double value);
void bench_series(const char *name, const double *values, size_t n);

/* Nanoseconds of the monotonic clock. */
uint64_t bench_now_ns(void);

/* A stream of random numbers (splitmix64), the same in every language. */
static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#ifdef __cplusplus
}
#endif

#endif
