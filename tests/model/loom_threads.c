/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_threads.c: fibers and the scheduler.
 *
 * Each thread of the test is a fiber with a stack of its own; one runs at a
 * time.  A fiber lives on after its thread has ended and serves the same
 * thread number in the next run; only the first switch to it needs ucontext,
 * all others are a setjmp/longjmp pair, which enters no kernel.
 *
 * Taking the processor from a thread that could go on costs one preemption, of
 * which the search allows few.  A thread in loom_pause() waits for a step of
 * another one; while an unpaused thread is ready, running a paused one costs a
 * preemption, and among paused ones the longest waiting goes first (running
 * another one costs a preemption, too).  So waiting loops cannot starve the
 * thread that they wait for.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* _setjmp, ucontext */
#endif
#include <string.h>

#include "loom_internal.h"

/* ---- switching ----------------------------------------------------------- */

static void fiber_main(void);

static void swap_tls(loom_thread *from, const loom_thread *to)
{
    if (loom->tls_size > 0) {
        memcpy(from->tls, loom->tls, loom->tls_size);
        memcpy(loom->tls, to->tls, loom->tls_size);
    }
}

_Noreturn static void resume(loom_thread *thread)
{
    if (thread->live) {
        _longjmp(thread->resume, 1);
    }
    thread->live = true;
    setcontext(&thread->boot);
    __builtin_unreachable();
}

static void switch_to(int next)
{
    if (next == loom->current) {
        return;
    }
    loom_thread *from = loom_self();
    loom_thread *to = &loom->thread[next];
    swap_tls(from, to);
    loom->current = next;
    if (_setjmp(from->resume) == 0) {
        resume(to);
    }
}

void loom_run_fibers(void)
{
    if (_setjmp(loom->explorer) == 0) {
        loom->current = 0;
        if (loom->tls_size > 0) {
            memcpy(loom->tls, loom->thread[0].tls, loom->tls_size);
        }
        resume(&loom->thread[0]);
    }
}

/* ---- candidates ---------------------------------------------------------- */

typedef struct {
    int thread[LOOM_THREADS];
    int count;
    int free; /* the first ones; the others cost a preemption */
} candidates;

static bool can_preempt(void)
{
    return loom->options.bound < 0 || loom->preemptions < loom->options.bound;
}

static bool ready(int i, bool paused)
{
    const loom_thread *thread = &loom->thread[i];
    return thread->state == LOOM_READY && thread->paused == paused;
}

/* The unpaused threads, in the order of their numbers after the current. */
static void add_unpaused(candidates *c)
{
    for (int k = 1; k < loom->threads; k++) {
        const int i = (loom->current + k) % loom->threads;
        if (ready(i, false)) {
            c->thread[c->count++] = i;
        }
    }
}

/* The paused ones that have seen a step of another, longest waiting first. */
static void add_paused(candidates *c)
{
    const int first = c->count;
    for (int i = 0; i < loom->threads; i++) {
        if (i == loom->current || !ready(i, true) ||
            loom->thread[i].paused_at >= loom->steps) {
            continue;
        }
        int at = c->count++;
        while (at > first && loom->thread[c->thread[at - 1]].paused_at >
                                 loom->thread[i].paused_at) {
            c->thread[at] = c->thread[at - 1];
            at--;
        }
        c->thread[at] = i;
    }
}

static void run_one_of(candidates *c, bool stay)
{
    const int count = can_preempt() ? c->count : c->free;
    const int k = stay ? loom_choose_stay(count) : loom_choose(count);
    if (k >= c->free) {
        loom->preemptions++;
    }
    loom->thread[c->thread[k]].paused = false;
    switch_to(c->thread[k]);
}

static void count_step(void)
{
    loom_self()->published = false;
    if (++loom->steps > loom->options.steps) {
        loom_found("livelock (too many steps)", 0);
    }
}

/* ---- scheduling points --------------------------------------------------- */

/* A choice that is left out is recorded nevertheless, so that a list of
 * choices can be replayed without what the search has learned. */
static void point(bool left_out)
{
    count_step();
    if (loom->threads == 1 || !can_preempt()) {
        return;
    }
    candidates c = {.thread = {loom->current}, .count = 1, .free = 1};
    add_unpaused(&c);
    add_paused(&c);
    if (c.count == 1) {
        return;
    }
    if (left_out && loom->options.replay == NULL) {
        loom_choose_first();
    } else {
        run_one_of(&c, true);
    }
}

/* A thread that was chosen to run a moment ago need not be asked again. */
void loom_point(void)
{
    loom_thread *self = loom_self();
    const bool fresh = self->fresh;
    self->fresh = false;
    point(fresh);
}

void loom_point_private(void)
{
    point(true);
}

void loom_pause(void)
{
    if (!loom_active()) {
        return;
    }
    count_step();
    loom_thread *self = loom_self();
    self->paused = true;
    self->paused_at = loom->steps;
    candidates c = {.count = 0};
    add_unpaused(&c);
    c.free = c.count;
    if (c.count == 0) {
        add_paused(&c);
        c.free = 1;
    }
    if (c.count == 0) {
        self->paused = false; /* nobody else can run */
        return;
    }
    run_one_of(&c, false);
    self->fresh = true;
}

/* Time passes only when nothing else can happen. */
static void add_timed_waiters(candidates *c)
{
    for (int i = 0; i < loom->threads; i++) {
        const loom_thread *thread = &loom->thread[i];
        if ((thread->state == LOOM_IN_FUTEX || thread->state == LOOM_IN_COND) &&
            thread->timeout != UINT64_MAX) {
            c->thread[c->count++] = i;
        }
    }
}

_Noreturn static void deadlock(void)
{
    static const char *const places[] = {"",     "",      "mutex",
                                         "cond", "futex", "join"};
    char what[128] = "deadlock (lost wake-up):";
    for (int i = 0; i < loom->threads; i++) {
        const loom_thread_state state = loom->thread[i].state;
        if (state != LOOM_DONE) {
            char thread[8] = " T? in ";
            thread[2] = (char)('0' + i);
            strcat(what, thread);
            strcat(what, places[state]);
        }
    }
    loom_found(what, 0);
}

void loom_block_self(void)
{
    count_step();
    loom_self()->timed_out = false;
    candidates c = {.count = 0};
    add_unpaused(&c);
    c.free = c.count;
    add_paused(&c);
    if (c.free == 0) {
        c.free = c.count > 0;
    }
    if (c.count > 0) {
        run_one_of(&c, false);
        return;
    }
    add_timed_waiters(&c);
    if (c.count == 0) {
        deadlock();
    }
    const int woken = c.thread[loom_choose(c.count)];
    loom_thread *thread = &loom->thread[woken];
    loom->clock_ns += thread->timeout;
    thread->timed_out = true;
    thread->state = LOOM_READY;
    switch_to(woken);
}

void loom_unblock_all(loom_thread_state state, uintptr_t object)
{
    for (int i = 0; i < loom->threads; i++) {
        if (loom->thread[i].state == state &&
            loom->thread[i].object == object) {
            loom->thread[i].state = LOOM_READY;
        }
    }
}

/* ---- the life of a thread ------------------------------------------------ */

static void end_thread(void)
{
    loom_self()->state = LOOM_DONE;
    loom->alive--;
    loom_unblock_all(LOOM_IN_JOIN, (uintptr_t)loom->current);
    for (int i = 0; i < loom->threads; i++) {
        if (loom->thread[i].state != LOOM_DONE) {
            loom_block_self();
            return; /* in the next run */
        }
    }
    if (_setjmp(loom_self()->resume) == 0) {
        _longjmp(loom->explorer, 1);
    }
}

static void fiber_main(void)
{
    for (;;) {
        loom_thread *self = loom_self();
        self->depth = 0;
        self->fresh = true;
        self->result = self->function(self->argument);
        end_thread();
    }
}

static void prepare_fiber(int number)
{
    loom_thread *thread = &loom->thread[number];
    if (thread->live) {
        return;
    }
    getcontext(&thread->boot);
    thread->boot.uc_stack.ss_sp = loom->stacks + (size_t)number * LOOM_STACK;
    thread->boot.uc_stack.ss_size = LOOM_STACK;
    thread->boot.uc_link = NULL;
    makecontext(&thread->boot, fiber_main, 0);
}

static void clear_view(loom_view *view)
{
    memset(view, 0, sizeof *view);
}

int loom_spawn(void *(*function)(void *), void *argument)
{
    if (loom->threads == LOOM_THREADS) {
        loom_limit("too many threads");
    }
    const int number = loom->threads++;
    loom->alive++;
    loom_thread *thread = &loom->thread[number];
    prepare_fiber(number);
    thread->function = function;
    thread->argument = argument;
    thread->state = LOOM_READY;
    thread->paused = false;
    thread->published = false;
    thread->depth = 0;
    if (number == 0) {
        clear_view(&thread->now);
    } else {
        loom_view *parent = &loom_self()->now;
        thread->now = *parent;
        parent->clock[loom->current]++;
    }
    thread->now.clock[number] = 1;
    clear_view(&thread->pending);
    clear_view(&thread->fenced);
    memcpy(thread->tls, loom->tls_image, loom->tls_image_size);
    memset(thread->tls + loom->tls_image_size, 0,
           loom->tls_size - loom->tls_image_size);
    return number;
}

void loom_threads_reset(void)
{
    loom->threads = 0;
    loom->alive = 0;
    loom->current = 0;
    loom->steps = 0;
    loom->preemptions = 0;
    loom->lags = 0;
    for (int i = 0; i < LOOM_THREADS; i++) {
        loom->thread[i].state = LOOM_UNUSED;
    }
}

/* After a run that ended in the middle: its fibers start afresh. */
void loom_threads_abandon(void)
{
    for (int i = 0; i < LOOM_THREADS; i++) {
        loom->thread[i].live = false;
    }
}
