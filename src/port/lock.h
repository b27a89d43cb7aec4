/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * lock.h: a lock for short, rare sections that survives fork().
 *
 * The word holds the process of the owner.  A child of fork() that inherits a
 * locked lock sees another process in it and takes the lock over: the thread
 * that held it does not exist in the child.  (What the lock protects may then
 * be half changed; the sections are written so that this loses memory at most.)
 *
 * Waiters yield: use it where the owner is done within microseconds, or where
 * waiting happens once in a process.  (A real-time thread that yields does not
 * let a thread of lower priority run: it waits for the scheduler's throttling.)
 *
 * Layer: port.
 */
#ifndef WSI_PORT_LOCK_H
#define WSI_PORT_LOCK_H

#include "port/atomic.h"
#include "port/platform.h"

typedef struct {
    wsi_atomic_u64 owner; /* wsi_process_id() of the owner, or 0 */
} wsi_lock;

static inline void wsi_lock_acquire(wsi_lock *lock)
{
    uint64_t self = wsi_process_id();
    uint64_t seen = 0;
    /* acq_rel: acquire pairs with the release below */
    while (!wsi_u64_cas_acq_rel(&lock->owner, &seen, self)) {
        if (seen == self) {
            seen = 0;
            wsi_cpu_relax();
            wsi_thread_yield();
        }
        /* else: of the parent; the next round takes it over */
    }
}

static inline void wsi_lock_release(wsi_lock *lock)
{
    /* release: pairs with the acquire above */
    wsi_u64_store_release(&lock->owner, 0);
}

/* For sections of a few instructions between threads of one process.  A child
 * that is forked while another thread is inside finds it taken for ever. */
typedef struct {
    wsi_atomic_u32 taken;
} wsi_spin;

#define WSI_SPINS_PER_YIELD 64

static inline void wsi_spin_acquire(wsi_spin *spin)
{
    uint32_t old = 0;
    /* acq_rel: acquire pairs with the release below */
    for (unsigned n = 1; !wsi_u32_cas_acq_rel(&spin->taken, &old, 1); n++) {
        old = 0;
        wsi_cpu_relax();
        if (n % WSI_SPINS_PER_YIELD == 0) {
            wsi_thread_yield();
        }
    }
}

static inline void wsi_spin_release(wsi_spin *spin)
{
    /* release: pairs with the acquire above */
    wsi_u32_store_release(&spin->taken, 0);
}

#endif
