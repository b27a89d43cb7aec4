/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "../support/counts.h"
#include "uts.h"

static void visit(uts_node node)
{
    unsigned n = uts_children(&node);
    bench_counts[omp_get_thread_num()].count++;
    for (unsigned i = 0; i < n; i++) {
        uts_node child = uts_child(&node, i);
#pragma omp task firstprivate(child)
        visit(child);
    }
}

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return args->workers <= BENCH_COUNTS ? uts_setup(args) : -1;
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    visit(uts_root);
    uts_result = bench_counts_take();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, uts_check, uts_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
