/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u_curve.c: is the default as good as the best grain that a hand can set?
 * Ten million units of a nanosecond, uniform, and with all the cost in the last
 * hundredth; and what the loop costs where there is nothing to gain.
 *
 *     u_curve [samples] [workers]
 */
#define _POSIX_C_SOURCE 200809L

#include <wsteal.h>

#include "../bench.h"

enum {
    UNITS = 10000000,
    SAMPLES_MAX = 101
};

/* 0: the default; 1: a plain loop. */
static const size_t grains[] = {
    0, SIZE_MAX, 1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20};

enum {
    KINDS = sizeof(grains) / sizeof(grains[0])
};

static volatile uint64_t sink;
static int skewed;

static uint64_t step(uint64_t x)
{
    return x * UINT64_C(6364136223846793005) + 1;
}

static int work(size_t begin, size_t end, void *arg)
{
    uint64_t x = begin;
    (void)arg;
    if (!skewed) {
        for (size_t i = begin; i < end; i++) {
            x = step(x ^ i);
        }
    } else {
        for (size_t i = begin; i < end; i++) {
            x ^= i;
            for (int k = i >= UNITS - UNITS / 100 ? 100 : 0; k > 0; k--) {
                x = step(x);
            }
        }
    }
    sink = x;
    return 0;
}

static int run(void *arg)
{
    size_t grain = *(const size_t *)arg;
    ws_for_opts o = WS_FOR_OPTS_INIT;
    if (grain == SIZE_MAX) {
        return work(0, UNITS, NULL);
    }
    o.min_grain = grain;
    o.max_grain = grain;
    return ws_for(0, UNITS, &o, work, NULL);
}

static void curve(ws_pool *pool, int samples)
{
    static double times[KINDS][SAMPLES_MAX];
    double medians[KINDS];
    double best = 0;
    for (int s = 0; s < samples; s++) {
        for (int k = 0; k < KINDS; k++) {
            size_t grain = grains[k];
            double begin = bench_now();
            ws_pool_install(pool, run, &grain);
            times[k][s] = bench_now() - begin;
        }
    }
    for (int k = 0; k < KINDS; k++) {
        char name[64];
        snprintf(name, sizeof(name), "  grain %zu", grains[k]);
        medians[k] = bench_report(k == 0   ? "  default"
                                  : k == 1 ? "  plain loop"
                                           : name,
                                  "ms", 1e3, times[k], samples);
        if (k >= 2 && (best == 0 || medians[k] < best)) {
            best = medians[k];
        }
    }
    printf("  default / best grain %.3f, default / plain loop %.3f\n",
           medians[0] / best, medians[0] / medians[1]);
}

int main(int argc, char **argv)
{
    int samples = bench_argument(argc, argv, 11);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pool;
    config.num_threads =
        (unsigned)bench_argument(argc > 1 ? argc - 1 : argc, argv + 1, 2);
    samples = samples < SAMPLES_MAX ? samples : SAMPLES_MAX;
    if (ws_pool_create(&pool, &config) != WS_OK) {
        return 1;
    }
    for (skewed = 0; skewed < 2; skewed++) {
        printf("%s, %u workers\n",
               skewed ? "all the cost in the last 1 %" : "uniform",
               ws_pool_num_workers(pool));
        curve(pool, samples);
    }
    return ws_pool_destroy(pool);
}
