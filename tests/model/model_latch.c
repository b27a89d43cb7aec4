/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_latch.c: an example of a model test, and the check that the mini-loom
 * sees dead stack frames.
 *
 * The latch lies in the frame of its waiter.  The setter may touch it no more
 * once it is set, for the waiter may have returned by then.  The bad twin
 * (-DBUG) reads it after the set to learn whether to wake.
 *
 *   setter                           waiter
 *   payload = 7                      latch.state = UNSET
 *   old = exchange(state, SET)       futex_wait until state == SET
 *   old == SLEEPING: futex_wake      return
 */
#include <pthread.h>

#include "loom.h"
#include "port/atomic.h"
#include "port/platform.h"

enum {
    UNSET,
    SLEEPING,
    SET
};

typedef struct {
    wsi_atomic_u32 state;
} latch;

static wsi_atomic_ptr mailbox;
static int payload;

static void latch_set(latch *l)
{
    const wsi_atomic_u32 *word = &l->state;
    /* acq_rel: release pairs with the acquire loads of latch_wait */
    uint32_t old = wsi_u32_exchange_acq_rel(&l->state, SET);
#ifdef BUG
    old = wsi_u32_load_relaxed(&l->state) == SET ? SLEEPING : old;
#endif
    if (old == SLEEPING) {
        wsi_futex_wake(word, 1);
    }
}

static void latch_wait(latch *l)
{
    uint32_t expected = UNSET;
    /* acquire on failure: pairs with the exchange of latch_set */
    if (!wsi_u32_cas_acq_rel(&l->state, &expected, SLEEPING)) {
        return;
    }
    /* acquire: pairs with the exchange of latch_set */
    while (wsi_u32_load_acquire(&l->state) != SET) {
        wsi_futex_wait(&l->state, SLEEPING, UINT64_MAX);
    }
}

static void *setter(void *arg)
{
    latch *l;
    (void)arg;
    /* acquire: pairs with the release in wait_in_frame */
    while ((l = wsi_ptr_load_acquire(&mailbox)) == NULL) {
        wsi_cpu_relax();
    }
    payload = 7;
    latch_set(l);
    return NULL;
}

/* Its frame holds the latch, and is gone as soon as it is set. */
__attribute__((noinline)) static void wait_in_frame(void)
{
    latch l;
    wsi_u32_init(&l.state, UNSET);
    loom_name(&l.state, "latch");
    /* release: pairs with the acquire in setter */
    wsi_ptr_store_release(&mailbox, &l);
    latch_wait(&l);
}

void model_main(void)
{
    pthread_t thread;
    loom_name(&mailbox, "mailbox");
    pthread_create(&thread, NULL, setter, NULL);
    wait_in_frame();
    LOOM_CHECK(payload == 7);
    pthread_join(thread, NULL);
}
