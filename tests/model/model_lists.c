/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_lists.c: the shipping core/mail.h and core/fifo.c on the mini-loom.
 *
 * Every letter and every task comes out once, those of one thread in its order,
 * and who holds a ticket finds a task.
 *
 *   --arg 0  mail: two posters, one taker
 *   --arg 1  fifo: one adder of two, two takers of a ticket each
 *   --arg 2  fifo: two adders of one, two takers of a ticket each
 *   --arg 3  fifo: a taker that only looks first
 */
#include <pthread.h>

#include "core/fifo.h"
#include "core/mail.h"
#include "loom.h"

enum {
    N = 2
};

static pthread_t begin(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fn, arg);
    return thread;
}

/* ---- mail ---------------------------------------------------------------- */

static const wsi_job_kind ticket_kind = {wsi_fifo_run_oldest, NULL};
static wsi_mail mail;
static wsi_letter letters[N][2];

static void *poster(void *arg)
{
    wsi_letter *mine = arg;
    for (unsigned i = 0; i < 2; i++) {
        mine[i].job.kind = &ticket_kind;
        wsi_mail_post(&mail, &mine[i]);
    }
    return NULL;
}

static void mail_is_taken_in_order(void)
{
    unsigned taken[N] = {0, 0};
    wsi_mail_init(&mail);
    pthread_t a = begin(poster, letters[0]);
    pthread_t b = begin(poster, letters[1]);
    while (taken[0] + taken[1] < 4) {
        wsi_letter *letter = wsi_mail_take(&mail);
        if (letter == NULL) {
            wsi_cpu_relax();
            continue;
        }
        unsigned who = letter >= letters[1];
        LOOM_CHECK(letter == &letters[who][taken[who]++]);
        LOOM_CHECK(letter->job.kind == &ticket_kind);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    LOOM_CHECK(wsi_mail_take(&mail) == NULL);
}

/* ---- fifo ---------------------------------------------------------------- */

static wsi_fifo fifo;
static wsi_task tasks[N][2];
static unsigned ran[N][2];
static unsigned each; /* tasks of an adder; constant */
static wsi_atomic_u32 tickets;
static WSI_THREAD_LOCAL unsigned seen[N]; /* how many of each adder */

/* What is older was taken before, by whomever. */
static void check_task(wsi_job *job)
{
    wsi_task *task = (wsi_task *)(void *)job;
    unsigned who = task >= tasks[1];
    unsigned number = (unsigned)(task - tasks[who]);
    LOOM_CHECK(number >= seen[who]);
    seen[who] = number + 1;
    ran[who][number]++;
}

static void run_task(wsi_job *job, wsi_worker *w)
{
    (void)w;
    check_task(job);
}

static const wsi_job_kind task_kind = {run_task, NULL};

static void *adder(void *arg)
{
    wsi_task *mine = arg;
    for (unsigned i = 0; i < each; i++) {
        mine[i].job.kind = &task_kind;
        wsi_fifo_add(&fifo, &mine[i]);
        /* release: pairs with the CAS in take_ticket() */
        wsi_u32_fetch_add_acq_rel(&tickets, 1);
    }
    return NULL;
}

static void take_ticket(void)
{
    /* relaxed: checked by the CAS */
    uint32_t n = wsi_u32_load_relaxed(&tickets);
    /* acq_rel: pairs with adder() */
    while (n == 0 || !wsi_u32_cas_acq_rel(&tickets, &n, n - 1)) {
        wsi_cpu_relax();
        n = wsi_u32_load_relaxed(&tickets);
    }
    fifo.ticket.kind->run(&fifo.ticket, NULL);
}

static void *ticket_taker(void *arg)
{
    take_ticket();
    return arg;
}

static void tickets_find_tasks(unsigned adders)
{
    wsi_fifo_init(&fifo, &ticket_kind);
    pthread_t taker = begin(ticket_taker, NULL);
    pthread_t a = begin(adder, tasks[0]);
    if (adders > 1) {
        adder(tasks[1]);
    }
    take_ticket();
    pthread_join(a, NULL);
    pthread_join(taker, NULL);
    LOOM_CHECK(!wsi_fifo_any(&fifo) && wsi_fifo_take(&fifo) == NULL);
    for (unsigned i = 0; i < adders; i++) {
        for (unsigned k = 0; k < each; k++) {
            LOOM_CHECK(ran[i][k] == 1);
        }
    }
}

static void looker(void)
{
    wsi_fifo_init(&fifo, NULL);
    pthread_t a = begin(adder, tasks[0]);
    for (unsigned i = 0; i < 2; i++) {
        while (!wsi_fifo_any(&fifo)) {
            wsi_cpu_relax();
        }
        check_task(&wsi_fifo_take(&fifo)->job);
    }
    pthread_join(a, NULL);
}

void model_main(void)
{
    long arg = loom_arg(0, 0);
    each = arg == 2 ? 1 : 2;
    switch (arg) {
    case 0:
        mail_is_taken_in_order();
        break;
    case 3:
        looker();
        break;
    default:
        tickets_find_tasks(arg == 2 ? 2 : 1);
        break;
    }
}
