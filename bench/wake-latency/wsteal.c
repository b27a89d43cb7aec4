/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include "../support/pool.h"
#include "wake.h"

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int job(void *arg)
{
    (void)arg;
    wake_job();
    return 0;
}

static int note(void *arg)
{
    (void)arg;
    wake_note();
    return 0;
}

static int long_leaf(void *arg)
{
    (void)arg;
    wake_leaf();
    return 0;
}

static int busy_then_leaf(void *arg)
{
    (void)arg;
    uint64_t until = bench_now_ns() + WAKE_BUSY_NS;
    while (bench_now_ns() < until) {
        ws_join(nothing, NULL, nothing, NULL);
    }
    return ws_join(long_leaf, NULL, note, NULL);
}

static uint64_t submit(void)
{
    uint64_t begin = bench_now_ns();
    ws_pool_install(bench_pool, job, NULL);
    return bench_now_ns() - begin;
}

static uint64_t leaf(void)
{
    wake_leaf_prepare();
    ws_pool_install(bench_pool, busy_then_leaf, NULL);
    return wake_leaf_ns();
}

static int setup(const bench_args *args)
{
    bench_args own = *args;
    return wake_setup(&own) != 0 || bench_pool_setup(&own) != 0;
}

static void sample(void)
{
    wake_measure(submit, leaf);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, wake_check, wake_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
