/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "levels.h"

#include <pthreadpool.h>
#include <stdatomic.h>

static pthreadpool_t pool;
static atomic_uint_fast64_t found;

static int setup(const bench_args *args)
{
    pool = pthreadpool_create(args->workers);
    return pool == NULL ? -1 : levels_setup(args);
}

/* It has no reductions: tiles, so that the sum is seldom added to. */
static void step(void *arg, size_t begin, size_t n)
{
    (void)arg;
    /* relaxed: read after the loop has returned */
    atomic_fetch_add_explicit(&found, level_step(begin, begin + n),
                              memory_order_relaxed);
}

static void sample(void)
{
    for (uint64_t now = 1; now > 0; now = atomic_load(&found)) {
        level_open(now);
        atomic_store(&found, 0);
        pthreadpool_parallelize_1d_tile_1d(pool, step, NULL, PERMS, 16, 0);
    }
}

static void teardown(void)
{
    pthreadpool_destroy(pool);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, level_begin, sample, levels_check, levels_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
