/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pooled.h"

#include <wsteal/sort_define.h>

#define NUMBER_LESS(a, b) (*(a) < *(b))
WS_SORT_DEFINE(sort_numbers, uint64_t, NUMBER_LESS)

static int pooled_sort(void *arg)
{
    (void)arg;
    return sort_numbers(quick_items, quick_n);
}

int main(int argc, char **argv)
{
    return pooled_main(argc, argv);
}
