/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wsteal.c: the sorts of this library, and qsort(3), on 64-bit numbers.
 *
 *     wsteal KIND N WORKERS SAMPLES [HOW]
 *
 * HOW: unstable and stable (WS_SORT_DEFINE), compare and compare_stable
 * (ws_sort, ws_stable_sort), qsort.
 */
#define _POSIX_C_SOURCE 200809L

#include <string.h>

#include <wsteal.h>
#include <wsteal/sort_define.h>

#include "sort.h"

#define NUMBER_LESS(a, b) (*(a) < *(b))
WS_SORT_DEFINE(sort_numbers, uint64_t, NUMBER_LESS)

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_in(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return compare(a, b);
}

struct run {
    const char *how;
    uint64_t *a;
    size_t n;
};

static int run(void *arg)
{
    const struct run *r = arg;
    if (!strcmp(r->how, "unstable")) {
        return sort_numbers(r->a, r->n);
    }
    if (!strcmp(r->how, "stable")) {
        return sort_numbers_stable(r->a, r->n);
    }
    if (!strcmp(r->how, "compare")) {
        return ws_sort(r->a, r->n, sizeof(*r->a), compare_in, NULL);
    }
    if (!strcmp(r->how, "compare_stable")) {
        return ws_stable_sort(r->a, r->n, sizeof(*r->a), compare_in, NULL);
    }
    qsort(r->a, r->n, sizeof(*r->a), compare);
    return 0;
}

int main(int argc, char **argv)
{
    const struct sort_options o = sort_options_read(argc, argv, "unstable");
    uint64_t *input = malloc(o.n * sizeof(*input));
    uint64_t *a = malloc(o.n * sizeof(*a));
    struct run r = {o.how, a, o.n};
    ws_pool *pool = NULL;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = o.workers;
    if (input == NULL || a == NULL || ws_pool_create(&pool, &config) != WS_OK) {
        return 1;
    }
    sort_fill(o.kind, input, o.n);
    for (int i = 0; i < o.samples; i++) {
        memcpy(a, input, o.n * sizeof(*a));
        const double begin = bench_now();
        if (ws_pool_install(pool, run, &r) != 0) {
            return 1;
        }
        sort_sample(bench_now() - begin, a, o.n);
    }
    ws_pool_destroy(pool);
    free(a);
    free(input);
    return 0;
}
