/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/parlay.hpp"
#include "tree.h"

static std::uint64_t sum(const tree_node *node)
{
    std::uint64_t left;
    std::uint64_t right;
    if (node == nullptr) {
        return 0;
    }
    parlay::par_do([&left, node] { left = sum(node->left); },
                   [&right, node] { right = sum(node->right); });
    return left + right + node->value;
}

static int setup(const bench_args *args)
{
    return tree_setup(args) != 0 ? -1 : bench_parlay_setup(args);
}

static void sample()
{
    tree_result = sum(tree_nodes);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, tree_check, tree_units, tree_teardown,
    };
    return bench_main(argc, argv, &program);
}
