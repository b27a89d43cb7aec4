/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * runner.c: contract in runner.h.
 */
#define _GNU_SOURCE

#include "runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bench_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

void bench_value(const char *name, double value)
{
    printf("value %s %.9g\n", name, value);
}

void bench_series(const char *name, const double *values, size_t n)
{
    printf("series %s", name);
    for (size_t i = 0; i < n; i++) {
        printf(" %.9g", values[i]);
    }
    printf("\n");
}

/* ---- allocations ----------------------------------------------------- */

/* From count_malloc.c, if that is preloaded. */
extern uint64_t bench_allocations(void) __attribute__((weak));

static uint64_t allocations_now(void)
{
    return bench_allocations != NULL ? bench_allocations() : 0;
}

/* ---- one sample ------------------------------------------------------ */

static uint64_t allocated; /* in the last sample */

static void run_sample(const bench_program *program)
{
    if (program->prepare != NULL) {
        program->prepare();
    }
    uint64_t before = allocations_now();
    uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t wall = bench_now_ns();
    program->sample();
    wall = bench_now_ns() - wall;
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    allocated = allocations_now() - before;
    uint64_t check = program->check();
    printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", wall,
           cpu, program->units(), check);
    fflush(stdout);
}

static void serve(const bench_program *program)
{
    char line[16];
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL &&
           strcmp(line, "go\n") == 0) {
        run_sample(program);
    }
}

/* Not getrusage(): its figure includes the process that started this one. */
static long peak_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && kib == 0 &&
           fgets(line, sizeof(line), status) != NULL) {
        (void)sscanf(line, "VmHWM: %ld", &kib);
    }
    if (status != NULL) {
        fclose(status);
    }
    return kib;
}

static void report_end(void)
{
    printf("end %ld %" PRId64 "\n", peak_kib(),
           bench_allocations != NULL ? (int64_t)allocated : -1);
}

/* ---- main ------------------------------------------------------------ */

static int parse(bench_args *args, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) {
            return -1;
        } else if (strcmp(argv[i], "--workers") == 0) {
            args->workers = (unsigned)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--size") == 0) {
            args->size = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--point") == 0) {
            args->point = argv[i + 1];
        } else {
            return -1;
        }
    }
    return args->workers >= 1 && args->size >= 1 ? 0 : -1;
}

int bench_main(int argc, char **argv, const bench_program *program)
{
    static bench_args args = {1, 0, ""};
    if (parse(&args, argc, argv) != 0) {
        fprintf(stderr, "usage: %s --size N [--workers N] [--point NAME]\n",
                argv[0]);
        return 2;
    }
    if (program->setup(&args) != 0) {
        fprintf(stderr, "%s: cannot set up\n", argv[0]);
        return 1;
    }
    serve(program);
    if (program->teardown != NULL) {
        program->teardown();
    }
    report_end();
    return 0;
}
