/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "uts.h"

/* Children [begin, end) of a node. */
typedef struct {
    const uts_node *node;
    unsigned begin;
    unsigned end;
    uint64_t count;
} children;

static int count_children(void *arg)
{
    children *c = arg;
    if (c->end - c->begin > 1) {
        unsigned middle = c->begin + (c->end - c->begin) / 2;
        children first = {c->node, c->begin, middle, 0};
        children rest = {c->node, middle, c->end, 0};
        ws_join(count_children, &first, count_children, &rest);
        c->count = first.count + rest.count;
    } else {
        uts_node child = uts_child(c->node, c->begin);
        children below = {&child, 0, uts_children(&child), 0};
        if (below.end > 0) {
            count_children(&below);
        }
        c->count = 1 + below.count;
    }
    return 0;
}

static int setup(const bench_args *args)
{
    return uts_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void sample(void)
{
    children all = {&uts_root, 0, uts_children(&uts_root), 0};
    ws_pool_install(bench_pool, count_children, &all);
    uts_result = 1 + all.count;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, uts_check, uts_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
