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
 */
#include <pthread.h>

#include "core/seats.h"
#include "loom.h"

enum {
    TAKEN = 2
};

static wsi_seats seats;
static wsi_seat spares[2];
static wsi_atomic_u32 over;
static unsigned n_starts;
static bool can_start;

static bool start(void *pool, unsigned spare, bool again)
{
    (void)pool;
    LOOM_CHECK(spare == 0);
    LOOM_CHECK(!again);
    n_starts++;
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

static pthread_t begin(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fn, arg);
    return thread;
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
    /* relaxed: all other threads have been joined */
    return (int)(int32_t)wsi_u32_load_relaxed(&seats.vacant);
}

static void the_pool_ends(void)
{
    set_up(1, -1);
    pthread_t thread = begin(spare, &numbers[0]);
    /* release: pairs with ended() */
    wsi_u32_store_release(&over, 1);
    wsi_seats_end(&seats);
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
    default:
        set_up(1, 0);
        wsi_u32_init(&spares[0].state, 0);
        can_start = true;
        run(NULL, lend, 0);
        LOOM_CHECK(vacant() == 0);
        LOOM_CHECK(n_starts == 1);
        break;
    }
}
