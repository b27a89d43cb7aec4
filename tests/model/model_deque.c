/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_deque.c: the shipping deque under the model checker.
 *
 * One owner pushes and pops items with a plain payload while one or two thieves
 * steal; in the end every item was taken exactly once, by somebody who saw its
 * payload.  --arg selects the case, see `cases`.
 */
#include <pthread.h>

#include "loom.h"
#include "queue/deque.h"

#define ITEMS_MAX 6

typedef struct {
    int payload; /* plain: a missing hand-over is a data race */
    int taken;   /* plain: taken twice is a data race or a wrong sum */
} item;

typedef struct {
    const char *name;
    ws_flavor flavor;
    size_t capacity;
    uint64_t start;
    int before; /* items pushed before the thieves start */
    int early;  /* pops while they run, then */
    int during; /* pushes, then */
    int pops;   /* pops again */
    int thieves;
    int steals; /* attempts of each thief */
    wsi_steal_mode mode;
    bool batch;
} scenario;

/* The last indices before the 40-bit index wraps. */
#define WRAP (((uint64_t)1 << 40) - 2)

#define SCENARIO(name, flavor, capacity, start, before, early, during, pops,   \
                 thieves, steals, mode, batch)                                 \
    {                                                                          \
        name, flavor, capacity, start, before, early, during, pops, thieves,   \
            steals, mode, batch                                                \
    }

static const scenario cases[] = {
    SCENARIO("cooperative, 1 thief", WS_LIFO, 8, 0, 1, 0, 2, 3, 1, 2,
             WSI_STEAL_POLITE, false),
    SCENARIO("forced, 1 thief", WS_LIFO, 8, 0, 2, 0, 1, 3, 1, 2,
             WSI_STEAL_FORCE, false),
    SCENARIO("takeover, 2 thieves", WS_LIFO, 8, 0, 2, 0, 0, 2, 2, 1,
             WSI_STEAL_TAKEOVER, false),
    SCENARIO("cooperative, 2 thieves", WS_LIFO, 8, 0, 2, 0, 1, 2, 2, 1,
             WSI_STEAL_POLITE, false),
    SCENARIO("batch, 1 thief", WS_LIFO, 8, 0, 3, 0, 0, 3, 1, 1,
             WSI_STEAL_TAKEOVER, true),
    SCENARIO("growth and index wrap", WS_LIFO, 2, WRAP, 1, 0, 3, 2, 1, 2,
             WSI_STEAL_FORCE, false),
    SCENARIO("fifo, 1 thief", WS_FIFO, 8, 0, 2, 0, 1, 2, 1, 2,
             WSI_STEAL_TAKEOVER, false),
    SCENARIO("stalled exposer", WS_LIFO, 4, 0, 1, 1, 1, 0, 2, 1,
             WSI_STEAL_TAKEOVER, false),
    SCENARIO("seen through a pop", WS_LIFO, 8, 0, 0, 0, 3, 1, 1, 1,
             WSI_STEAL_TAKEOVER, false),
    SCENARIO("slot reuse", WS_LIFO, 2, 0, 1, 0, 2, 1, 1, 2, WSI_STEAL_TAKEOVER,
             false),
};

static wsi_deque deque;
static item items[ITEMS_MAX];
static const scenario *now;

static void take(item *it)
{
    if (it != NULL) {
        LOOM_CHECK(it->payload == 7);
        it->taken++;
    }
}

static void *thief_one_by_one(void *arg)
{
    (void)arg;
    for (int i = 0; i < now->steals; i++) {
        void *stolen;
        if (wsi_deque_steal(&deque, now->mode, &stolen) == WS_STEAL_SUCCESS) {
            take(stolen);
        }
    }
    return NULL;
}

static void *thief_by_batch(void *arg)
{
    wsi_deque mine;
    bool answered;
    void *stolen;
    (void)arg;
    LOOM_CHECK(wsi_deque_init(&mine, WS_LIFO, 4, 0));
    for (int i = 0; i < now->steals; i++) {
        if (wsi_deque_steal_batch(&deque, &mine, 4, now->mode, &stolen,
                                  &answered) == WS_STEAL_SUCCESS) {
            take(stolen);
            while ((stolen = wsi_deque_pop(&mine)) != NULL) {
                take(stolen);
            }
        }
    }
    wsi_deque_destroy(&mine);
    return NULL;
}

static void push(int i)
{
    items[i].payload = 7;
    LOOM_CHECK(wsi_deque_push(&deque, &items[i]) != WSI_PUSH_FULL);
}

void model_main(void)
{
    pthread_t thieves[2];
    item *left;
    now = &cases[loom_arg(0, 0)];
    LOOM_CHECK(wsi_deque_init(&deque, now->flavor, now->capacity, now->start));
    for (int i = 0; i < now->before; i++) {
        push(i);
    }
    for (int i = 0; i < now->thieves; i++) {
        pthread_create(&thieves[i], NULL,
                       now->batch ? thief_by_batch : thief_one_by_one, NULL);
    }
    for (int i = 0; i < now->early; i++) {
        take(wsi_deque_pop(&deque));
    }
    for (int i = 0; i < now->during; i++) {
        push(now->before + i);
    }
    for (int i = 0; i < now->pops; i++) {
        take(wsi_deque_pop(&deque));
    }
    for (int i = 0; i < now->thieves; i++) {
        pthread_join(thieves[i], NULL);
    }
    while ((left = wsi_deque_pop(&deque)) != NULL) {
        take(left);
    }
    for (int i = 0; i < now->before + now->during; i++) {
        LOOM_CHECK(items[i].taken == 1);
    }
    wsi_deque_destroy(&deque);
}
