/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * serial.c: no pool, one thread that sleeps on a futex.
 */
#define _GNU_SOURCE

#include "wake.h"

#include <pthread.h>

static pthread_t thread;
static uint32_t ping;
static uint32_t pong;
static uint32_t round_number;
static int stopped;

static void *partner(void *arg)
{
    (void)arg;
    for (uint32_t i = 1;; i++) {
        wake_until(&ping, i);
        if (stopped) {
            return NULL;
        }
        wake_note();
        wake_set(&pong, i);
    }
}

static uint64_t submit(void)
{
    uint64_t begin = bench_now_ns();
    wake_set(&ping, ++round_number);
    wake_until(&pong, round_number);
    return bench_now_ns() - begin;
}

/* One way: from the call that wakes. */
static uint64_t leaf(void)
{
    wake_leaf_prepare();
    uint64_t begin = bench_now_ns();
    wake_set(&ping, ++round_number);
    wake_leaf();
    wake_until(&pong, round_number);
    return wake_begun_at - begin;
}

static int setup(const bench_args *args)
{
    bench_args own = *args;
    return wake_setup(&own) != 0 ||
           pthread_create(&thread, NULL, partner, NULL) != 0;
}

static void sample(void)
{
    wake_measure(submit, leaf);
}

static void teardown(void)
{
    stopped = 1;
    wake_set(&ping, round_number + 1);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, wake_check, wake_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
