/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * axpy.c: a[i] = b[i] * c + d over a thousand and over ten million floats: the
 * plain loop, ws_for, ws_for with WS_FOR_STATIC, and OpenMP's static schedule
 * if the compiler has it.
 *
 *     axpy [samples] [workers]
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <wsteal.h>

#include "../bench.h"

enum {
    LARGE = 10000000,
    SMALL = 1000,
    /* So many that the wake of the worker which runs them does not count. */
    SMALL_ROUNDS = 20000,
    SAMPLES_MAX = 1001
};

typedef struct {
    float *a;
    const float *b;
    float c, d;
    size_t n;
    int rounds;
} axpy;

static int run_range(size_t begin, size_t end, void *arg)
{
    const axpy *x = arg;
    float *a = x->a;
    const float *b = x->b;
    for (size_t i = begin; i < end; i++) {
        a[i] = b[i] * x->c + x->d;
    }
    return 0;
}

/* Through a pointer, as a library calls it. */
static int (*volatile body)(size_t, size_t, void *) = run_range;

static int run_plain(void *arg)
{
    axpy *x = arg;
    for (int r = 0; r < x->rounds; r++) {
        body(0, x->n, x);
    }
    return 0;
}

static int run_for(void *arg)
{
    axpy *x = arg;
    for (int r = 0; r < x->rounds; r++) {
        ws_for(0, x->n, NULL, body, x);
    }
    return 0;
}

static int run_static(void *arg)
{
    axpy *x = arg;
    ws_for_opts o = WS_FOR_OPTS_INIT;
    o.flags = WS_FOR_STATIC;
    for (int r = 0; r < x->rounds; r++) {
        ws_for(0, x->n, &o, body, x);
    }
    return 0;
}

#if defined(_OPENMP)
static int run_openmp(void *arg)
{
    axpy *x = arg;
    float *a = x->a;
    const float *b = x->b;
    for (int r = 0; r < x->rounds; r++) {
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < x->n; i++) {
            a[i] = b[i] * x->c + x->d;
        }
    }
    return 0;
}
#endif

static const struct {
    const char *name;
    ws_fn fn;
    int in_pool;
} kinds[] = {
    {"plain loop", run_plain, 1},
    {"ws_for", run_for, 1},
    {"ws_for, static", run_static, 1},
#if defined(_OPENMP)
    {"OpenMP, static", run_openmp, 0},
#endif
};

enum {
    KINDS = sizeof(kinds) / sizeof(kinds[0])
};

/* Others' threads spin for a while after a loop: let them come to rest. */
static void rest(void)
{
    const struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

static void compare(ws_pool *pool, axpy *x, int samples, double scale,
                    const char *unit)
{
    static double times[KINDS][SAMPLES_MAX];
    double medians[KINDS];
    for (int s = 0; s < samples; s++) {
        for (int k = 0; k < KINDS; k++) {
            rest();
            double begin = bench_now();
            if (kinds[k].in_pool) {
                ws_pool_install(pool, kinds[k].fn, x);
            } else {
                kinds[k].fn(x);
            }
            times[k][s] = (bench_now() - begin) / x->rounds;
        }
    }
    for (int k = 0; k < KINDS; k++) {
        medians[k] =
            bench_report(kinds[k].name, unit, scale, times[k], samples);
    }
    for (int k = 1; k < KINDS; k++) {
        printf("  %s / plain loop %.3f", kinds[k].name,
               medians[k] / medians[0]);
    }
    printf("\n");
    if (KINDS > 3) {
        printf("  ws_for / OpenMP %.3f\n", medians[1] / medians[KINDS - 1]);
    }
}

int main(int argc, char **argv)
{
    int samples = bench_argument(argc, argv, 21);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pool;
    float *a = malloc(LARGE * sizeof(*a));
    float *b = malloc(LARGE * sizeof(*b));
    config.num_threads =
        (unsigned)bench_argument(argc > 1 ? argc - 1 : argc, argv + 1, 2);
    samples = samples < SAMPLES_MAX ? samples : SAMPLES_MAX;
    if (a == NULL || b == NULL || ws_pool_create(&pool, &config) != WS_OK) {
        return 1;
    }
#if defined(_OPENMP)
    omp_set_num_threads((int)config.num_threads);
#endif
    for (size_t i = 0; i < LARGE; i++) {
        a[i] = 0;
        b[i] = (float)i;
    }
    axpy small = {a, b, 2.5F, 1, SMALL, SMALL_ROUNDS};
    axpy large = {a, b, 2.5F, 1, LARGE, 1};
    printf("1e3 floats, pool at rest\n");
    compare(pool, &small, samples, 1e9, "ns");
    printf("1e7 floats\n");
    compare(pool, &large, samples, 1e3, "ms");
    int wrong = a[1000] != 2501;
    free(a);
    free(b);
    return ws_pool_destroy(pool) != WS_OK || wrong;
}
