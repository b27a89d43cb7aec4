/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * serial.c: plain arrays, for one thread.
 */
#include "deque.h"

static uint64_t *items;
static uint64_t batch[DEQUE_BATCH];
static uint64_t head;
static uint64_t tail;

static int setup(const bench_args *args)
{
    int code = deque_setup(args);
    deque_threads = 1;
    items = malloc((deque_size + DEQUE_BELOW) * sizeof(*items));
    return code != 0 || items == NULL;
}

/* What is in memory must stay there: items are not kept in registers. */
static inline void opaque(void)
{
    __asm__ volatile("" ::: "memory");
}

static void prepare(void)
{
    uint64_t n = deque_at < STEAL ? DEQUE_BELOW : deque_size;
    uint64_t first = deque_at < STEAL ? deque_size : 0;
    head = 0;
    for (tail = 0; tail < n; tail++) {
        items[tail] = first + tail + 1;
    }
}

static void push_pop(deque_tally *tally)
{
    for (uint64_t i = 1; i <= deque_size; i++) {
        items[tail++] = i;
        opaque();
        deque_take(tally, deque_is_fifo() ? items[head++] : items[--tail]);
        opaque();
    }
}

static void steal(deque_tally *tally)
{
    while (head < tail) {
        deque_take(tally, items[head++]);
        opaque();
    }
    tally->calls = tally->successes = deque_size;
}

static void steal_batches(deque_tally *tally)
{
    while (head < tail) {
        uint64_t n = tail - head < DEQUE_BATCH ? tail - head : DEQUE_BATCH;
        memcpy(batch, items + head, n * sizeof(*batch));
        head += n;
        tally->calls++;
        opaque();
        for (uint64_t i = 0; i < n; i++) {
            deque_take(tally, batch[i]);
        }
    }
    tally->successes = tally->calls;
}

static void sample(void)
{
    deque_tally tally = {0};
    if (deque_at < STEAL) {
        push_pop(&tally);
    } else if (deque_at == STEAL) {
        steal(&tally);
    } else {
        steal_batches(&tally);
    }
    deque_tallies[0] = tally;
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, prepare, sample, deque_check, deque_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
