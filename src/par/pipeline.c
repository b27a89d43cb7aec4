/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pipeline.c: ws_pipeline: tokens that go round through the stages.
 *
 * There are max_in_flight *tokens*.  A token passes the source, which gives it
 * an item, and the other stages, and comes to the source again.  At any time it
 * is in one place: in the hands of a job (carry()), in the queues of the pool
 * as a job, parked in the slot of a serial stage (turn.h), or offered.
 *
 * What a job does with its token x at stage s:
 *   C1  s is serial: enter its turn, with x's number if s is ordered, else with
 *       a number drawn here.  Not its turn: x is parked, the job drops it.
 *   C2  call fn.  The source has no more: x ends here, with C3.
 *   C3  s is serial: leave.  If that brings a token y, which then has the turn
 *       of s and is past C1, somebody must go on with it:
 *   C4  y becomes a job, for whoever is idle, and the same job goes on with x,
 *       whose data is in this thread's cache.  (At the source: y is offered.)
 *   C5  x goes to the next stage, from the last one to the source.
 *   C6  s is the last stage, and y is there: x has ended its item, so the job
 *       brings x to the source (C1; with the turn, x is offered) and goes on
 *       with y.
 *
 * Offers.  A token that has the source's turn and nobody's attention is offered
 * to all: to jobs that have just brought an item to its end, which need no
 * queue for it, and by an invitation, a job, to idle workers.
 *   O1  offered = y.  There is one turn, so nothing is overwritten.
 *   O2  exchange invited = 1.  It was 0: spawn the invitation.
 *   I1  the invitation runs: exchange invited = 0.
 *   I2  exchange offered = NULL, and go on with what it was, if anything.
 *   T1  a job that has no token left does I2 alone.
 * A token that is offered is found: if O2 saw 1, the I1 that ends this 1 comes
 * after O2, and I2 after O1.  So while one is offered, an invitation is queued
 * or on its way to I2.  An invitation that finds nothing is harmless.
 *
 * Empty tokens.  An item that was taken out of the stream, or dropped after an
 * error, leaves its token without data.  It passes all ordered stages in its
 * turn, and nothing is called.  So turns never have gaps, and errors need no
 * protocol of their own.
 *
 * Each item passes each stage once: a token is in one place, and E1 and L1 of
 * turn.h hand it to one thread.  In order: the number of an ordered stage's
 * turn is the number that the source gave, and only the holder of turn i gives
 * turn i + 1.
 *
 * It goes on.  Of the tokens that have a number and have not passed a stage,
 * the one with the least number has the turn there or will have it when it
 * comes, since all before it have left; so it is not parked there.  The least
 * one that has not passed the last ordered stage is thus parked nowhere: it is
 * in a job or offered.  At an unordered stage the same holds for the numbers
 * drawn there.
 *
 * It ends once.  Nothing but the jobs of the scope has tokens, or will take the
 * one that is offered, so when the scope has no job, all tokens have ended: a
 * parked one would wait for a turn that the argument above says is in a job's
 * hands.  After the source has said its last word (`ended`, the property of the
 * source's turn) each token that comes there ends.
 *
 * Errors.  `code` is set once.  From then on no job calls an fn, so the job
 * that saw the error ends soon, and its code stops the scope, which is
 * fail-fast: ws_cancelled() is true in calls that still run, and jobs of other
 * tokens are dropped by the scope.  Such a token must go round all the same:
 * the drop callback does what the job would do.
 *
 * Memory out, a stopped scope, no pool: the spawn of C4 calls the job on top of
 * the spawning one.  It then does nothing but say so (`spawning`), and the
 * spawner keeps the token for later, so the stack stays flat.
 *
 * Layer: par.  See src/README.md, "Pipeline".
 */
#include <wsteal/pipeline.h>

#include <stdlib.h>

#include <wsteal/cancel.h>
#include <wsteal/scope.h>

#include "par/turn.h"

typedef struct token token;

/* What one call of ws_pipeline() shares; in the caller's frame. */
typedef struct {
    const ws_stage *stages;
    size_t n_stages;
    size_t n_tokens;
    wsi_turn *turns;        /* of each stage; parallel ones have none */
    token *tokens;          /* n_tokens */
    wsi_atomic_ptr *slots;  /* of all turns */
    struct ws_scope *scope; /* NULL: the body was not called */
    bool ended;             /* belongs to who has the source's turn */
    wsi_atomic_ptr offered; /* a token that has the source's turn, or NULL */
    wsi_atomic_u32 invited; /* 1: an invitation is queued */
    wsi_atomic_u32 stop;    /* 1: the scope has dropped a job */
    wsi_atomic_u32 code;    /* the first one that is not 0 */
} pipeline;

/* Belongs to who has it: see the list of places above. */
struct token {
    pipeline *line;
    token *next; /* in the list of a job */
    void *data;
    uint64_t number; /* of the item */
    uint64_t ticket; /* of the turn it has or is parked for */
    size_t slot;
    size_t stage; /* where it comes next */
    bool has_turn;
    char pad[64]; /* tokens of two threads share no cache line */
};

/* Items that a job begins before it ends, so that its worker looks at what else
 * the pool has to do.  In the model few, so that invitations are needed. */
#ifdef WSI_MODEL
#define ITEMS_PER_JOB 2
#else
#define ITEMS_PER_JOB 64
#endif

/* The argument with which this thread calls ws_scope_spawn_or_drop(). */
static WSI_THREAD_LOCAL const void *spawning;

/* ---- calls ----------------------------------------------------------- */

static bool is_stopped(const pipeline *line)
{
    /* relaxed, both: only decides what is called from now on */
    return wsi_u32_load_relaxed(&line->code) != 0 ||
           wsi_u32_load_relaxed(&line->stop) != 0 || ws_cancelled();
}

static void note(pipeline *line, int code)
{
    uint32_t none = 0;
    /* acq_rel: nothing is handed over; read when the scope has ended */
    wsi_u32_cas_acq_rel(&line->code, &none, (uint32_t)code);
}

/* Empties a token whose data the stage `from` has left. */
static void drop(token *t, const ws_stage *from)
{
    if (t->data != NULL && from->drop != NULL) {
        from->drop(t->data, from->arg);
    }
    t->data = NULL;
}

static int call(token *t, const ws_stage *stage)
{
    ws_pipeline_item item = {t->data, t->number, t->slot};
    int code = stage->fn(&item, stage->arg);
    t->data = item.data;
    return code;
}

/* The source's call.  False: the stream has ended. */
static bool call_source(token *t, int *code)
{
    pipeline *line = t->line;
    if (line->ended) {
        return false;
    }
    t->number = t->ticket;
    t->data = NULL;
    if (is_stopped(line)) {
        *code = WS_ECANCELED;
    } else {
        *code = call(t, &line->stages[0]);
    }
    line->ended = *code != 0 || t->data == NULL;
    return !line->ended;
}

/* The call of another stage; of a token that is not empty. */
static int call_stage(token *t)
{
    const ws_stage *stage = &t->line->stages[t->stage];
    int code = is_stopped(t->line) ? WS_ECANCELED : call(t, stage);
    if (code != 0) {
        drop(t, stage - 1);
    }
    return code;
}

/* ---- turns ----------------------------------------------------------- */

/* C1.  False: the token is parked. */
static bool enter(token *t)
{
    wsi_turn *turn = &t->line->turns[t->stage];
    if (t->has_turn) {
        t->has_turn = false;
        return true;
    }
    t->ticket =
        t->stage > 0 && t->line->stages[t->stage].kind == WS_STAGE_SERIAL
            ? t->number
            : wsi_turn_draw(turn);
    return wsi_turn_enter(turn, t->ticket, t);
}

/* C3 */
static token *leave(const token *t)
{
    token *next = wsi_turn_leave(&t->line->turns[t->stage], t->ticket);
    if (next != NULL) {
        next->has_turn = true;
    }
    return next;
}

/* An empty token is needed by ordered stages only. */
static bool passes_by(const token *t)
{
    return t->stage > 0 && t->data == NULL && !t->has_turn &&
           t->line->stages[t->stage].kind != WS_STAGE_SERIAL;
}

/* C1 to C3.  True: the caller still has the token.  *next: the caller has that
 * one, too. */
static bool visit(token *t, token **next, int *code)
{
    bool serial = t->line->stages[t->stage].kind != WS_STAGE_PARALLEL;
    bool stays = true;
    *next = NULL;
    *code = 0;
    if (passes_by(t)) {
        return true;
    }
    if (serial && !enter(t)) {
        return false;
    }
    if (t->stage == 0) {
        stays = call_source(t, code);
    } else if (t->data != NULL) {
        *code = call_stage(t);
    }
    if (*code != 0) {
        note(t->line, *code);
    }
    if (serial) {
        *next = leave(t);
    }
    return stays;
}

/* ---- jobs ------------------------------------------------------------ */

/* Whether this is the call of a job that could not be queued. */
static bool came_back(const void *arg)
{
    if (spawning != arg) {
        return false;
    }
    spawning = NULL;
    return true;
}

/* False: the job came back. */
static bool spawn(pipeline *line, ws_scope_fn fn, void *arg, ws_drop_fn on_drop)
{
    spawning = arg;
    ws_scope_spawn_or_drop(line->scope, fn, arg, on_drop);
    bool queued = spawning == arg;
    spawning = NULL;
    return queued;
}

/* The scope has dropped a job. */
static void stop(pipeline *line)
{
    /* relaxed: the scope says the same to all others */
    wsi_u32_store_relaxed(&line->stop, 1);
}

static int carry(token *t);

static int run_token(struct ws_scope *scope, void *arg)
{
    (void)scope;
    return came_back(arg) ? 0 : carry(arg);
}

static void drop_token(void *arg)
{
    token *t = arg;
    stop(t->line);
    if (!came_back(t)) {
        carry(t);
    }
}

/* ---- the source's turn ----------------------------------------------- */

/* T1.  The token that is offered, if any. */
static token *take(pipeline *line)
{
    /* relaxed: O1 is not missed for good, see I1 */
    if (wsi_ptr_load_relaxed(&line->offered) == NULL) {
        return NULL;
    }
    /* acq_rel: acquire pairs with O1 */
    return wsi_ptr_exchange_acq_rel(&line->offered, NULL);
}

static token *accept(pipeline *line)
{
    /* I1 acq_rel: pairs with O2 */
    wsi_u32_exchange_acq_rel(&line->invited, 0);
    /* I2 acq_rel: acquire pairs with O1 */
    return wsi_ptr_exchange_acq_rel(&line->offered, NULL);
}

static int run_invitation(struct ws_scope *scope, void *arg)
{
    (void)scope;
    token *t = came_back(arg) ? NULL : accept(arg);
    return t != NULL ? carry(t) : 0;
}

static void drop_invitation(void *arg)
{
    stop(arg);
    run_invitation(NULL, arg);
}

/* Returns a token that the caller must go on with, or NULL. */
static token *offer(token *t)
{
    pipeline *line = t->line;
    /* O1 release: pairs with T1 and I2; it was NULL, there is one turn */
    wsi_ptr_store_release(&line->offered, t);
    /* O2 acq_rel: release pairs with I1 */
    if (wsi_u32_exchange_acq_rel(&line->invited, 1) != 0 ||
        spawn(line, run_invitation, line, drop_invitation)) {
        return NULL;
    }
    return accept(line);
}

/* ---- a job ----------------------------------------------------------- */

typedef struct {
    token *later; /* tokens that the job has and goes on with later */
    int left;     /* of ITEMS_PER_JOB */
} job;

static void keep(job *j, token *t)
{
    if (t != NULL) {
        t->next = j->later;
        j->later = t;
    }
}

/* C4.  Gives a token away that has the turn of its stage. */
static void give(job *j, token *t)
{
    if (t->stage == 0) {
        keep(j, offer(t));
    } else if (spawn(t->line, run_token, t, drop_token)) {
        j->left = 0; /* the worker's newest job is the next thing to do */
    } else {
        keep(j, t);
    }
}

/* C4 and C5, with x that has passed its stage and y, or NULL.  Which of them
 * the caller goes on with. */
static token *move_on(job *j, token *x, token *y)
{
    x->stage = x->stage + 1 < x->line->n_stages ? x->stage + 1 : 0;
    if (y == NULL) {
        return x;
    }
    if (x->stage > 0 || y->stage == 0 || j->left <= 0) {
        give(j, y);
        return x;
    }
    /* C6 */
    j->left--;
    if (enter(x)) {
        x->has_turn = true;
        keep(j, offer(x));
    }
    return y;
}

/* Goes on with the token, and others that it gets, until it has none.  Returns
 * the first code of its calls. */
static int carry(token *t)
{
    pipeline *line = t->line;
    job j = {NULL, ITEMS_PER_JOB};
    int first = 0;
    while (t != NULL) {
        token *next;
        int code;
        bool stays = visit(t, &next, &code);
        first = first != 0 ? first : code;
        t = stays ? move_on(&j, t, next) : next;
        if (t == NULL && j.later != NULL) {
            t = j.later;
            j.later = t->next;
        } else if (t == NULL && --j.left > 0) {
            t = take(line);
        }
    }
    return first;
}

/* ---- the whole ------------------------------------------------------- */

static bool is_valid(size_t n, const ws_stage stages[])
{
    for (size_t i = 0; i < n; i++) {
        if (stages[i].fn == NULL ||
            stages[i].kind > WS_STAGE_SERIAL_UNORDERED) {
            return false;
        }
    }
    return n > 0 && stages[0].kind != WS_STAGE_PARALLEL;
}

static void release(pipeline *line)
{
    free(line->slots);
    free(line->tokens);
    free(line->turns);
}

/* False: memory is out, and nothing is left. */
static bool allocate(pipeline *line)
{
    size_t capacity = 1;
    size_t n_turns = 1; /* one at least: an array of none may be NULL */
    line->slots = NULL;
    if (line->n_tokens > SIZE_MAX / sizeof(*line->tokens)) {
        return false;
    }
    line->turns = calloc(line->n_stages, sizeof(*line->turns));
    line->tokens = calloc(line->n_tokens, sizeof(*line->tokens));
    if (line->turns != NULL && line->tokens != NULL) {
        /* A token is larger than two slots, so this cannot overflow. */
        while (capacity < line->n_tokens) {
            capacity *= 2;
        }
        for (size_t i = 0; i < line->n_stages; i++) {
            n_turns += line->stages[i].kind != WS_STAGE_PARALLEL;
        }
        line->slots = calloc(n_turns, capacity * sizeof(*line->slots));
    }
    if (line->slots == NULL) {
        release(line);
        return false;
    }
    wsi_atomic_ptr *slots = line->slots;
    for (size_t i = 0; i < line->n_stages; i++) {
        if (line->stages[i].kind != WS_STAGE_PARALLEL) {
            wsi_turn_init(&line->turns[i], slots, capacity - 1);
            slots += capacity;
        }
    }
    return true;
}

/* All tokens come to the source: the first has the turn, the others park. */
static void set_up(pipeline *line)
{
    for (size_t i = 0; i < line->n_tokens; i++) {
        token *t = &line->tokens[i];
        t->line = line;
        t->slot = i;
        t->ticket = wsi_turn_draw(&line->turns[0]);
        t->has_turn = wsi_turn_enter(&line->turns[0], t->ticket, t);
    }
}

static int run_first(struct ws_scope *scope, void *arg)
{
    pipeline *line = arg;
    line->scope = scope;
    return carry(&line->tokens[0]);
}

int ws_pipeline(size_t n, const ws_stage stages[], size_t max_in_flight)
{
    pipeline line = {
        .stages = stages, .n_stages = n, .n_tokens = max_in_flight};
    if (stages == NULL || max_in_flight == 0 || !is_valid(n, stages)) {
        return WS_EINVAL;
    }
    if (!allocate(&line)) {
        return WS_ENOMEM;
    }
    set_up(&line);
    int status = ws_scope_in(NULL, WS_SCOPE_FAIL_FAST, run_first, &line);
    /* relaxed: all jobs of the scope have ended before */
    int code = (int)wsi_u32_load_relaxed(&line.code);
    release(&line);
    return line.scope != NULL ? code : status;
}
