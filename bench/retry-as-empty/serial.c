/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "item.h"

static int setup(const bench_args *args)
{
    item_count = args->size;
    return 0;
}

static void sample(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= item_count; i++) {
        sum += item_work(i);
    }
    item_result = sum;
}

static uint64_t check(void)
{
    double steals = (double)item_count;
    bench_value("busiest_share", 100);
    bench_series("steals", &steals, 1);
    return item_check();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, check, item_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
