/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_internal.h: the state of the simulator, shared by its files.
 *
 * All state lies in one mapped object (`loom`), outside .data and .bss, because
 * those are put back from a snapshot before every run.  The runtime itself is
 * compiled without -fsanitize=thread and runs on one kernel thread.
 *
 * Memory model in short: each atomic location has a list of its stores in
 * modification order; a *view* says, for each location, which store is the
 * oldest that its holder may still read.  The view also holds the vector clock
 * that decides about data races.  A store carries a message (a view) that an
 * acquire load of it joins into the reader's view.
 */
#ifndef LOOM_INTERNAL_H
#define LOOM_INTERNAL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "loom.h"

/* ---- limits: exceeding one ends the search with LOOM_ERROR --------------- */

enum {
    LOOM_THREADS = 6,        /* per run, thread 0 included */
    LOOM_LOCATIONS = 128,    /* atomic objects that are alive together */
    LOOM_HISTORY = 64,       /* stores of a location that can still be read */
    LOOM_CHOICES = 1 << 15,  /* choices in one run */
    LOOM_CELLS = 1 << 14,    /* words of memory touched in one run */
    LOOM_BLOCKS = 1024,      /* allocations in one run */
    LOOM_MUTEXES = 32,       /* mutexes locked in one run */
    LOOM_FRAMES = 256,       /* call depth that is tracked */
    LOOM_OBJECTS = 1 << 12,  /* addresses of atomics in one search */
    LOOM_TLS = 4096,         /* bytes of thread-local storage */
    LOOM_STACK = 128 << 10,  /* bytes of a thread's stack */
    LOOM_ARENA = 64 << 20,   /* bytes allocated in one run */
    LOOM_STORES = UINT16_MAX /* stores to one location in one run */
};

/* ---- memory -------------------------------------------------------------- */

typedef struct {
    uint32_t clock[LOOM_THREADS];  /* happens-before */
    uint16_t seen[LOOM_LOCATIONS]; /* index of the oldest readable store */
} loom_view;

typedef struct {
    uint64_t value;
    loom_view message; /* what an acquire load of this store learns */
} loom_store;

typedef struct {
    uintptr_t address; /* 0 = retired */
    unsigned size;
    unsigned oldest; /* stores have increasing indices; the readable ones */
    unsigned newest; /* are oldest..newest, at ring[index % LOOM_HISTORY] */
    struct {
        uint16_t index; /* a stale store, and how often the thread read it */
        uint16_t reads;
    } stale[LOOM_THREADS];
    loom_store ring[LOOM_HISTORY];
} loom_location;

typedef enum {
    LOOM_PLAIN_READ,
    LOOM_PLAIN_WRITE,
    LOOM_ATOMIC_READ,
    LOOM_ATOMIC_WRITE
} loom_access;

/* When a thread touched a cell (its clock), and from where. */
typedef struct {
    uint32_t clock;
    uint32_t site; /* offset of the return address in the program */
} loom_touch;

/* The race detector's memory for one aligned word of four bytes or, once part
 * of that word was accessed, for each of its bytes. */
typedef struct {
    uintptr_t key;       /* address * 2, + 1 for a byte */
    uint32_t generation; /* the run that this cell belongs to */
    bool split;          /* see the bytes instead */
    bool shared;         /* any of the lists below is not empty */
    uint8_t writer;      /* of the last plain write; LOOM_THREADS = none */
    uint8_t location;    /* of the atomic that starts here, + 1; 0 = none */
    loom_touch write;
    loom_touch read[LOOM_THREADS];
    loom_touch atomic_read[LOOM_THREADS];
    loom_touch atomic_write[LOOM_THREADS];
} loom_cell;

typedef struct {
    uintptr_t address;
    size_t size;
    bool freed;
} loom_block;

/* Which threads access an atomic, as bit masks; see loom_reduce.c. */
typedef struct {
    uintptr_t address;
    uint8_t readers; /* relied on */
    uint8_t writers;
    uint8_t new_readers; /* learned */
    uint8_t new_writers;
} loom_object;

/* ---- threads ------------------------------------------------------------- */

typedef enum {
    LOOM_UNUSED,
    LOOM_READY,
    LOOM_IN_MUTEX, /* blocked: object = the mutex */
    LOOM_IN_COND,
    LOOM_IN_FUTEX,
    LOOM_IN_JOIN, /* object = the thread's number */
    LOOM_DONE
} loom_thread_state;

typedef struct {
    loom_thread_state state;
    uintptr_t object; /* what it is blocked on */
    uint64_t timeout; /* of a futex wait; UINT64_MAX = none */
    bool timed_out;   /* how the last timed wait ended */
    bool paused;      /* wants another thread to make a step ... */
    int paused_at;    /* ... after this one */
    bool published;   /* released a store; no scheduling point since */
    bool fresh;       /* was just chosen to run; did nothing since */
    void *(*function)(void *);
    void *argument;
    void *result;

    loom_view now;     /* what the thread has seen */
    loom_view pending; /* learned by relaxed loads; for an acquire fence */
    loom_view fenced;  /* at the last release fence; for relaxed stores */

    int depth; /* of the calls below; may exceed LOOM_FRAMES */
    struct {
        uintptr_t low; /* the frame lies above this address */
        uintptr_t caller;
    } frame[LOOM_FRAMES];

    bool live; /* the fiber waits at `resume`; else it starts at `boot` */
    jmp_buf resume;
    ucontext_t boot;
    char tls[LOOM_TLS];
} loom_thread;

typedef struct {
    uintptr_t address;
    int owner; /* -1 = free */
    loom_view message;
} loom_mutex;

typedef struct loom_log loom_log; /* loom_trace.c */

typedef struct {
    /* Search. */
    loom_options options;
    void (*body)(void);
    bool active; /* a run is under way: calls are simulated */
    loom_verdict verdict;
    char what[256];
    jmp_buf explorer;
    int choice[LOOM_CHOICES];
    int alternatives[LOOM_CHOICES];
    int depth;  /* choices made in this run */
    int prefix; /* choices that this run has to repeat */
    uint64_t random;

    /* One run. */
    uint32_t generation;
    int steps;
    int preemptions;
    int lags; /* stale reads */
    int spurious;
    uint64_t clock_ns;
    uintptr_t site;      /* return address of the operation under way */
    loom_place where;    /* how the run ended, */
    loom_place conflict; /* and the access that a data race is with */

    loom_thread thread[LOOM_THREADS];
    int threads;
    int alive; /* of them, not ended */
    int current;

    loom_location location[LOOM_LOCATIONS];
    int locations;
    int retired;
    loom_view global; /* what the seq_cst fences have agreed on */

    loom_cell cell[LOOM_CELLS];
    uint32_t used_cell[LOOM_CELLS];
    unsigned used_cells;

    loom_block block[LOOM_BLOCKS];
    int blocks;
    char *arena;
    size_t arena_used;

    loom_mutex mutex[LOOM_MUTEXES];
    int mutexes;

    loom_object object[LOOM_OBJECTS]; /* hash table, kept between runs */
    unsigned objects;
    bool learned; /* something new, not yet relied on */

    char *stacks;

    /* Program image. */
    uintptr_t load_bias;
    char *tls;
    size_t tls_size;
    const char *tls_image;
    size_t tls_image_size;
    char *tls_saved;
    char *snapshot;

    loom_log *log;
    long arg[16];
    unsigned args;
} loom_state;

/* NULL until the first search. */
extern loom_state *loom;

static inline bool loom_active(void)
{
    return loom != NULL && loom->active;
}

static inline loom_thread *loom_self(void)
{
    return &loom->thread[loom->current];
}

/* Remembers where the code under test stands, for reports. */
#define LOOM_SITE()                                                            \
    do {                                                                       \
        if (loom != NULL) {                                                    \
            loom->site = (uintptr_t)__builtin_return_address(0);               \
        }                                                                      \
    } while (0)

/* ---- loom_explore.c ------------------------------------------------------ */

/* One of n alternatives, 0 .. n-1, as the search decides. */
int loom_choose(int n);
/* The same; in a random search 0 is taken more often. */
int loom_choose_stay(int n);
/* Records a choice of which only 0 needs to be tried. */
void loom_choose_first(void);
/* Ends the run: a bug, or a limit. */
_Noreturn void loom_found(const char *what, uintptr_t address);
_Noreturn void loom_limit(const char *what);

/* ---- loom_threads.c ------------------------------------------------------ */

/* Scheduling point: another thread may run first. */
void loom_point(void);
/* One before an access that only this thread can notice. */
void loom_point_private(void);
/* The current thread cannot go on: its state says why. */
void loom_block_self(void);
int loom_spawn(void *(*function)(void *), void *argument);
/* The first thread of a run; returns when the run is over. */
void loom_run_fibers(void);
void loom_threads_reset(void);
void loom_threads_abandon(void);
/* Makes all threads ready that are blocked in `state` on `object`. */
void loom_unblock_all(loom_thread_state state, uintptr_t object);

/* ---- loom_memory.c ------------------------------------------------------- */

void loom_memory_reset(void);
void loom_view_join(loom_view *to, const loom_view *from);
void loom_seen_join(loom_view *to, const loom_view *from);
/* Checks an atomic access and returns the location. */
loom_location *loom_find(const void *p, unsigned size, loom_access access);
/* Makes room for one more store of the location and returns its index. */
unsigned loom_next_store(loom_location *location);
/* Reports accesses to freed memory and dead stack frames. */
void loom_check_address(uintptr_t address, size_t size);
void loom_plain_access(const void *p, size_t size, loom_access access);

static inline loom_store *loom_store_at(loom_location *location, unsigned index)
{
    return &location->ring[index % LOOM_HISTORY];
}

static inline unsigned loom_location_index(const loom_location *location)
{
    return (unsigned)(location - loom->location);
}

/* ---- loom_reduce.c ------------------------------------------------------- */

/* Notes an atomic access of the current thread; true when, as far as is known,
 * no other thread can tell when it happens. */
bool loom_note_access(const void *p, bool write, int order);
/* Relies on what was learned; false when there was nothing new. */
bool loom_use_learned(void);
void loom_reduce_reset(void);

/* ---- loom_heap.c --------------------------------------------------------- */

/* The block that holds or precedes the address; NULL when not in the arena. */
loom_block *loom_block_of(uintptr_t address);
/* Race check of free(): every word of the block counts as written. */
void loom_check_free(const loom_block *block);

/* ---- loom_trace.c -------------------------------------------------------- */

/* Where the current thread stands. */
void loom_here(loom_place *place);
void loom_trace_reset(void);
/* Records an operation of the current thread, when a trace is asked for.  The
 * order is one of __ATOMIC_...; `behind` counts newer stores that a load did
 * not take. */
void loom_trace(const char *operation, int order, const void *address,
                uint64_t value, unsigned behind);

#endif
