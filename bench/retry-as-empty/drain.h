/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * drain.h: thieves, one for each worker, drain one deque.
 */
#ifndef BENCH_RETRY_AS_EMPTY_DRAIN_H
#define BENCH_RETRY_AS_EMPTY_DRAIN_H

#include <wsteal/deque.h>

#include "../support/thieves.h"
#include "item.h"

typedef struct {
    uint64_t steals;
    uint64_t retries;
    uint64_t sum;
} drain_tally;

/* What is taken for "the deque is empty" besides WS_STEAL_EMPTY. */
static ws_steal drain_gives_up_at;
static ws_worker *drain_worker;
static ws_stealer *drain_stealer;
static drain_tally drain_tallies[THIEVES_MAX];

static void drain_thief(unsigned index)
{
    drain_tally tally = {0};
    void *item;
    ws_steal found;
    do {
        found = ws_stealer_steal(drain_stealer, &item);
        if (found == WS_STEAL_SUCCESS) {
            tally.steals++;
            tally.sum += item_work((uint64_t)(uintptr_t)item);
        } else if (found == WS_STEAL_RETRY) {
            tally.retries++;
        }
    } while (found != WS_STEAL_EMPTY && found != drain_gives_up_at);
    drain_tallies[index] = tally;
}

static int drain_setup(const bench_args *args)
{
    item_count = args->size;
    int code = ws_worker_create(&drain_worker, WS_LIFO, NULL);
    if (code == WS_OK) {
        code = ws_worker_stealer(drain_worker, &drain_stealer);
    }
    if (code == WS_OK) {
        code = thieves_start(args->workers, drain_thief);
    }
    return code;
}

static void drain_prepare(void)
{
    for (uint64_t i = 1; i <= item_count; i++) {
        ws_worker_push(drain_worker, (void *)(uintptr_t)i);
    }
    thieves_gather();
}

/* Each item is taken once, or the sum is another one. */
static uint64_t drain_check(void)
{
    double steals[THIEVES_MAX];
    double most = 0;
    double retries = 0;
    item_result = 0;
    for (unsigned i = 0; i < thieves.n; i++) {
        steals[i] = (double)drain_tallies[i].steals;
        most = steals[i] > most ? steals[i] : most;
        retries += (double)drain_tallies[i].retries;
        item_result += drain_tallies[i].sum;
    }
    bench_value("busiest_share", 100 * most / (double)item_count);
    bench_value("retries_per_item", retries / (double)item_count);
    bench_series("steals", steals, thieves.n);
    return item_check();
}

static void drain_teardown(void)
{
    thieves_stop();
    ws_stealer_release(drain_stealer);
    ws_worker_destroy(drain_worker);
}

static inline int drain_main(int argc, char **argv, ws_steal gives_up_at)
{
    static const bench_program program = {
        drain_setup, drain_prepare, thieves_run,
        drain_check, item_units,    drain_teardown,
    };
    drain_gives_up_at = gives_up_at;
    return bench_main(argc, argv, &program);
}

#endif
