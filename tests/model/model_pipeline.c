/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_pipeline.c: the shipping par/pipeline.c and par/turn.h on the
 * mini-loom.
 *
 * The scope is a stand-in with room for one job: the main thread runs the body
 * and then what is queued, a helper runs what is queued; a job that finds the
 * place taken comes back to who spawned it, as when memory is out.  It orders
 * the spawn before the job, the jobs before the end, and nothing else.
 *
 * Items are plain words, so that a hand-over that orders too little is a data
 * race; a lost one is a livelock or an item that has not passed; the order and
 * the number of calls of each stage are checked.
 *
 *   --arg 0  source and sink, two items, two in flight
 *   --arg 1  the same, three items, and a parallel stage between
 *   --arg 2  the last stage is parallel: items end out of order, three items
 *   --arg 3  an unordered stage between source and sink, two items
 *   --arg 4  as 1, item 0 fails in the parallel stage
 *   --arg 5  three serial stages, three items in flight: spawns come back
 *   --arg 6  one in flight, three items
 *   --arg 7  as 2, five items: one may be late while the ring goes round
 */
#include <pthread.h>
#include <stdlib.h>

#include <wsteal/cancel.h>
#include <wsteal/pipeline.h>
#include <wsteal/scope.h>

#include "loom.h"
#include "port/atomic.h"

enum {
    ITEMS = 5,
    STAGES = 3
};

/* ---- the scope ------------------------------------------------------- */

/* A job that waits to be run; one for each spawn. */
typedef struct {
    ws_scope_fn fn;
    ws_drop_fn drop;
    void *arg;
} job;

struct ws_scope {
    wsi_atomic_ptr queued; /* a job, or NULL */
    wsi_atomic_u32 left;   /* jobs that are not done, the body included */
    wsi_atomic_u32 stopped;
};

static struct ws_scope scope;

static void end_job(int code)
{
    if (code != 0) {
        /* release: pairs with the acquire in ws_cancelled() and call_job() */
        wsi_u32_store_release(&scope.stopped, 1);
    }
    /* acq_rel: release pairs with the acquire in work() */
    wsi_u32_fetch_sub_acq_rel(&scope.left, 1);
}

static void call_job(const job *j)
{
    /* acquire: pairs with the release in end_job() */
    if (wsi_u32_load_acquire(&scope.stopped) != 0) {
        j->drop(j->arg);
        end_job(0);
    } else {
        end_job(j->fn(&scope, j->arg));
    }
}

int ws_scope_spawn_or_drop(struct ws_scope *to, ws_scope_fn fn, void *arg,
                           ws_drop_fn drop)
{
    void *none = NULL;
    job *j = malloc(sizeof(*j));
    LOOM_CHECK(to == &scope);
    *j = (job){fn, drop, arg};
    /* relaxed: the caller's job keeps it above 0 */
    wsi_u32_fetch_add_relaxed(&scope.left, 1);
    /* acquire: as in call_job()
     * acq_rel: release pairs with the exchange in work() */
    if (wsi_u32_load_acquire(&scope.stopped) != 0 ||
        !wsi_ptr_cas_acq_rel(&scope.queued, &none, j)) {
        call_job(j);
    }
    return WS_OK;
}

int ws_cancelled(void)
{
    /* acquire: pairs with the release in end_job() */
    return wsi_u32_load_acquire(&scope.stopped) != 0;
}

/* Until no job is left. */
static void *work(void *arg)
{
    (void)arg;
    /* acquire: pairs with the release in end_job() */
    while (wsi_u32_load_acquire(&scope.left) != 0) {
        /* acq_rel: acquire pairs with the spawn */
        const job *j = wsi_ptr_exchange_acq_rel(&scope.queued, NULL);
        if (j != NULL) {
            call_job(j);
        } else {
            loom_pause();
        }
    }
    return NULL;
}

int ws_scope_in(ws_pool *pool, unsigned flags, ws_scope_fn body, void *arg)
{
    pthread_t helper;
    LOOM_CHECK(pool == NULL && flags == WS_SCOPE_FAIL_FAST);
    wsi_u32_init(&scope.left, 1);
    pthread_create(&helper, NULL, work, NULL);
    end_job(body(&scope, arg));
    work(NULL);
    pthread_join(helper, NULL);
    return 0;
}

/* ---- the stages ------------------------------------------------------ */

static struct {
    unsigned passed; /* stages */
    unsigned dropped;
} items[ITEMS];

static unsigned calls[STAGES]; /* of serial stages: plain */
static unsigned kinds[STAGES];
static unsigned n_items;
static long failing = -1; /* the item that fails in stage 1 */

static int call(ws_pipeline_item *item, void *arg)
{
    const unsigned *kind = arg;
    const unsigned s = (unsigned)(kind - kinds);
    const uint64_t number = item->number;
    if (*kind == WS_STAGE_SERIAL) {
        LOOM_CHECK(number == calls[s]);
    }
    if (*kind != WS_STAGE_PARALLEL) {
        calls[s]++;
    }
    if (s == 0) {
        LOOM_CHECK(item->data == NULL && number <= n_items);
        item->data = number < n_items ? &items[number] : NULL;
    }
    if (item->data != NULL) {
        LOOM_CHECK(item->data == &items[number]);
        LOOM_CHECK(items[number].passed == s && items[number].dropped == 0);
        if (s == 1 && (long)number == failing) {
            return 7;
        }
        items[number].passed++;
    }
    return 0;
}

static void drop(void *data, void *arg)
{
    const unsigned s = (unsigned)((unsigned *)arg - kinds);
    for (unsigned i = 0; i < n_items; i++) {
        if (data == &items[i]) {
            LOOM_CHECK(items[i].passed == s + 1);
            items[i].dropped++;
        }
    }
}

static void run(unsigned n_stages, size_t max_in_flight)
{
    ws_stage stages[STAGES];
    for (unsigned s = 0; s < n_stages; s++) {
        stages[s] = (ws_stage){kinds[s], call, &kinds[s], drop};
    }
    const int code = ws_pipeline(n_stages, stages, max_in_flight);
    LOOM_CHECK(code == (failing >= 0 ? 7 : 0));
    for (unsigned i = 0; i < n_items; i++) {
        const bool ended = items[i].passed == n_stages;
        const bool made = items[i].passed > 0;
        LOOM_CHECK(ended || failing >= 0);
        LOOM_CHECK(items[i].dropped == (made && !ended));
    }
    LOOM_CHECK(failing >= 0 || calls[0] == n_items + 1);
}

void model_main(void)
{
    const long which = loom_arg(0, 0);
    size_t max_in_flight = 2;
    unsigned n_stages = STAGES;
    n_items = which == 0 || which == 3 ? 2 : 3;
    kinds[1] = WS_STAGE_PARALLEL;
    switch (which) {
    case 0:
        n_stages = 2;
        kinds[1] = WS_STAGE_SERIAL;
        break;
    case 2:
        n_stages = 2;
        break;
    case 7:
        n_stages = 2;
        n_items = 5;
        break;
    case 3:
        kinds[1] = WS_STAGE_SERIAL_UNORDERED;
        break;
    case 4:
        failing = 0;
        break;
    case 5:
        kinds[1] = WS_STAGE_SERIAL;
        max_in_flight = 3;
        break;
    case 6:
        max_in_flight = 1;
        break;
    default:
        break;
    }
    run(n_stages, max_in_flight);
}
