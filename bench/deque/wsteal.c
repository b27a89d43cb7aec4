/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include <wsteal/deque.h>

#include "../support/thieves.h"
#include "deque.h"

static ws_worker *worker;
static ws_stealer *stealer;
static ws_worker *dests[THIEVES_MAX];

static void *to_item(uint64_t number)
{
    return (void *)(uintptr_t)number;
}

static uint64_t to_number(const void *item)
{
    return (uint64_t)(uintptr_t)item;
}

static void push_pop(deque_tally *tally)
{
    for (uint64_t i = 1; i <= deque_size; i++) {
        ws_worker_push(worker, to_item(i));
        deque_take(tally, to_number(ws_worker_pop(worker)));
    }
}

static void steal(deque_tally *tally)
{
    void *item;
    ws_steal found = WS_STEAL_RETRY;
    while (found != WS_STEAL_EMPTY) {
        found = ws_stealer_steal(stealer, &item);
        tally->calls++;
        if (found == WS_STEAL_SUCCESS) {
            tally->successes++;
            deque_take(tally, to_number(item));
        }
    }
}

static void steal_batches(deque_tally *tally, ws_worker *dest)
{
    void *item;
    ws_steal found = WS_STEAL_RETRY;
    while (found != WS_STEAL_EMPTY) {
        found = ws_stealer_steal_batch_and_pop(stealer, dest, &item);
        tally->calls++;
        if (found == WS_STEAL_SUCCESS) {
            tally->successes++;
            do {
                deque_take(tally, to_number(item));
                item = ws_worker_pop(dest);
            } while (item != NULL);
        }
    }
}

static void work(unsigned index)
{
    deque_tally tally = {0};
    if (deque_at < STEAL) {
        push_pop(&tally);
    } else if (deque_at == STEAL) {
        steal(&tally);
    } else {
        steal_batches(&tally, dests[index]);
    }
    deque_tallies[index] = tally;
}

static int setup(const bench_args *args)
{
    if (deque_setup(args) != 0 || thieves_start(deque_threads, work) != 0) {
        return 1;
    }
    ws_flavor flavor = deque_is_fifo() ? WS_FIFO : WS_LIFO;
    int code = ws_worker_create(&worker, flavor, NULL);
    if (code == WS_OK) {
        code = ws_worker_stealer(worker, &stealer);
    }
    for (unsigned i = 0; i < deque_threads && code == WS_OK; i++) {
        code = ws_worker_create(&dests[i], flavor, NULL);
    }
    return code;
}

static void prepare(void)
{
    uint64_t n = deque_at < STEAL ? DEQUE_BELOW : deque_size;
    uint64_t first = deque_at < STEAL ? deque_size : 0;
    while (ws_worker_pop(worker) != NULL) {
    }
    for (uint64_t i = 1; i <= n; i++) {
        ws_worker_push(worker, to_item(first + i));
    }
    thieves_gather();
}

static void teardown(void)
{
    thieves_stop();
    ws_stealer_release(stealer);
    ws_worker_destroy(worker);
    for (unsigned i = 0; i < deque_threads; i++) {
        ws_worker_destroy(dests[i]);
    }
    free(deque_tallies);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, prepare, thieves_run, deque_check, deque_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
