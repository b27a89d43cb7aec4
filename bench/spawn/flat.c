/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * flat.c: a million empty jobs, spawned by one body: LIFO and FIFO scope, and
 * with a copy of the argument.
 *
 *     flat [samples] [workers]
 */
#define _POSIX_C_SOURCE 200809L

#include <wsteal.h>

#include "../bench.h"

enum {
    JOBS = 1000000
};

static int nothing(struct ws_scope *scope, void *arg)
{
    (void)scope;
    (void)arg;
    return 0;
}

static int spawn(struct ws_scope *scope, void *arg)
{
    for (int i = 0; i < JOBS; i++) {
        ws_scope_spawn(scope, nothing, arg);
    }
    return 0;
}

static int spawn_copies(struct ws_scope *scope, void *arg)
{
    long copied[4] = {1, 2, 3, 4};
    (void)arg;
    for (int i = 0; i < JOBS; i++) {
        ws_scope_spawn_copy(scope, nothing, copied, sizeof(copied));
    }
    return 0;
}

static const struct {
    const char *name;
    unsigned flags;
    ws_scope_fn body;
} kinds[] = {
    {"ws_scope_spawn", 0, spawn},
    {"ws_scope_spawn, FIFO scope", WS_SCOPE_FIFO, spawn},
    {"ws_scope_spawn_copy, 32 bytes", 0, spawn_copies},
};

int main(int argc, char **argv)
{
    static double samples[BENCH_SAMPLES_MAX];
    int n = bench_argument(argc, argv, 15);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = (unsigned)bench_argument(argc - 1, argv + 1, 1);
    ws_pool *pool = NULL;
    if (ws_pool_create(&pool, &config) != WS_OK) {
        return 1;
    }
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        ws_scope_in(pool, kinds[k].flags, kinds[k].body, NULL);
        for (int i = 0; i < n; i++) {
            double begin = bench_now();
            ws_scope_in(pool, kinds[k].flags, kinds[k].body, NULL);
            samples[i] = (bench_now() - begin) / JOBS;
        }
        bench_report(kinds[k].name, "ns/job", 1e9, samples, n);
    }
    return ws_pool_destroy(pool);
}
