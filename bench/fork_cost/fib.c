/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fib.c: what one ws_join costs: fib without a cut-off, one fork per call.
 *
 * Baselines of the same run: plain C with the same pointer arguments, called
 * directly, and through an out-of-line function that calls both halves (what
 * any fn(void *) interface costs by itself).  Samples are interleaved.
 *
 * Usage: bench_fork_cost_fib [SAMPLES]     (default 15)
 */
#define _POSIX_C_SOURCE 200809L

#include <wsteal.h>

#include "../bench.h"

#define N 32

typedef struct {
    long n;
    long result;
} fib_arg;

static int fib_join(void *p)
{
    fib_arg *f = p;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib_arg a = {f->n - 1, 0};
    fib_arg b = {f->n - 2, 0};
    ws_join(fib_join, &a, fib_join, &b);
    f->result = a.result + b.result;
    return 0;
}

static int fib_direct(void *p)
{
    fib_arg *f = p;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib_arg a = {f->n - 1, 0};
    fib_arg b = {f->n - 2, 0};
    fib_direct(&a);
    fib_direct(&b);
    f->result = a.result + b.result;
    return 0;
}

/* The serial twin of ws_join(); volatile, so that it stays a call. */
static int call_both(ws_fn a, void *arg_a, ws_fn b, void *arg_b)
{
    int code_a = a(arg_a);
    int code_b = b(arg_b);
    return code_a != 0 ? code_a : code_b;
}
static int (*volatile call_both_hidden)(ws_fn, void *, ws_fn,
                                        void *) = call_both;

static int fib_call(void *p)
{
    fib_arg *f = p;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    fib_arg a = {f->n - 1, 0};
    fib_arg b = {f->n - 2, 0};
    call_both_hidden(fib_call, &a, fib_call, &b);
    f->result = a.result + b.result;
    return 0;
}

typedef struct {
    ws_fn fn;
    double seconds;
} timed;

static int run(void *p)
{
    timed *t = p;
    fib_arg f = {N, 0};
    double begin = bench_now();
    t->fn(&f);
    t->seconds = bench_now() - begin;
    return f.result == 2178309 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "plain C, direct calls", "plain C, through a function",
        "ws_join, 1 worker", "ws_join, 2 workers"};
    static const ws_fn fns[] = {fib_direct, fib_call, fib_join, fib_join};
    static double seconds[4][BENCH_SAMPLES_MAX];
    const double forks = 3524577; /* calls of fib(32) with n >= 2 */
    double median[4];
    int samples = bench_argument(argc, argv, 15);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pools[4];
    for (int i = 0; i < 4; i++) {
        config.num_threads = i == 3 ? 2 : 1;
        if (ws_pool_create(&pools[i], &config) != WS_OK) {
            return 1;
        }
    }
    for (int s = -1; s < samples; s++) {
        for (int i = 0; i < 4; i++) {
            timed t = {fns[i], 0};
            if (ws_pool_install(pools[i], run, &t) != 0) {
                return 1;
            }
            if (s >= 0) {
                seconds[i][s] = t.seconds;
            }
        }
    }
    for (int i = 0; i < 4; i++) {
        median[i] =
            bench_report(names[i], "ns/fork", 1e9 / forks, seconds[i], samples);
        ws_pool_destroy(pools[i]);
    }
    printf("ws_join / plain C direct             %.2f\n",
           median[2] / median[0]);
    printf("2 workers against 1                  %.2f times faster\n",
           median[2] / median[3]);
    return 0;
}
