/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * nbody.h: a step computes the next places of all bodies from the places of
 * now, so that the bodies of a step can come in any order.
 */
#ifndef BENCH_NBODY_NBODY_H
#define BENCH_NBODY_NBODY_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../support/runner.h"

enum {
    NBODY_STEPS = 4
};

typedef struct {
    double at[3];
    double mass;
} nbody_body;

typedef struct {
    double speed[3];
} nbody_motion;

static nbody_body *nbody_start;
static nbody_body *nbody_now;
static nbody_body *nbody_next;
static nbody_motion *nbody_motions;
static size_t nbody_n;

static inline double nbody_fraction(uint64_t *state)
{
    return (double)(bench_random(state) >> 11) / 9007199254740992.0;
}

static inline int nbody_setup(const bench_args *args)
{
    uint64_t state = 1;
    nbody_n = args->size;
    nbody_start = (nbody_body *)malloc(nbody_n * sizeof(nbody_body));
    nbody_now = (nbody_body *)malloc(nbody_n * sizeof(nbody_body));
    nbody_next = (nbody_body *)malloc(nbody_n * sizeof(nbody_body));
    nbody_motions = (nbody_motion *)malloc(nbody_n * sizeof(nbody_motion));
    if (nbody_start == NULL || nbody_now == NULL || nbody_next == NULL ||
        nbody_motions == NULL) {
        return -1;
    }
    for (size_t i = 0; i < nbody_n; i++) {
        for (unsigned d = 0; d < 3; d++) {
            nbody_start[i].at[d] = nbody_fraction(&state);
        }
        nbody_start[i].mass = 1.0 / (double)nbody_n;
    }
    return 0;
}

static inline void nbody_prepare(void)
{
    memcpy(nbody_now, nbody_start, nbody_n * sizeof(nbody_body));
    memset(nbody_motions, 0, nbody_n * sizeof(nbody_motion));
}

/* One body in one step. */
static inline void nbody_move(size_t i)
{
    const double softening = 0.01;
    const double time = 0.01;
    nbody_body body = nbody_now[i];
    double pull[3] = {0, 0, 0};
    for (size_t k = 0; k < nbody_n; k++) {
        double x = nbody_now[k].at[0] - body.at[0];
        double y = nbody_now[k].at[1] - body.at[1];
        double z = nbody_now[k].at[2] - body.at[2];
        double square = x * x + y * y + z * z + softening;
        double scale = nbody_now[k].mass / (square * sqrt(square));
        pull[0] += x * scale;
        pull[1] += y * scale;
        pull[2] += z * scale;
    }
    for (unsigned d = 0; d < 3; d++) {
        nbody_motions[i].speed[d] += pull[d] * time;
        body.at[d] += nbody_motions[i].speed[d] * time;
    }
    nbody_next[i] = body;
}

/* Behind each step. */
static inline void nbody_turn(void)
{
    nbody_body *swap = nbody_now;
    nbody_now = nbody_next;
    nbody_next = swap;
}

/* Of the places in millionths: compilers may round the last bit otherwise. */
static inline uint64_t nbody_check(void)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < nbody_n; i++) {
        for (unsigned d = 0; d < 3; d++) {
            int64_t millionths = (int64_t)(nbody_now[i].at[d] * 1e6);
            hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)millionths;
        }
    }
    return hash;
}

static inline uint64_t nbody_units(void)
{
    return (uint64_t)nbody_n * nbody_n * NBODY_STEPS;
}

static inline void nbody_teardown(void)
{
    free(nbody_start);
    free(nbody_now);
    free(nbody_next);
    free(nbody_motions);
}

#endif
