/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

static uint64_t sum(const tree_node *node)
{
    return node == NULL ? 0 : sum(node->left) + sum(node->right) + node->value;
}

static void sample(void)
{
    tree_result = sum(tree_nodes);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        tree_setup, NULL, sample, tree_check, tree_units, tree_teardown,
    };
    return bench_main(argc, argv, &program);
}
