/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "visited.h"

static int visit(struct ws_scope *scope, void *arg)
{
    uint32_t next[MOVES];
    unsigned n = visited_next((uint32_t)(uintptr_t)arg, next);
    for (unsigned i = 0; i < n; i++) {
        if (visited_add(next[i])) {
            ws_scope_spawn(scope, visit, (void *)(uintptr_t)next[i]);
        }
    }
    return 0;
}

static int setup(const bench_args *args)
{
    return visited_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void sample(void)
{
    visited_add(0);
    ws_scope_in(bench_pool, 0, visit, NULL);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,         visited_prepare, sample,
        visited_check, levels_units,    bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
