/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * deque.h: items 1 to n through a deque.
 *
 * push_pop_*: the owner pushes one and pops one, 16 others being there.  The
 * other points: thieves, one for each worker, drain the deque, which nobody
 * else uses meanwhile; batches go into a deque of the thief's own, of the same
 * flavor, which it empties before it comes again.
 */
#ifndef BENCH_DEQUE_DEQUE_H
#define BENCH_DEQUE_DEQUE_H

#include <stdlib.h>
#include <string.h>

#include "../support/runner.h"

#define DEQUE_BELOW 16
#define DEQUE_BATCH 32

typedef enum {
    PUSH_POP_LIFO,
    PUSH_POP_FIFO,
    STEAL,
    BATCH_FIFO,
    BATCH_LIFO,
    DEQUE_POINTS
} deque_point;

/* What one thread got. */
typedef struct {
    uint64_t calls;
    uint64_t successes;
    uint64_t items;
    uint64_t sum;
    uint64_t squares;
} deque_tally;

static uint64_t deque_size;
static deque_point deque_at;
static unsigned deque_threads;
static deque_tally *deque_tallies;

static int deque_setup(const bench_args *args)
{
    static const char *const names[DEQUE_POINTS] = {
        "push_pop_lifo", "push_pop_fifo", "steal", "batch_fifo", "batch_lifo",
    };
    deque_at = PUSH_POP_LIFO;
    while (deque_at < DEQUE_POINTS &&
           strcmp(names[deque_at], args->point) != 0) {
        deque_at++;
    }
    deque_size = args->size;
    deque_threads = deque_at < STEAL ? 1 : args->workers;
    deque_tallies = calloc(deque_threads, sizeof(*deque_tallies));
    return deque_at == DEQUE_POINTS || deque_tallies == NULL;
}

static inline int deque_is_fifo(void)
{
    return deque_at == PUSH_POP_FIFO || deque_at == BATCH_FIFO;
}

static inline void deque_take(deque_tally *tally, uint64_t item)
{
    tally->items++;
    tally->sum += item;
    tally->squares += item * item;
}

static uint64_t deque_check(void)
{
    deque_tally all = {0};
    for (unsigned i = 0; i < deque_threads; i++) {
        all.calls += deque_tallies[i].calls;
        all.successes += deque_tallies[i].successes;
        all.items += deque_tallies[i].items;
        all.sum += deque_tallies[i].sum;
        all.squares += deque_tallies[i].squares;
    }
    if (deque_at >= STEAL) {
        bench_value("calls_per_item", (double)all.calls / (double)all.items);
        bench_value("items_per_success",
                    (double)all.items / (double)all.successes);
    }
    return all.items + 3 * all.sum + 5 * all.squares;
}

static uint64_t deque_units(void)
{
    return deque_size;
}

#endif
