/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * model_seats.c: the shipping core/seats.c on the mini-loom: lenders against a
 * spare that is on its way to park.
 *
 * A spare that parks for ever though a seat is vacant is a deadlock, since the
 * main thread joins it; a seat that is counted wrongly shows in `vacant`.
 *
 *   --arg 0  one lender, a spare that is one too many
 *   --arg 1  two lenders, one spare: one seat stays vacant
 *   --arg 2  two lenders, two spares that are too many
 *   --arg 3  a lender that comes back and lends again
 *   --arg 4  a lender that finds no spare while another worker comes back and
 *            the spare parks for that
 *   --arg 5  the pool ends while the spare parks
 *   --arg 6  nobody is parked: a thread is started, once
 *   --arg 7  two workers lend and come back; in the end the spare is parked
 *   --arg 8  a spare ends when it is too many, and is started again
 *   --arg 9  the same between two lenders
 *   --arg 10 as 4, but the spare ends instead of waiting
 */
#include <pthread.h>

#include "core/seats.h"
#include "loom.h"

enum {
    NONE = 0,
    PARKED = 1,
    TAKEN = 2,
    GONE = 3
};

static wsi_seats seats;
static wsi_seat spares[2];
static wsi_atomic_u32 over;
/* Under the lock of the seats, or when all other threads have been joined. */
static unsigned n_starts;
static bool can_start;
static pthread_t life; /* the thread of spare 0, if it has one */
/* Written by the spare, read after it has been joined. */
static unsigned n_gone;
static unsigned n_restarts;

static void *spare_life(void *arg);

static pthread_t begin(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fn, arg);
    return thread;
}

/* As start_spare() in registry.c. */
static bool start(void *pool, unsigned spare, bool again)
{
    (void)pool;
    LOOM_CHECK(spare == 0);
    if (again) {
        pthread_join(life, NULL);
        n_restarts++;
    }
    LOOM_CHECK(n_restarts == n_gone);
    n_starts++;
    if (can_start) {
        life = begin(spare_life, NULL);
    }
    return can_start;
}

static bool ended(void *arg)
{
    (void)arg;
    /* acquire: pairs with the release in model_main() */
    return wsi_u32_load_acquire(&over) != 0;
}

static void *lend(void *arg)
{
    (void)arg;
    wsi_seats_lend(&seats);
    return NULL;
}

static void *lend_twice(void *arg)
{
    wsi_seats_lend(&seats);
    wsi_seats_back(&seats);
    return lend(arg);
}

static void *come_back(void *arg)
{
    (void)arg;
    wsi_seats_back(&seats);
    return NULL;
}

static unsigned numbers[2] = {0, 1};

/* Looks twice, as after two jobs; ends with a seat. */
static void *spare(void *arg)
{
    const unsigned *number = arg;
    for (int look = 0; look < 2; look++) {
        if (wsi_seats_surplus(&seats)) {
            wsi_park park =
                wsi_seats_park(&seats, *number, UINT64_MAX, ended, NULL);
            LOOM_CHECK(park == WSI_PARK_TAKEN);
        }
    }
    return NULL;
}

/* Works until the pool ends or it is not needed. */
static void *spare_loop(uint64_t patience_ns)
{
    while (!ended(NULL)) {
        if (!wsi_seats_surplus(&seats)) {
            wsi_cpu_relax();
        } else if (wsi_seats_park(&seats, 0, patience_ns, ended, NULL) ==
                       WSI_PARK_GONE &&
                   wsi_seats_leave(&seats, 0)) {
            n_gone++;
            return NULL;
        }
    }
    return NULL;
}

static void *spare_life(void *arg)
{
    (void)arg;
    return spare_loop(0);
}

static void *spare_stays(void *arg)
{
    (void)arg;
    return spare_loop(UINT64_MAX);
}

static void *lend_and_return(void *arg)
{
    lend(arg);
    wsi_seats_back(&seats);
    return NULL;
}

static void set_up(unsigned n, int vacant)
{
    wsi_seats_init(&seats, spares, n, start, NULL);
    wsi_u32_init(&seats.vacant, (uint32_t)vacant);
    loom_name(&seats.vacant, "vacant");
    for (unsigned i = 0; i < n; i++) {
        wsi_u32_init(&spares[i].state, TAKEN);
        loom_name(&spares[i].state, "state");
    }
}

/* The main thread lends too, unless it is NULL. */
static void run(void *(*other)(void *), void *(*self)(void *), unsigned n)
{
    pthread_t threads[3];
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) {
        threads[count++] = begin(spare, &numbers[i]);
    }
    if (other != NULL) {
        threads[count++] = begin(other, NULL);
    }
    self(NULL);
    while (count > 0) {
        pthread_join(threads[--count], NULL);
    }
}

static int vacant(void)
{
    /* relaxed: all others have been joined, or it is read again and again */
    return (int)(int32_t)wsi_u32_load_relaxed(&seats.vacant);
}

static void end(void)
{
    /* release: pairs with ended() */
    wsi_u32_store_release(&over, 1);
    wsi_seats_end(&seats);
}

/* Everybody works where he began, so the spare must have come to rest: else
 * this goes on for ever. */
static void rest(void)
{
    can_start = false;
    set_up(1, -1);
    pthread_t thread = begin(spare_stays, NULL);
    pthread_t other = begin(lend_and_return, NULL);
    lend_and_return(NULL);
    pthread_join(other, NULL);
    /* relaxed, both: looked at again and again */
    while (wsi_u32_load_relaxed(&spares[0].state) != PARKED || vacant() != 0) {
        loom_pause();
    }
    end();
    pthread_join(thread, NULL);
}

/* Each thread of the spare is joined once, by start() or here. */
static void lives(void *(*other)(void *))
{
    pthread_t thread;
    can_start = true;
    set_up(1, 0);
    wsi_u32_init(&spares[0].state, NONE);
    if (other != NULL) {
        thread = begin(other, NULL);
    }
    if (other == NULL) {
        lend_twice(NULL);
    } else {
        lend(NULL);
        pthread_join(thread, NULL);
    }
    end();
    wsi_seats_close(&seats);
    LOOM_CHECK(wsi_seats_has_thread(&seats, 0));
    pthread_join(life, NULL);
    LOOM_CHECK(n_starts == n_restarts + 1);
    LOOM_CHECK(n_gone - n_restarts <= 1);
}

/* A vacancy must not stay beside a spare that could be started. */
static void goes_while_scanned(void)
{
    can_start = true;
    set_up(1, 0);
    life = begin(spare_life, NULL);
    pthread_t other = begin(come_back, NULL);
    lend(NULL);
    pthread_join(other, NULL);
    /* The spare stays or is started: else this goes on for ever. */
    while (vacant() > 0) {
        loom_pause();
    }
    end();
    wsi_seats_close(&seats);
    pthread_join(life, NULL);
}

static void the_pool_ends(void)
{
    set_up(1, -1);
    pthread_t thread = begin(spare, &numbers[0]);
    end();
    pthread_join(thread, NULL);
}

void model_main(void)
{
    switch (loom_arg(0, 0)) {
    case 0:
        set_up(1, -1);
        run(NULL, lend, 1);
        LOOM_CHECK(vacant() == 0);
        break;
    case 1:
        set_up(1, -1);
        run(lend, lend, 1);
        LOOM_CHECK(vacant() == 1);
        break;
    case 2:
        set_up(2, -2);
        run(lend, lend, 2);
        LOOM_CHECK(vacant() == 0);
        break;
    case 3:
        set_up(1, -1);
        run(NULL, lend_twice, 1);
        LOOM_CHECK(vacant() == 0);
        break;
    case 4:
        set_up(1, 0);
        run(come_back, lend, 1);
        LOOM_CHECK(vacant() == 0);
        break;
    case 5:
        the_pool_ends();
        break;
    case 6:
        can_start = true;
        set_up(1, 0);
        wsi_u32_init(&spares[0].state, NONE);
        run(NULL, lend, 0);
        LOOM_CHECK(vacant() == 0);
        LOOM_CHECK(n_starts == 1);
        end();
        pthread_join(life, NULL);
        break;
    case 7:
        rest();
        break;
    case 8:
        lives(NULL);
        break;
    case 9:
        lives(lend_and_return);
        break;
    default:
        goes_while_scanned();
        break;
    }
}
