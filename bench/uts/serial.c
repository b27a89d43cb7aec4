/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "uts.h"

static uint64_t count(const uts_node *node)
{
    unsigned n = uts_children(node);
    uint64_t sum = 1;
    for (unsigned i = 0; i < n; i++) {
        uts_node child = uts_child(node, i);
        sum += count(&child);
    }
    return sum;
}

static void sample(void)
{
    uts_result = count(&uts_root);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        uts_setup, NULL, sample, uts_check, uts_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
