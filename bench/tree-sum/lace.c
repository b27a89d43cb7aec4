/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include <lace.h>

TASK_1(uint64_t, sum, const tree_node *, node)
{
    if (node == NULL) {
        return 0;
    }
    SPAWN(sum, node->right);
    uint64_t left = CALL(sum, node->left);
    uint64_t right = SYNC(sum);
    return left + right + node->value;
}

static int setup(const bench_args *args)
{
    if (tree_setup(args) != 0) {
        return -1;
    }
    lace_start(args->workers, 0);
    return 0;
}

static void sample(void)
{
    tree_result = RUN(sum, tree_nodes);
}

static void teardown(void)
{
    lace_stop();
    tree_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, tree_check, tree_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
