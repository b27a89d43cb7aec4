/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * grain.c: a source, a parallel stage of 0, 1, 10 and 100 us, and a sink in
 * order, against the loop that calls the three functions.  In the last row the
 * stage sleeps, so that calls can overlap on a machine that is busy with
 * something else, too.
 *
 *     grain [samples] [workers]
 *
 * Interleaved with the loop, sample by sample; the last column is the loop's
 * minimum over this one's.
 */
#define _POSIX_C_SOURCE 200809L

#include <wsteal.h>

#include "../bench.h"

enum {
    IN_FLIGHT = 16
};

static struct {
    uint64_t items;
    unsigned rounds; /* of the work in the middle */
    long sleep_ns;
    uint64_t sum; /* the sink's */
    uint64_t data[IN_FLIGHT];
} line;

static int source(ws_pipeline_item *item, void *arg)
{
    (void)arg;
    if (item->number < line.items) {
        line.data[item->slot] = item->number;
        item->data = &line.data[item->slot];
    }
    return 0;
}

static int work(ws_pipeline_item *item, void *arg)
{
    uint64_t x = *(uint64_t *)item->data | 1;
    (void)arg;
    for (unsigned i = 0; i < line.rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    *(uint64_t *)item->data = x;
    if (line.sleep_ns > 0) {
        struct timespec t = {0, line.sleep_ns};
        nanosleep(&t, NULL);
    }
    return 0;
}

static int sink(ws_pipeline_item *item, void *arg)
{
    (void)arg;
    line.sum = line.sum * 31 + *(uint64_t *)item->data;
    return 0;
}

static const ws_stage stages[] = {
    {WS_STAGE_SERIAL, source, NULL, NULL},
    {WS_STAGE_PARALLEL, work, NULL, NULL},
    {WS_STAGE_SERIAL, sink, NULL, NULL},
};

static int run_pipeline(void *arg)
{
    (void)arg;
    return ws_pipeline(3, stages, IN_FLIGHT);
}

static void run_loop(void)
{
    for (uint64_t number = 0;; number++) {
        ws_pipeline_item item = {NULL, number, number % IN_FLIGHT};
        stages[0].fn(&item, NULL);
        if (item.data == NULL) {
            return;
        }
        stages[1].fn(&item, NULL);
        stages[2].fn(&item, NULL);
    }
}

/* Rounds of the work that take one microsecond. */
static double rounds_per_us(void)
{
    ws_pipeline_item item = {&line.data[0], 0, 0};
    double best = 1;
    line.rounds = 1000000;
    for (int i = 0; i < 5; i++) {
        double begin = bench_now();
        work(&item, NULL);
        double took = bench_now() - begin;
        best = took < best ? took : best;
    }
    return 1000000 / (best * 1e6);
}

int main(int argc, char **argv)
{
    static double loop[BENCH_SAMPLES_MAX];
    static double pipe[BENCH_SAMPLES_MAX];
    static const struct {
        const char *name;
        double us;
        uint64_t items;
        long sleep_ns;
    } grains[] = {{"0 us", 0, 100000, 0},
                  {"1 us", 1, 100000, 0},
                  {"10 us", 10, 10000, 0},
                  {"100 us", 100, 1000, 0},
                  {"100 us asleep", 0, 1000, 100000}};
    int n = bench_argument(argc, argv, 15);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = (unsigned)bench_argument(argc - 1, argv + 1, 2);
    ws_pool *pool = NULL;
    if (ws_pool_create(&pool, &config) != WS_OK) {
        return 1;
    }
    double rate = rounds_per_us();
    for (size_t g = 0; g < sizeof(grains) / sizeof(grains[0]); g++) {
        line.items = grains[g].items;
        line.rounds = (unsigned)(grains[g].us * rate);
        line.sleep_ns = grains[g].sleep_ns;
        for (int i = 0; i < n; i++) {
            double begin = bench_now();
            line.sum = 0;
            run_loop();
            uint64_t expected = line.sum;
            double middle = bench_now();
            line.sum = 0;
            int code = ws_pool_install(pool, run_pipeline, NULL);
            pipe[i] = (bench_now() - middle) / (double)line.items;
            loop[i] = (middle - begin) / (double)line.items;
            if (code != 0 || line.sum != expected) {
                printf("wrong: code %d\n", code);
                return 1;
            }
        }
        char name[64];
        snprintf(name, sizeof(name), "loop, %s", grains[g].name);
        bench_report(name, "ns/item", 1e9, loop, n);
        snprintf(name, sizeof(name), "pipeline, %s", grains[g].name);
        bench_report(name, "ns/item", 1e9, pipe, n);
        printf("%-36s %.2f\n", "  loop / pipeline", loop[0] / pipe[0]);
    }
    return ws_pool_destroy(pool);
}
