/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * fib.c [N]: the smallest use of ws_join(), and one that has no cut-off.
 *
 * Every call with N >= 2 offers one of its halves to the other workers: that
 * makes fib(N + 1) - 1 joins of two calls that do next to nothing.  No tuning
 * is needed, since a join that nobody steals costs little more than the two
 * calls.  The pool is the global one: no set-up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <wsteal.h>

#define DEFAULT_N 30
#define MAX_N 60

struct fib {
    unsigned n;
    uint64_t result;
};

static int fib(void *arg)
{
    struct fib *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return 0;
    }
    struct fib a = {f->n - 1, 0};
    struct fib b = {f->n - 2, 0};
    const int code = ws_join(fib, &a, fib, &b);
    f->result = a.result + b.result;
    return code;
}

static uint64_t fib_iterative(unsigned n)
{
    uint64_t current = 0;
    uint64_t next = 1;
    for (; n > 0; n--) {
        const uint64_t sum = current + next;
        current = next;
        next = sum;
    }
    return current;
}

int main(int argc, char **argv)
{
    char *end = "";
    const long n = argc > 1 ? strtol(argv[1], &end, 10) : DEFAULT_N;
    if (argc > 2 || *end != '\0' || n < 0 || n > MAX_N) {
        fprintf(stderr, "usage: fib [N], N from 0 to %d\n", MAX_N);
        return 2;
    }
    struct fib f = {(unsigned)n, 0};
    const int code = ws_pool_install(NULL, fib, &f);
    const uint64_t expected = fib_iterative(f.n);
    printf("fib(%u) = %" PRIu64 "\n", f.n, f.result);
    if (code != 0 || f.result != expected) {
        fprintf(stderr, "fib: expected %" PRIu64 " (%s)\n", expected,
                ws_strerror(code));
    }
    const int destroyed = ws_pool_global_destroy();
    return code != 0 || f.result != expected || destroyed != WS_OK;
}
