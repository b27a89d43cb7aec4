/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * litmus.h: what the litmus tests share: words for the orders, threads, the
 * variables, and the form of a case.
 */
#ifndef LITMUS_H
#define LITMUS_H

#include <pthread.h>
#include <stddef.h>

#include "loom.h"

/* ---- words --------------------------------------------------------------- */

#define RLX __ATOMIC_RELAXED
#define ACQ __ATOMIC_ACQUIRE
#define REL __ATOMIC_RELEASE
#define ACQ_REL __ATOMIC_ACQ_REL
#define SC __ATOMIC_SEQ_CST

#define LOAD(x, order) __atomic_load_n(&(x), order)
#define STORE(x, value, order) __atomic_store_n(&(x), value, order)
#define ADD(x, value, order) __atomic_fetch_add(&(x), value, order)
#define XCHG(x, value, order) __atomic_exchange_n(&(x), value, order)
#define FENCE(order) __atomic_thread_fence(order)

/* Thread bodies are written as blocks. */
#define THREAD(NAME)                                                           \
    static void NAME##_body(void);                                             \
    static void *NAME(void *arg)                                               \
    {                                                                          \
        (void)arg;                                                             \
        NAME##_body();                                                         \
        return NULL;                                                           \
    }                                                                          \
    static void NAME##_body(void)

typedef void *(*thread_fn)(void *);

/* ---- variables: all are zero when a case begins -------------------------- */

extern int x;
extern int y;
extern int r1;
extern int r2;
extern int r3;
extern int r4;
extern int data;
extern uint8_t bytes[4];
extern int *pointer;

/* Runs up to four threads (NULL = none) and joins them. */
void run(thread_fn a, thread_fn b, thread_fn c, thread_fn d);

/* ---- cases --------------------------------------------------------------- */

typedef struct {
    const char *name;
    void (*body)(void);
    loom_verdict verdict;
    const char *what; /* must be part of the report; NULL = anything */
    bool seqcst;      /* fence mode */
} litmus;

#define ABSENT LOOM_PASS, NULL
#define FOUND LOOM_FOUND, "check failed"
#define FOUND_AS(WHAT) LOOM_FOUND, WHAT

/* Each list ends with an entry without a name. */
extern const litmus litmus_orders[];
extern const litmus litmus_faults[];

#endif
