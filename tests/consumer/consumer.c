/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * consumer.c: the smallest user of the installed library.  Built as C11 and,
 * under the name consumer.cpp, as C++17: it keeps to their common part.
 */
#include <stdio.h>
#include <wsteal.h>
#include <wsteal/sort_define.h>

#define INT_LESS(a, b) (*(a) < *(b))
WS_SORT_DEFINE(sort_ints, int, INT_LESS)

static int add_one(void *arg)
{
    int *n = (int *)arg;
    *n += 1;
    return 0;
}

int main(void)
{
    int a = 0;
    int b = 0;
    int numbers[3] = {3, 1, 2};
    ws_pool *pool = NULL;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_worker_opts opts = WS_WORKER_OPTS_INIT;
    config.num_threads = 2;
    int code = ws_pool_create(&pool, &config);
    if (code == WS_OK) {
        code = ws_join(add_one, &a, add_one, &b);
        ws_pool_destroy(pool);
    }
    if (code == WS_OK) {
        code = sort_ints(numbers, 3);
    }
    printf("libwsteal %d: %d %d (%s)\n", ws_version(), a, b, ws_strerror(code));
    return code != WS_OK || a != 1 || b != 1 || numbers[0] != 1 ||
           ws_version() != WS_VERSION || opts.capacity != 0;
}
