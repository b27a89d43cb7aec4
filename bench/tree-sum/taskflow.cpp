/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/executor.hpp"
#include "tree.h"

static std::uint64_t sum(const tree_node *node)
{
    std::uint64_t right;
    if (node == nullptr) {
        return 0;
    }
    tf::TaskGroup group = bench_executor->task_group();
    group.silent_async([&right, node] { right = sum(node->right); });
    std::uint64_t left = sum(node->left);
    group.corun();
    return left + right + node->value;
}

static int setup(const bench_args *args)
{
    return tree_setup(args) != 0 ? -1 : bench_executor_setup(args);
}

static void sample()
{
    tree_result = bench_executor->async([] { return sum(tree_nodes); }).get();
}

static void teardown()
{
    bench_executor_teardown();
    tree_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, tree_check, tree_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
