/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "merge.h"

static void sample(void)
{
    merge_item *spare = malloc(merge_n * sizeof(*spare));
    if (spare != NULL) {
        merge_sort(merge_items, spare, merge_n, 0);
    }
    free(spare);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        merge_setup, merge_prepare, sample,
        merge_check, merge_units,   merge_teardown,
    };
    return bench_main(argc, argv, &program);
}
