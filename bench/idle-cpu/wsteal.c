/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include "../support/pool.h"
#include "idle.h"

typedef struct {
    int depth;
    uint64_t leaves;
} tree_arg;

static int tree(void *arg)
{
    tree_arg *t = arg;
    if (t->depth == 0) {
        t->leaves = idle_leaf();
        return 0;
    }
    tree_arg a = {t->depth - 1, 0};
    tree_arg b = {t->depth - 1, 0};
    ws_join(tree, &a, tree, &b);
    t->leaves = a.leaves + b.leaves;
    return 0;
}

static uint64_t burst(void)
{
    tree_arg t = {IDLE_DEPTH, 0};
    ws_pool_install(bench_pool, tree, &t);
    return t.leaves;
}

typedef struct {
    void (*job)(void);
} job_arg;

static int call(void *arg)
{
    const job_arg *j = arg;
    j->job();
    return 0;
}

static void run(void (*job)(void))
{
    job_arg j = {job};
    ws_pool_install(bench_pool, call, &j);
}

static int setup(const bench_args *args)
{
    static const idle_pool pool = {burst, run};
    return bench_pool_setup(args) != 0 || idle_setup(args, &pool) != 0;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,      idle_prepare, idle_sample,
        idle_check, idle_units,   bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
