/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * trees.c: what the default wait policy costs: WS_WAIT_SUBTREE with seat
 * lending against WS_WAIT_ANY, on four trees, sample by sample in turns.
 *
 *     trees [samples] [workers]
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>

#include <wsteal.h>

#include "../bench.h"

enum {
    FIB_N = 32,
    QUEENS_N = 11,
    SORT_N = 1000000,
    SORT_CUT_OFF = 64,
    TREE_NODES = 300000
};

/* ---- fib: joins, no cut-off ------------------------------------------ */

typedef struct {
    int n;
    long result;
} fib_arg;

static int fib(void *arg)
{
    fib_arg *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib_arg a = {f->n - 1, 0};
    fib_arg b = {f->n - 2, 0};
    ws_join(fib, &a, fib, &b);
    f->result = a.result + b.result;
    return 0;
}

static int run_fib(void *arg)
{
    fib_arg f = {FIB_N, 0};
    (void)arg;
    fib(&f);
    return f.result == 2178309 ? 0 : 1;
}

/* ---- nqueens: a scope per node --------------------------------------- */

typedef struct {
    int row;
    signed char columns[QUEENS_N];
    long solutions;
} board;

static int fits(const board *b, int column)
{
    for (int i = 0; i < b->row; i++) {
        int away = b->columns[i] - column;
        if (away == 0 || away == b->row - i || away == i - b->row) {
            return 0;
        }
    }
    return 1;
}

static int queens(struct ws_scope *scope, void *arg);

static int try_columns(struct ws_scope *scope, void *arg)
{
    board *children = arg;
    board *parent = children + QUEENS_N;
    for (int column = 0; column < QUEENS_N; column++) {
        children[column].solutions = 0;
        if (fits(parent, column)) {
            board *child = &children[column];
            memcpy(child->columns, parent->columns, sizeof(child->columns));
            child->columns[parent->row] = (signed char)column;
            child->row = parent->row + 1;
            ws_scope_spawn(scope, queens, child);
        }
    }
    return 0;
}

static int queens(struct ws_scope *outer, void *arg)
{
    board *b = arg;
    board nodes[QUEENS_N + 1];
    (void)outer;
    if (b->row == QUEENS_N) {
        b->solutions = 1;
        return 0;
    }
    nodes[QUEENS_N] = *b;
    ws_scope(try_columns, nodes);
    b->solutions = 0;
    for (int i = 0; i < QUEENS_N; i++) {
        b->solutions += nodes[i].solutions;
    }
    return 0;
}

static int run_queens(void *arg)
{
    board b = {.row = 0};
    (void)arg;
    queens(NULL, &b);
    return b.solutions == 2680 ? 0 : 1;
}

/* ---- quicksort by joins ---------------------------------------------- */

typedef struct {
    unsigned *begin;
    size_t n;
} slice;

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a;
    unsigned y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

static int sort(void *arg)
{
    slice *s = arg;
    if (s->n <= SORT_CUT_OFF) {
        qsort(s->begin, s->n, sizeof(unsigned), compare);
        return 0;
    }
    unsigned pivot = s->begin[s->n / 2];
    size_t low = 0;
    size_t high = s->n - 1;
    for (;; low++, high--) {
        while (s->begin[low] < pivot) {
            low++;
        }
        while (s->begin[high] > pivot) {
            high--;
        }
        if (low >= high) {
            break;
        }
        unsigned swap = s->begin[low];
        s->begin[low] = s->begin[high];
        s->begin[high] = swap;
    }
    slice left = {s->begin, high + 1};
    slice right = {s->begin + high + 1, s->n - high - 1};
    return ws_join(sort, &left, sort, &right);
}

static int run_sort(void *arg)
{
    static unsigned numbers[SORT_N];
    unsigned x = 1;
    slice all = {numbers, SORT_N};
    (void)arg;
    for (size_t i = 0; i < SORT_N; i++) {
        x = x * 1664525 + 1013904223;
        numbers[i] = x;
    }
    return sort(&all);
}

/* ---- an unbalanced tree in one scope --------------------------------- */

static int grow(struct ws_scope *scope, void *arg)
{
    size_t n = (size_t)(uintptr_t)arg;
    for (volatile int i = 0; i < 100; i++) {
    }
    /* One child has nine tenths of what is left. */
    if (n > 1) {
        size_t big = (n - 1) * 9 / 10;
        size_t small = n - 1 - big;
        if (small > 0) {
            ws_scope_spawn(scope, grow, (void *)(uintptr_t)small);
        }
        if (big > 0) {
            ws_scope_spawn(scope, grow, (void *)(uintptr_t)big);
        }
    }
    return 0;
}

static int plant(struct ws_scope *scope, void *arg)
{
    (void)arg;
    return ws_scope_spawn(scope, grow, (void *)(uintptr_t)TREE_NODES);
}

static int run_tree(void *arg)
{
    (void)arg;
    return ws_scope(plant, NULL);
}

/* ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    ws_fn run;
} trees[] = {
    {"fib", run_fib},
    {"nqueens", run_queens},
    {"sort", run_sort},
    {"scope tree", run_tree},
};

static ws_pool *make(unsigned policy, unsigned workers)
{
    ws_pool *pool = NULL;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = workers;
    config.wait_policy = policy;
    if (ws_pool_create(&pool, &config) != WS_OK) {
        exit(1);
    }
    return pool;
}

static double sample(ws_pool *pool, ws_fn run)
{
    double begin = bench_now();
    if (ws_pool_install(pool, run, NULL) != 0) {
        exit(1);
    }
    return bench_now() - begin;
}

int main(int argc, char **argv)
{
    static double any[BENCH_SAMPLES_MAX];
    static double subtree[BENCH_SAMPLES_MAX];
    static double ratio[BENCH_SAMPLES_MAX];
    int n = bench_argument(argc, argv, 15);
    unsigned workers = (unsigned)bench_argument(argc - 1, argv + 1, 2);
    ws_pool *pools[2] = {make(WS_WAIT_ANY, workers),
                         make(WS_WAIT_SUBTREE, workers)};
    for (size_t t = 0; t < sizeof(trees) / sizeof(trees[0]); t++) {
        for (int i = 0; i < n; i++) {
            /* In turns, so that neither is always the second. */
            for (int k = 0; k < 2; k++) {
                int policy = (i + k) % 2;
                double *to = policy == 0 ? any : subtree;
                to[i] = sample(pools[policy], trees[t].run);
            }
            ratio[i] = subtree[i] / any[i];
        }
        printf("%s, %u workers\n", trees[t].name, workers);
        bench_report("  WS_WAIT_ANY", "ms", 1e3, any, n);
        bench_report("  WS_WAIT_SUBTREE", "ms", 1e3, subtree, n);
        bench_report("  subtree / any, pairs", "", 1, ratio, n);
    }
    for (int k = 0; k < 2; k++) {
        ws_pool_destroy(pools[k]);
    }
    return 0;
}
