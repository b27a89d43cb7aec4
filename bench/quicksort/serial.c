/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "introsort.h"
#include "quick.h"

static void sample(void)
{
    quick_serial(quick_items, quick_n, quick_levels(quick_n));
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        quick_setup, quick_prepare, sample,
        quick_check, quick_units,   quick_teardown,
    };
    return bench_main(argc, argv, &program);
}
