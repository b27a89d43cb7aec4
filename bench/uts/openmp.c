/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "uts.h"

#include <omp.h>

static struct {
    uint64_t count;
    char pad[120];
} found[64];

static void visit(uts_node node)
{
    unsigned n = uts_children(&node);
    found[omp_get_thread_num()].count++;
    for (unsigned i = 0; i < n; i++) {
        uts_node child = uts_child(&node, i);
#pragma omp task firstprivate(child)
        visit(child);
    }
}

static int setup(const bench_args *args)
{
    omp_set_dynamic(0);
    omp_set_num_threads((int)args->workers);
    return args->workers <= 64 ? uts_setup(args) : -1;
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    visit(uts_root);
    uts_result = 0;
    for (int i = 0; i < 64; i++) {
        uts_result += found[i].count;
        found[i].count = 0;
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, uts_check, uts_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
