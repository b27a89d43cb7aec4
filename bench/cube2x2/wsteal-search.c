/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "visited.h"

static int expand(const void *state, struct ws_search *search, void *arg)
{
    uint32_t next[MOVES];
    unsigned n = visited_next(*(const uint32_t *)state, next);
    (void)arg;
    for (unsigned i = 0; i < n; i++) {
        if (visited_add(next[i])) {
            ws_search_emit(search, &next[i]);
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
    const uint32_t root = 0;
    ws_search_config config = WS_SEARCH_CONFIG_INIT;
    config.pool = bench_pool;
    config.state_size = sizeof(root);
    config.roots = &root;
    config.n_roots = 1;
    config.roots_visited = visited_add(root);
    config.expand = expand;
    ws_search(&config, NULL);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,         visited_prepare, sample,
        visited_check, levels_units,    bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
