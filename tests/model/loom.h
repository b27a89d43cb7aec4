/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom.h: the public contract of the mini-loom, our model checker.
 *
 * The mini-loom runs a small concurrent program many times, each time with
 * another interleaving of its threads and with other (stale) values for its
 * atomic loads, as C11 allows them.  The code under test is compiled with
 * -fsanitize=thread and linked with this runtime instead of libtsan, so the
 * files of the library run exactly as they ship.
 *
 * A model test is a C file that defines model_main().  It starts two to four
 * threads with pthread_create(), joins them, and checks what must hold:
 *
 *     static void *waiter(void *arg) { ... return NULL; }
 *
 *     void model_main(void)
 *     {
 *         pthread_t t;
 *         pthread_create(&t, NULL, waiter, &object);
 *         ...
 *         pthread_join(t, NULL);
 *         LOOM_CHECK(taken == 1);
 *     }
 *
 * Rules for a test:
 *  - it does the same when the same choices are made: no clock, no random
 *    numbers, no addresses in decisions, no input, no output;
 *  - every loop that waits for another thread calls loom_pause() (library
 *    code: wsi_cpu_relax());
 *  - globals and thread-locals are reset before every run; memory comes from
 *    malloc() or wsi_mem_alloc() and is gone after the run;
 *  - the address of a thread-local is not given to another thread.
 *
 * See README.md for building, the command line, and the limits.
 */
#ifndef LOOM_H
#define LOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for the code under test --------------------------------------------- */

/* The program under test.  Runs as thread 0; loom_main.c owns main(). */
void model_main(void);

/* Ends the run and the search: a bug is found.  Does not return. */
_Noreturn void loom_fail(const char *what);

#define LOOM_STRING_(x) #x
#define LOOM_STRING(x) LOOM_STRING_(x)
#define LOOM_CHECK(condition)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            loom_fail("check failed at " __FILE__                              \
                      ":" LOOM_STRING(__LINE__) ": " #condition);              \
        }                                                                      \
    } while (0)

/* The body of a waiting loop: lets another thread make a step first. */
void loom_pause(void);

/* membarrier(PRIVATE_EXPEDITED): a full fence in the caller and, at the point
 * where it stands, in every other thread. */
void loom_membarrier(void);

/* A seq_cst fence, for files that are not instrumented. */
void loom_fence_seq_cst(void);

/* Futex.  The wait compares `expected` with the newest value of the word and
 * blocks in one step.  With a time-out (not UINT64_MAX) the wait ends by itself
 * only when no other thread can run. */
void loom_futex_wait(const void *word, uint32_t expected, uint64_t timeout_ns);
void loom_futex_wake(const void *word, uint32_t n);

/* Tracked memory: use after free, double free and out-of-bounds accesses are
 * reported.  Never reused within one run. */
void *loom_alloc(size_t align, size_t size, bool zeroed);
void loom_free(void *p);

/* A clock that advances on each call (and by the time-out of a futex wait that
 * timed out). */
uint64_t loom_clock_ns(void);

/* Names an object, for traces only. */
void loom_name(const void *address, const char *name);

/* The i-th value given as `--arg N`, or `fallback`. */
long loom_arg(unsigned index, long fallback);

/* What `--fences` said: true = seqcst, false = asym (the default). */
bool loom_fences_seqcst(void);

/* Plain memory functions with race checks.  Compile the code under test with
 * -Dmemcpy=loom_memcpy and so on; libc's own are invisible to the checker. */
void *loom_memcpy(void *to, const void *from, size_t n);
void *loom_memmove(void *to, const void *from, size_t n);
void *loom_memset(void *to, int byte, size_t n);

/* ---- for drivers --------------------------------------------------------- */

typedef enum {
    LOOM_DFS, /* depth first, exhaustive within the preemption bound */
    LOOM_RAND /* random walks, each from a seed of its own */
} loom_search;

typedef enum {
    LOOM_PASS,  /* nothing found in the runs that were made */
    LOOM_FOUND, /* a bug */
    LOOM_ERROR  /* a limit of the simulator, or an unusable test */
} loom_verdict;

typedef struct {
    loom_search search;
    long runs;         /* at most so many runs */
    double seconds;    /* at most about so long; 0 = no limit */
    int bound;         /* preemptions per run; negative = no bound */
    int steps;         /* more steps than this in a run = livelock */
    int lag;           /* stale reads per run; negative = no bound */
    int stale_reads;   /* how often a thread may read one stale store */
    int spurious;      /* futex waits per run that may end for no reason */
    uint64_t seed;     /* LOOM_RAND */
    bool seqcst;       /* see loom_fences_seqcst() */
    bool trace;        /* record the operations of each run */
    const int *replay; /* choices to repeat, or NULL: one run only */
    int replay_length;
} loom_options;

#define LOOM_OPTIONS_INIT                                                      \
    {                                                                          \
        .search = LOOM_DFS, .runs = 10000000, .bound = 2, .lag = -1,           \
        .steps = 20000, .stale_reads = 3, .seed = 1                            \
    }

/* A place in the code under test: return addresses, innermost first. */
typedef struct {
    uintptr_t site[4];
} loom_place;

typedef struct {
    loom_verdict verdict;
    bool exhausted; /* LOOM_DFS: every run within the bound was made */
    long runs;
    double seconds;
    char what[256];      /* FOUND, ERROR: the report */
    loom_place where;    /* FOUND: the operation that failed, ... */
    loom_place conflict; /* ... and for a data race the earlier access */
    const int *choices;  /* of the last run; valid until the next search */
    int choice_count;
} loom_result;

/* Searches the runs of `body`.  May be called again with another body. */
void loom_explore(const loom_options *options, void (*body)(void),
                  loom_result *result);

/* Prints the operations of the last run (options.trace). */
void loom_print_trace(void);

/* "file:line (function)" of a place, or what is known of it; "" when nothing.
 * Starts addr2line. */
void loom_describe(const loom_place *place, char *text, size_t size);

/* Values for loom_arg(). */
void loom_set_args(const long *values, unsigned count);

#endif
