/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/pool.h"
#include "levels.h"

static void zero(void *acc, void *arg)
{
    (void)arg;
    *(uint64_t *)acc = 0;
}

static int fold(size_t begin, size_t end, void *acc, void *arg)
{
    (void)arg;
    *(uint64_t *)acc += level_step(begin, end);
    return 0;
}

static int add(void *acc, void *right, void *arg)
{
    (void)arg;
    *(uint64_t *)acc += *(uint64_t *)right;
    return 0;
}

static int search(void *arg)
{
    static const ws_reducer sum = {sizeof(uint64_t), zero, fold, add};
    uint64_t found = 1;
    (void)arg;
    while (found > 0) {
        level_open(found);
        ws_reduce(0, PERMS, NULL, &sum, &found, NULL);
    }
    return 0;
}

static int setup(const bench_args *args)
{
    return levels_setup(args) != 0 ? -1 : bench_pool_setup(args);
}

static void sample(void)
{
    ws_pool_install(bench_pool, search, NULL);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup,        level_begin,  sample,
        levels_check, levels_units, bench_pool_teardown,
    };
    return bench_main(argc, argv, &program);
}
