/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/counts.h"
#include "../support/pool.h"
#include "queens.h"

static int place(struct ws_scope *scope, void *arg)
{
    const queens_board *b = arg;
    if (b->columns == queens_full) {
        bench_counts[ws_current_index()].count++;
        return 0;
    }
    for (uint32_t open = queens_free(b); open != 0; open &= open - 1) {
        queens_board next = queens_place(b, open & -open);
        ws_scope_spawn_copy(scope, place, &next, sizeof(next));
    }
    return 0;
}

static int setup(const bench_args *args)
{
    if (queens_setup(args) != 0 || bench_pool_setup(args) != 0) {
        return -1;
    }
    return ws_pool_worker_slots(bench_pool) <= BENCH_COUNTS ? 0 : -1;
}

static void sample(void)
{
    queens_board empty = {0, 0, 0};
    ws_scope_in(bench_pool, 0, place, &empty);
    queens_result = bench_counts_take();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, queens_check, queens_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
