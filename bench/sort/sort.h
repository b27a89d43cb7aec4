/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sort.h: what the programs of this folder share: options, inputs, output.
 *
 * Each program is called as PROGRAM KIND N WORKERS SAMPLES [HOW], sorts the
 * same numbers SAMPLES times, checks the result and prints a line with the
 * milliseconds of each.  compare.sh runs them in turns.
 */
#ifndef WS_BENCH_SORT_SORT_H
#define WS_BENCH_SORT_SORT_H

#include <stdint.h>
#include <string.h>

#include "../bench.h"

struct sort_options {
    const char *kind;
    size_t n;
    unsigned workers;
    int samples;
    const char *how;
};

static inline struct sort_options sort_options_read(int argc, char **argv,
                                                    const char *how)
{
    struct sort_options o = {"random", 10000000, 2, 7, how};
    if (argc > 1) {
        o.kind = argv[1];
    }
    if (argc > 2) {
        o.n = (size_t)strtod(argv[2], NULL);
    }
    if (argc > 3) {
        o.workers = (unsigned)atoi(argv[3]);
    }
    if (argc > 4) {
        o.samples = atoi(argv[4]);
    }
    if (argc > 5) {
        o.how = argv[5];
    }
    return o;
}

/* splitmix64 */
static inline uint64_t sort_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static inline void sort_fill(const char *kind, uint64_t *a, size_t n)
{
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(kind, "random")) {
            a[i] = sort_random(&state);
        } else if (!strcmp(kind, "sorted")) {
            a[i] = i;
        } else if (!strcmp(kind, "reversed")) {
            a[i] = n - i;
        } else if (!strcmp(kind, "equal")) {
            a[i] = 7;
        } else if (!strcmp(kind, "few")) {
            a[i] = sort_random(&state) % 16;
        } else if (!strcmp(kind, "organ")) {
            a[i] = i < n - i ? i : n - i;
        } else if (!strcmp(kind, "mostly")) {
            a[i] = sort_random(&state) % 100 == 0 ? sort_random(&state) % n : i;
        } else {
            fprintf(stderr, "unknown kind: %s\n", kind);
            exit(2);
        }
    }
}

static inline void sort_sample(double seconds, const uint64_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (a[i - 1] > a[i]) {
            fprintf(stderr, "not sorted\n");
            exit(1);
        }
    }
    printf("%.3f\n", seconds * 1e3);
}

#endif
