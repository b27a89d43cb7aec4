/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "queens.h"

/* A board, and the columns of its next row that are to be tried. */
typedef struct {
    const queens_board *board;
    uint32_t open;
    uint64_t count;
} row;

static int try_row(void *arg);

/* With a queen in the lowest of the columns. */
static int try_first(void *arg)
{
    row *r = arg;
    queens_board next = queens_place(r->board, r->open & -r->open);
    row below = {&next, queens_free(&next), 0};
    if (next.columns == queens_full) {
        r->count = 1;
        return 0;
    }
    try_row(&below);
    r->count = below.count;
    return 0;
}

static int try_row(void *arg)
{
    row *r = arg;
    if (r->open == 0) {
        r->count = 0;
        return 0;
    }
    row first = {r->board, r->open, 0};
    row rest = {r->board, r->open & (r->open - 1), 0};
    if (rest.open == 0) {
        try_first(&first);
    } else {
        ws_join(try_first, &first, try_row, &rest);
    }
    r->count = first.count + rest.count;
    return 0;
}

static int setup(const bench_args *args)
{
    return queens_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void sample(void)
{
    const queens_board empty = {0, 0, 0};
    row top = {&empty, queens_full, 0};
    ws_pool_install(bench_pool, try_row, &top);
    queens_result = top.count;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, NULL, sample, queens_check, queens_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
