/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench.h: what the benchmark programs share: a clock, samples, medians.
 *
 * Each program prints what it measured beside a baseline of the same run,
 * interleaved sample by sample; bench/README.md says how to read it.
 */
#ifndef WS_BENCH_BENCH_H
#define WS_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_SAMPLES_MAX 100000

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Processor time of the whole process, in seconds. */
static inline double bench_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the samples and prints minimum, median and 90th percentile. */
static inline double bench_report(const char *name, const char *unit,
                                  double scale, double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof(*samples), bench_compare);
    printf("%-36s min %9.2f  median %9.2f  p90 %9.2f %s\n", name,
           samples[0] * scale, samples[n / 2] * scale,
           samples[n * 9 / 10] * scale, unit);
    return samples[n / 2];
}

/* The number after argv[0], or `otherwise`. */
static inline int bench_argument(int argc, char **argv, int otherwise)
{
    int n = argc > 1 ? atoi(argv[1]) : otherwise;
    return n > 0 && n <= BENCH_SAMPLES_MAX ? n : otherwise;
}

#endif
