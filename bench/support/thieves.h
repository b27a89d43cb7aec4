/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * thieves.h: threads that begin a piece of work at the same moment, the caller
 * being the first of them.  Each has a CPU of its own, as far as there are
 * enough: on one CPU they would work in turns and never meet.
 *
 * Define _GNU_SOURCE first.
 */
#ifndef BENCH_SUPPORT_THIEVES_H
#define BENCH_SUPPORT_THIEVES_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define THIEVES_MAX 256

static struct {
    unsigned n;
    void (*work)(unsigned index);
    pthread_t threads[THIEVES_MAX];
    pthread_barrier_t ready;
    pthread_barrier_t done;
    _Atomic uint64_t rounds;
    _Atomic uint64_t gathered;
    int stopped;
} thieves;

/* The calling thread to one of the CPUs that it may use; no matter if not. */
static void thieves_pin(unsigned index)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return;
    }
    int nth = (int)index % CPU_COUNT(&allowed);
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &allowed) || nth-- > 0) {
        cpu++;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void *thieves_thread(void *arg)
{
    unsigned index = (unsigned)(uintptr_t)arg;
    thieves_pin(index);
    for (uint64_t round = 1;; round++) {
        pthread_barrier_wait(&thieves.ready);
        if (thieves.stopped) {
            return NULL;
        }
        atomic_fetch_add(&thieves.gathered, 1);
        while (atomic_load(&thieves.rounds) < round) {
        }
        thieves.work(index);
        pthread_barrier_wait(&thieves.done);
    }
}

/* n threads for work(0) to work(n - 1); 0 or an error number. */
static inline int thieves_start(unsigned n, void (*work)(unsigned index))
{
    int code = n > THIEVES_MAX;
    thieves.n = n;
    thieves.work = work;
    if (code == 0) {
        code = pthread_barrier_init(&thieves.ready, NULL, n);
    }
    if (code == 0) {
        code = pthread_barrier_init(&thieves.done, NULL, n);
    }
    for (unsigned i = 1; i < n && code == 0; i++) {
        code = pthread_create(&thieves.threads[i], NULL, thieves_thread,
                              (void *)(uintptr_t)i);
    }
    thieves_pin(0);
    return code;
}

/* All are awake, and spin until thieves_run(). */
static inline void thieves_gather(void)
{
    uint64_t all = (atomic_load(&thieves.rounds) + 1) * (thieves.n - 1);
    pthread_barrier_wait(&thieves.ready);
    while (atomic_load(&thieves.gathered) < all) {
    }
}

/* Until all have returned. */
static inline void thieves_run(void)
{
    atomic_fetch_add(&thieves.rounds, 1);
    thieves.work(0);
    pthread_barrier_wait(&thieves.done);
}

static inline void thieves_stop(void)
{
    thieves.stopped = 1;
    pthread_barrier_wait(&thieves.ready);
    for (unsigned i = 1; i < thieves.n; i++) {
        pthread_join(thieves.threads[i], NULL);
    }
    pthread_barrier_destroy(&thieves.ready);
    pthread_barrier_destroy(&thieves.done);
}

#endif
