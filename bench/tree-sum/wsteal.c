/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "tree.h"

typedef struct {
    const tree_node *node;
    uint64_t result;
} subtree;

static int sum(void *arg)
{
    subtree *s = arg;
    if (s->node == NULL) {
        s->result = 0;
        return 0;
    }
    subtree left = {s->node->left, 0};
    subtree right = {s->node->right, 0};
    ws_join(sum, &left, sum, &right);
    s->result = left.result + right.result + s->node->value;
    return 0;
}

static int setup(const bench_args *args)
{
    return tree_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void sample(void)
{
    subtree all = {tree_nodes, 0};
    ws_pool_install(bench_pool, sum, &all);
    tree_result = all.result;
}

static void teardown(void)
{
    bench_pool_teardown();
    tree_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, tree_check, tree_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
