/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * foreign.c: threads that are no workers share one pool.
 *
 * Each of THREADS plain pthreads enters the pool ROUNDS times with
 * ws_pool_install() and sleeps until its sum is there; inside, ws_join()
 * divides the sum among all workers.  Each thread also leaves detached jobs
 * behind with ws_spawn(); nobody waits for these but ws_pool_destroy(), which
 * returns when all have run.  Their arguments must live until then.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <wsteal.h>

#define THREADS 8
#define ROUNDS 50
#define NUMBERS 100000
#define LEAF 1000

struct range {
    uint64_t begin, end, sum;
};

struct client {
    pthread_t thread;
    ws_pool *pool;
    atomic_uint *notes; /* how many detached jobs have run */
    uint64_t first;     /* the thread sums up first, first + 1, ... */
    int failures;
};

static int sum(void *arg)
{
    struct range *r = arg;
    if (r->end - r->begin <= LEAF) {
        for (uint64_t i = r->begin; i < r->end; i++) {
            r->sum += i;
        }
        return 0;
    }
    const uint64_t middle = r->begin + (r->end - r->begin) / 2;
    struct range low = {r->begin, middle, 0};
    struct range high = {middle, r->end, 0};
    const int code = ws_join(sum, &low, sum, &high);
    r->sum = low.sum + high.sum;
    return code;
}

static int note(void *arg)
{
    atomic_uint *notes = arg;
    atomic_fetch_add(notes, 1);
    return 0;
}

static void *run_client(void *arg)
{
    struct client *c = arg;
    const uint64_t expected =
        NUMBERS * c->first + (uint64_t)NUMBERS * (NUMBERS - 1) / 2;
    for (int i = 0; i < ROUNDS; i++) {
        struct range all = {c->first, c->first + NUMBERS, 0};
        const int code = ws_pool_install(c->pool, sum, &all);
        c->failures += code != WS_OK || all.sum != expected;
        c->failures += ws_spawn(c->pool, note, c->notes) != WS_OK;
    }
    return NULL;
}

int main(void)
{
    struct client clients[THREADS];
    atomic_uint notes = 0;
    unsigned started = 0;
    int failures = 0;
    ws_pool *pool;
    const int code = ws_pool_create(&pool, NULL);
    if (code != WS_OK) {
        fprintf(stderr, "foreign: no pool: %s\n", ws_strerror(code));
        return 1;
    }
    for (; started < THREADS; started++) {
        struct client *c = &clients[started];
        *c = (struct client){.pool = pool, .notes = &notes, .first = started};
        if (pthread_create(&c->thread, NULL, run_client, c) != 0) {
            break;
        }
    }
    failures += started != THREADS;
    for (unsigned i = 0; i < started; i++) {
        pthread_join(clients[i].thread, NULL);
        failures += clients[i].failures;
    }
    const unsigned workers = ws_pool_num_workers(pool);
    failures += ws_pool_destroy(pool) != WS_OK;
    /* The pool is gone: now every detached job must have run. */
    const unsigned noted = atomic_load(&notes);
    failures += noted != started * ROUNDS;
    printf("%u threads, %u workers: %u sums, %u detached jobs, %d failures\n",
           started, workers, started * ROUNDS, noted, failures);
    return failures != 0;
}
