/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tree.h: a full binary tree of 2^size - 1 nodes in one array, depth first, so
 * that a walk of the left subtree goes on through memory.
 */
#ifndef BENCH_TREE_SUM_TREE_H
#define BENCH_TREE_SUM_TREE_H

#include <stdlib.h>

#include "../support/runner.h"

typedef struct tree_node {
    struct tree_node *left;
    struct tree_node *right;
    uint64_t value;
} tree_node;

static tree_node *tree_nodes;
static uint64_t tree_depth;
static uint64_t tree_result;

/* Builds a tree of the depth from `at` on; the node behind it. */
static tree_node *tree_build(tree_node *at, uint64_t depth)
{
    tree_node *next = at + 1;
    at->value = (uint64_t)(at - tree_nodes) * 7 + 1;
    at->left = NULL;
    at->right = NULL;
    if (depth > 1) {
        at->left = next;
        next = tree_build(next, depth - 1);
        at->right = next;
        next = tree_build(next, depth - 1);
    }
    return next;
}

static int tree_setup(const bench_args *args)
{
    tree_depth = args->size;
    tree_nodes = (tree_node *)malloc(sizeof(tree_node) << tree_depth);
    if (tree_nodes == NULL) {
        return -1;
    }
    tree_build(tree_nodes, tree_depth);
    return 0;
}

static uint64_t tree_check(void)
{
    return tree_result;
}

static uint64_t tree_units(void)
{
    return ((uint64_t)1 << tree_depth) - 1;
}

static void tree_teardown(void)
{
    free(tree_nodes);
}

#endif
