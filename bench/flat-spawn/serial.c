/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "flat.h"

static void task(void)
{
    bench_counts[0].count++;
}

/* As a task is called: through a pointer. */
static void (*volatile task_pointer)(void) = task;

static void sample(void)
{
    for (uint64_t i = 0; i < flat_size; i++) {
        task_pointer();
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        flat_setup, NULL, sample, flat_check, flat_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
