/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "tree.h"

static uint64_t sum(const tree_node *node)
{
    uint64_t left;
    uint64_t right;
    if (node == NULL) {
        return 0;
    }
#pragma omp task shared(right)
    right = sum(node->right);
    left = sum(node->left);
#pragma omp taskwait
    return left + right + node->value;
}

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return tree_setup(args);
}

static void sample(void)
{
#pragma omp parallel
#pragma omp single
    tree_result = sum(tree_nodes);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, tree_check, tree_units, tree_teardown,
    };
    return bench_main(argc, argv, &program);
}
