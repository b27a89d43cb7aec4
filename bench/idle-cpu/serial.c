/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include "idle.h"

static uint64_t burst(void)
{
    uint64_t leaves = 0;
    for (int i = 0; i < 1 << IDLE_DEPTH; i++) {
        leaves += idle_leaf();
    }
    return leaves;
}

static void run(void (*job)(void))
{
    job();
}

static int setup(const bench_args *args)
{
    static const idle_pool pool = {burst, run};
    return idle_setup(args, &pool);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, idle_prepare, idle_sample, idle_check, idle_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
