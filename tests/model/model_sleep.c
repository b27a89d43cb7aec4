/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_sleep.c: the shipping sleep module and deque under the model checker.
 *
 * A busy worker pushes jobs and then does nothing for ever; sleepers search,
 * sleep and take one job each.  A job that stays queued while a sleeper sleeps
 * is a deadlock, which the checker reports.  --arg selects the case:
 *
 *   0  1 sleeper, 1 job pushed
 *   1  2 sleepers, 1 pusher, 2 jobs pushed: needs the hand-over of the watch
 *   2  1 sleeper, 1 job injected by a foreign thread
 *   3  2 sleepers, 2 jobs injected
 *   4  a waiter sleeps on its latch; the latch is set; its frame dies at once
 *   5  as 4, blocked on the latch alone
 *   6  as 1, the sleepers have a head start
 *   7  1 sleeper; a job is pushed on an old poison and popped, one more pushed
 *   8  1 sleeper; two jobs are public, the owner takes back the newer one
 */
#include <pthread.h>

#include "core/latch.h"
#include "core/sleep.h"
#include "loom.h"
#include "queue/deque.h"
#include "queue/injector.h"

#define SLEEPERS_MAX 2
#define PUSHER SLEEPERS_MAX

static wsi_sleep sleep_module;
static wsi_parker parkers[SLEEPERS_MAX + 1];
static wsi_deque deque; /* the pusher's */
static wsi_injector injector;
static wsi_atomic_ptr mailbox;
static int payload;
static wsi_atomic_u32 never_called;
static int jobs[3];

static void ask(void *pool)
{
    (void)pool;
    wsi_deque_poison(&deque);
}

static bool look(void *pool, unsigned self)
{
    (void)self;
    (void)pool;
    return wsi_deque_has_work(&deque) || wsi_injector_len(&injector) > 0;
}

static const wsi_sleep_ops ops = {ask, look, NULL};

static int *find(void)
{
    void *job;
    if (wsi_deque_steal(&deque, WSI_STEAL_TAKEOVER, &job) == WS_STEAL_SUCCESS ||
        wsi_injector_steal(&injector, &job) == WS_STEAL_SUCCESS) {
        return job;
    }
    return NULL;
}

/* Searches and sleeps until it has one job. */
static void *sleeper(void *arg)
{
    unsigned self = (unsigned)((wsi_parker *)arg - parkers);
    wsi_latch never;
    int *job;
    wsi_latch_init(&never, wsi_latch_new(self));
    wsi_sleep_begin_search(&sleep_module);
    while ((job = find()) == NULL) {
        wsi_sleep_block(&sleep_module, self, &never, &ops, UINT64_MAX);
        wsi_cpu_relax();
    }
    wsi_sleep_end_search(&sleep_module, self, &ops);
    LOOM_CHECK(*job == 7);
    *job = 8;
    return NULL;
}

static void announce(void)
{
    wsi_sleep_announce_jobs(&sleep_module, PUSHER);
}

static void push_job(int i)
{
    jobs[i] = 7;
    if (wsi_deque_push(&deque, &jobs[i]) == WSI_PUSH_ANSWERED) {
        announce();
    }
}

static void push_jobs(int n)
{
    if (loom_arg(0, 0) == 6) {
        loom_pause();
    }
    for (int i = 0; i < n; i++) {
        push_job(i);
    }
}

static void push_pop_push(int n)
{
    (void)n;
    wsi_deque_poison(&deque);
    push_job(0);
    if (wsi_deque_pop(&deque) != NULL) {
        push_job(0);
    }
}

static void take_one_back(int n)
{
    (void)n;
    push_job(0);
    push_job(1);
    wsi_deque_poison(&deque);
    push_job(2);
    for (int i = 2; i > 0; i--) {
        int *popped = wsi_deque_pop(&deque);
        /* A sleeper takes one job only: the oldest. */
        LOOM_CHECK(popped == &jobs[i]);
    }
}

static void inject_jobs(int n)
{
    for (int i = 0; i < n; i++) {
        jobs[i] = 7;
        LOOM_CHECK(wsi_injector_push(&injector, &jobs[i]));
        loom_fence_seq_cst();
        announce();
    }
}

static void sleepers(int n, void (*feed)(int n))
{
    pthread_t threads[SLEEPERS_MAX];
    for (int i = 0; i < n; i++) {
        pthread_create(&threads[i], NULL, sleeper, &parkers[i]);
    }
    feed(n);
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < n; i++) {
        LOOM_CHECK(jobs[i] == 8);
    }
}

static void *latch_setter(void *arg)
{
    wsi_latch *latch;
    (void)arg;
    /* acquire: pairs with the release in wait_in_frame() */
    while ((latch = wsi_ptr_load_acquire(&mailbox)) == NULL) {
        wsi_cpu_relax();
    }
    payload = 7;
    wsi_sleep_set_latch(&sleep_module, latch);
    return NULL;
}

__attribute__((noinline)) static void wait_in_frame(bool alone)
{
    wsi_latch latch;
    wsi_latch_init(&latch, wsi_latch_new(0));
    /* release: pairs with the acquire in latch_setter() */
    wsi_ptr_store_release(&mailbox, &latch);
    wsi_sleep_begin_search(&sleep_module);
    while (!wsi_latch_is_set(&latch)) {
        if (alone) {
            wsi_sleep_block_on_latch(&sleep_module, 0, &latch, &never_called,
                                     UINT64_MAX);
        } else {
            wsi_sleep_block(&sleep_module, 0, &latch, &ops, UINT64_MAX);
        }
        wsi_cpu_relax();
    }
    wsi_sleep_end_search(&sleep_module, 0, &ops);
}

static void latch_waiter(bool alone)
{
    pthread_t thread;
    pthread_create(&thread, NULL, latch_setter, NULL);
    wait_in_frame(alone);
    LOOM_CHECK(payload == 7);
    pthread_join(thread, NULL);
}

void model_main(void)
{
    long which = loom_arg(0, 0);
    LOOM_CHECK(wsi_deque_init(&deque, WS_LIFO, 4, 0));
    LOOM_CHECK(wsi_injector_init(&injector, 0));
    /* The event counter starts just before it wraps. */
    wsi_sleep_init(&sleep_module, parkers, SLEEPERS_MAX + 1, UINT32_MAX);
    if (which < 2) {
        sleepers((int)which + 1, push_jobs);
    } else if (which == 6) {
        sleepers(2, push_jobs);
    } else if (which == 7) {
        sleepers(1, push_pop_push);
    } else if (which == 8) {
        sleepers(1, take_one_back);
    } else if (which < 4) {
        sleepers((int)which - 1, inject_jobs);
    } else {
        latch_waiter(which == 5);
    }
    wsi_deque_destroy(&deque);
    wsi_injector_destroy(&injector);
}
