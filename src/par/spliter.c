/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * spliter.c: drives spliters; contract in wsteal/spliter.h.
 *
 * One job per spliter that was given away, one loop per job.  A job and its
 * spliter are one block of bytes, copied into the scope's record.
 *
 * No recursion: a job never calls another.  Where memory is out the scope runs
 * the new job on top of the spawn; such a job does not divide (`in_spawn`).
 *
 * Layer: par.  See src/README.md, "Spliters".
 */
#include "par/spliter.h"

#include <stdlib.h>
#include <string.h>

#include <wsteal/cancel.h>
#include <wsteal/task.h>

/* A block is long enough when it takes so many ns: a clock and a look at
 * ws_hungry() are 30 ns, 1 % of what it then takes on average. */
#define BLOCK_MIN_NS 2000
/* And too long, above that. */
#define BLOCK_MAX_NS 10000
#define DEFAULT_MAX_UNITS 65536

void *(*wsi_par_malloc)(size_t size) = malloc;

/* A spliter on its way to another worker; its bytes follow. */
typedef struct {
    wsi_spliter_run *run;
    int32_t from; /* index of the worker that has split it off */
    uint32_t budget;
} job;

_Static_assert(sizeof(job) <= 16, "job and a small spliter fit into 96 bytes");
#define JOB_BYTES 16

/* What a job needs to drive its spliter. */
typedef struct {
    wsi_spliter_run *run;
    struct ws_scope *scope;
    void *it;
    char *parcel;    /* for halves of large spliters, or NULL */
    uint32_t budget; /* splits to be made although nobody asks */
    bool may_split;
} driver;

/* Spawns of this thread that are on its stack right now. */
static WSI_THREAD_LOCAL unsigned in_spawn;

bool wsi_spliter_init(wsi_spliter_run *run, const ws_spliter_ops *ops,
                      const ws_spliter_options *options)
{
    run->ops = ops;
    run->arg = options->arg;
    run->min_units = options->min_units > 0 ? options->min_units : 1;
    run->max_units = options->max_units > 0               ? options->max_units
                     : run->min_units > DEFAULT_MAX_UNITS ? run->min_units
                                                          : DEFAULT_MAX_UNITS;
    run->after_block = NULL;
    wsi_u32_init(&run->code, 0);
    wsi_u64_init(&run->blocks, 0);
    wsi_u64_init(&run->tried, 0);
    wsi_u64_init(&run->splits, 0);
    return run->min_units <= run->max_units;
}

void wsi_spliter_note(wsi_spliter_run *run, int code)
{
    uint32_t none = 0;
    if (code != 0) {
        /* release: pairs with wsi_spliter_code() */
        wsi_u32_cas_acq_rel(&run->code, &none, (uint32_t)code);
    }
}

static void drive(driver *d);

static int run_job(struct ws_scope *scope, void *arg)
{
    job *j = arg;
    driver d = {.run = j->run,
                .scope = scope,
                .it = (char *)arg + JOB_BYTES,
                .budget = j->budget,
                .may_split = in_spawn == 0};
    const unsigned outer = in_spawn;
    /* A half that was taken: whoever took it may have hungry neighbours. */
    const int here = ws_current_index();
    if (here >= 0 && here != j->from) {
        const unsigned workers = ws_current_num_workers();
        if (workers > 1 && d.budget < workers) {
            d.budget = workers;
        }
    }
    in_spawn = 0;
    drive(&d);
    in_spawn = outer;
    return wsi_spliter_code(d.run);
}

/* The scope has stopped before the job started. */
static void drop_job(void *arg)
{
    job *j = arg;
    wsi_spliter_note(j->run, WS_ECANCELED);
    j->run->ops->drop((char *)arg + JOB_BYTES);
}

static int send(struct ws_scope *scope, char *parcel, size_t bytes)
{
    in_spawn++;
    int status = ws_scope_spawn_copy_or_drop(scope, run_job, parcel,
                                             JOB_BYTES + bytes, drop_job);
    in_spawn--;
    return status;
}

static void address(char *parcel, wsi_spliter_run *run, uint32_t budget)
{
    const job j = {run, ws_current_index(), budget};
    memset(parcel, 0, JOB_BYTES);
    memcpy(parcel, &j, sizeof(j));
}

/* The half is on our hands: memory is out. */
static void do_it_here(const driver *d, void *half)
{
    driver own = {.run = d->run, .scope = d->scope, .it = half};
    drive(&own);
}

static bool give_half(driver *d)
{
    _Alignas(16) char small[JOB_BYTES + WS_SPLITER_SMALL];
    wsi_spliter_run *run = d->run;
    const size_t bytes = run->ops->bytes;
    char *parcel = small;
    if (bytes > WS_SPLITER_SMALL) {
        if (d->parcel == NULL) {
            d->parcel = wsi_par_malloc(JOB_BYTES + bytes);
        }
        parcel = d->parcel;
    }
    if (parcel == NULL) {
        return false;
    }
    /* relaxed: statistics */
    wsi_u64_fetch_add_relaxed(&run->tried, 1);
    if (!run->ops->split(d->it, parcel + JOB_BYTES)) {
        return false;
    }
    /* relaxed: statistics */
    wsi_u64_fetch_add_relaxed(&run->splits, 1);
    address(parcel, run, d->budget);
    if (send(d->scope, parcel, bytes) != WS_OK) {
        do_it_here(d, parcel + JOB_BYTES);
    }
    return true;
}

/* `left` units are.  Gives away as much as is asked for. */
static void divide(driver *d, size_t left)
{
    const size_t least = d->run->min_units;
    while (d->may_split && left > least && left - least >= least) {
        const bool by_budget = d->budget > 0;
        if (!by_budget && ws_hungry() <= 0) {
            return;
        }
        d->budget /= 2;
        if (!give_half(d)) {
            d->budget = 0;
            return;
        }
        left = d->run->ops->size(d->it);
    }
}

static size_t next_block(const wsi_spliter_run *run, size_t block,
                         uint64_t took_ns)
{
    if (took_ns < BLOCK_MIN_NS) {
        return block <= run->max_units / 2 ? 2 * block : run->max_units;
    }
    if (took_ns > BLOCK_MAX_NS) {
        return block / 2 > run->min_units ? block / 2 : run->min_units;
    }
    return block;
}

/* To its end, and drops it. */
static void drive(driver *d)
{
    wsi_spliter_run *run = d->run;
    const ws_spliter_ops *ops = run->ops;
    size_t block = run->min_units;
    uint64_t begun_ns = ws_clock_ns();
    uint64_t blocks = 0;
    for (size_t left; (left = ops->size(d->it)) > 0;) {
        if (wsi_spliter_code(run) != 0 || ws_cancelled()) {
            wsi_spliter_note(run, WS_ECANCELED);
            break;
        }
        divide(d, left);
        wsi_spliter_note(run, ops->advance(d->it, block, run->arg));
        const uint64_t now_ns = ws_clock_ns();
        if (run->after_block != NULL) {
            run->after_block(d->it, now_ns, run->arg);
        }
        block = next_block(run, block, now_ns - begun_ns);
        begun_ns = now_ns;
        blocks++;
    }
    ops->drop(d->it);
    free(d->parcel);
    /* relaxed: statistics, read when all jobs are done */
    wsi_u64_fetch_add_relaxed(&run->blocks, blocks);
}

void wsi_spliter_spawn(wsi_spliter_run *run, struct ws_scope *scope,
                       const void *it)
{
    _Alignas(16) char parcel[JOB_BYTES + WS_SPLITER_SMALL];
    address(parcel, run, 0);
    memcpy(parcel + JOB_BYTES, it, run->ops->bytes);
    /* Cannot fail: a small copy needs no memory. */
    send(scope, parcel, run->ops->bytes);
}

/* ---- the public call ------------------------------------------------- */

typedef struct {
    wsi_spliter_run run;
    void *it;
    bool begun;
} whole;

static int run_root(struct ws_scope *scope, void *arg)
{
    whole *w = arg;
    driver d = {.run = &w->run, .scope = scope, .it = w->it, .may_split = true};
    const unsigned outer = in_spawn;
    const unsigned workers =
        ws_current_index() >= 0 ? ws_current_num_workers() : 1;
    d.budget = workers > 1 ? workers : 0;
    w->begun = true;
    in_spawn = 0;
    drive(&d);
    in_spawn = outer;
    return wsi_spliter_code(&w->run);
}

static void report(const wsi_spliter_run *run, ws_spliter_stats *stats)
{
    if (stats != NULL) {
        /* relaxed, all: the jobs are done */
        stats->blocks = wsi_u64_load_relaxed(&run->blocks);
        stats->splits_tried = wsi_u64_load_relaxed(&run->tried);
        stats->splits = wsi_u64_load_relaxed(&run->splits);
    }
}

static bool complete(const ws_spliter_ops *ops)
{
    return ops != NULL && ops->bytes > 0 && ops->size != NULL &&
           ops->split != NULL && ops->advance != NULL && ops->drop != NULL;
}

int ws_spliter_run(const ws_spliter_ops *ops, void *it,
                   const ws_spliter_options *options)
{
    ws_spliter_options o = WS_SPLITER_OPTIONS_INIT;
    whole w = {.it = it};
    if (options != NULL) {
        const size_t given = options->struct_size;
        memcpy(&o, options, given < sizeof(o) ? given : sizeof(o));
    }
    if (!complete(ops) || it == NULL || !wsi_spliter_init(&w.run, ops, &o)) {
        return WS_EINVAL;
    }
    int status = ws_scope_in(o.pool, WS_SCOPE_FAIL_FAST, run_root, &w);
    if (!w.begun) {
        ops->drop(it);
    }
    report(&w.run, o.stats);
    const int code = wsi_spliter_code(&w.run);
    return code != 0 ? code : status;
}
