/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "tree.h"

#include <tbb/task_group.h>

static std::uint64_t sum(const tree_node *node)
{
    std::uint64_t right;
    if (node == nullptr) {
        return 0;
    }
    tbb::task_group group;
    group.run([&right, node] { right = sum(node->right); });
    std::uint64_t left = sum(node->left);
    group.wait();
    return left + right + node->value;
}

static int setup(const bench_args *args)
{
    return tree_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    bench_arena->execute([] { tree_result = sum(tree_nodes); });
}

static void teardown()
{
    bench_arena_teardown();
    tree_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, nullptr, sample, tree_check, tree_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
