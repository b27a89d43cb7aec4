/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * seats.h: as many threads work as the pool has workers.
 *
 * A pool of n workers has n seats.  A worker that waits, finds nothing to do
 * for what it waits for, and sees that the pool has other work, *lends* its
 * seat; a spare thread takes it and works like any worker.  When the wait is
 * over the worker takes its seat back at once, so for a while one thread too
 * many may work; a spare that has nothing on its stack then parks.
 *
 *   vacant   seats that nobody has, minus threads that work without one
 *
 *   NONE -> TAKEN            a thread is started
 *   PARKED -> TAKEN          a parked thread is woken
 *   TAKEN -> PARKED          the spare was one too many
 *   PARKED -> LEAVING        it was not needed for a while: its thread will end
 *   LEAVING -> GONE          the last thing that it does
 *   GONE -> TAKEN            joined, and started again; or it stays after all
 *
 * Steps of the lender
 *   L1 vacant + 1
 *   L2 take a vacancy: vacant - 1 if it is above 0; else somebody has it
 *   L3 give it to a spare: PARKED -> TAKEN, or start a thread
 *   L4 if there was none, vacant + 1, and again while one is seen PARKED or
 *      GONE
 * Steps of a spare without work
 *   K1 TAKEN -> PARKED
 *   K2 vacant + 1 if it is below 0: parked.  Else not one too many:
 *   K3 PARKED -> TAKEN; if a lender was faster we have two seats: L1 to L4
 * Steps of one whose thread ends
 *   K4 GONE
 *   K5 if there is a vacancy, GONE -> TAKEN, unless a lender was faster and has
 *      it joined: it stays, and takes the vacancy
 *
 * Why no vacancy stays beside a parked spare: vacant changes by
 * read-modify-writes only.  If L4 comes after K2, it sees K1, and the lender
 * tries again; if before, vacant is above 0 at K2, and the spare goes on.  A
 * spare whose thread has ended by then is seen GONE, and L3 starts it.  Nor
 * beside one that is LEAVING: K5 is such a read-modify-write, too.
 *
 * Layer: core.  Checked in tests/model/model_seats.c.
 */
#ifndef WSI_CORE_SEATS_H
#define WSI_CORE_SEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "port/atomic.h"
#include "port/lock.h"

typedef struct {
    wsi_atomic_u32 state;
    char pad[WSI_CACHE_LINE - sizeof(wsi_atomic_u32)];
} wsi_seat;

typedef struct {
    wsi_atomic_u32 vacant; /* signed, in two's complement */
    wsi_lock lock;         /* to start threads */
    bool closed;           /* under the lock: none is started any more */
    wsi_seat *spares;      /* n of them */
    unsigned n;
    /* Starts a thread for a spare, after joining the one that it had before,
     * if `again`.  False: none could be had, and none is left to join. */
    bool (*start)(void *pool, unsigned spare, bool again);
    void *pool;
} wsi_seats;

/* `spares` holds n zeroed elements. */
void wsi_seats_init(wsi_seats *s, wsi_seat *spares, unsigned n,
                    bool (*start)(void *pool, unsigned spare, bool again),
                    void *pool);

/* The caller's seat is free; false: nobody could be found to take it now (a
 * spare that becomes free will).  wsi_seats_back() must follow in any case. */
bool wsi_seats_lend(wsi_seats *s);
/* The caller works again. */
void wsi_seats_back(wsi_seats *s);

/* More threads work than there are seats. */
static inline bool wsi_seats_surplus(const wsi_seats *s)
{
    /* relaxed: a hint, checked by K2 */
    return (int32_t)wsi_u32_load_relaxed(&s->vacant) < 0;
}

typedef enum {
    WSI_PARK_TAKEN, /* it has a seat, or must look whether the pool ends */
    WSI_PARK_GONE   /* the thread must end: wsi_seats_leave() */
} wsi_park;

/* Spare `i`, whose own queues are empty, gives its seat back if there is one
 * thread too many, and waits for one, at most `patience_ns` (UINT64_MAX = for
 * ever) and not when ended(arg). */
wsi_park wsi_seats_park(wsi_seats *s, unsigned i, uint64_t patience_ns,
                        bool (*ended)(void *arg), void *arg);

/* The last thing that spare `i` does before its thread ends: whoever finds it
 * GONE waits for that.  False: it is needed, and must go on. */
bool wsi_seats_leave(wsi_seats *s, unsigned i);

/* Every parked spare looks whether the pool ends; after that is so. */
void wsi_seats_end(wsi_seats *s);

/* No thread is started any more, and none is being started. */
void wsi_seats_close(wsi_seats *s);

/* Whether spare `i` has a thread to join; after wsi_seats_close(). */
bool wsi_seats_has_thread(const wsi_seats *s, unsigned i);

#endif
