/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_explore.c: the search over the runs of a test.
 *
 * A run is determined by its list of choices: which thread goes on at each
 * scheduling point, which store each load takes, which waiter a wake wakes.
 * Depth-first search repeats the list of the last run up to its last choice
 * that has an untried alternative, and takes that; beyond the list, each choice
 * is 0 (stay on the thread, read the newest store).  Random search draws the
 * choices from a generator seeded anew for each run.
 *
 * Before each run the globals of the program (.data and .bss) are put back from
 * a snapshot that was made when the search began.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "loom_internal.h"

extern char __data_start;
extern char _end;

enum {
    WARM_UP_RUNS = 1000
};

void *__real_malloc(size_t size);
void __real_free(void *p);

loom_state *loom;

/* ---- choices ------------------------------------------------------------- */

static uint64_t next_random(void)
{
    uint64_t x = loom->random; /* xorshift64 */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    loom->random = x;
    return x;
}

static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (x ^ (x >> 31)) | 1;
}

static int choose(int n, bool mostly_first)
{
    if (n <= 1) {
        return 0;
    }
    if (loom->depth == LOOM_CHOICES) {
        loom_limit("too many choices in one run");
    }
    const int at = loom->depth;
    const loom_options *options = &loom->options;
    int k = 0;
    if (options->replay != NULL) {
        if (at < options->replay_length) {
            k = options->replay[at];
        }
        if (k < 0 || k >= n) {
            loom_limit("the list to replay does not fit the test");
        }
    } else if (options->search == LOOM_RAND) {
        const uint64_t r = next_random() >> 16;
        if (!mostly_first || (r & 3) == 0) {
            k = (int)((r >> 2) % (uint64_t)n);
        }
    } else if (at < loom->prefix) {
        if (loom->alternatives[at] != n) {
            loom_limit("the test does not repeat itself");
        }
        k = loom->choice[at];
    }
    loom->depth++;
    loom->choice[at] = k;
    loom->alternatives[at] = n;
    return k;
}

int loom_choose(int n)
{
    return choose(n, false);
}

int loom_choose_stay(int n)
{
    return choose(n, true);
}

void loom_choose_first(void)
{
    if (loom->depth == LOOM_CHOICES) {
        loom_limit("too many choices in one run");
    }
    loom->choice[loom->depth] = 0;
    loom->alternatives[loom->depth] = 1;
    loom->depth++;
}

/* The next list of choices in depth-first order; false when there is none. */
static bool next_prefix(void)
{
    if (loom->depth < loom->prefix) {
        loom_limit("the test does not repeat itself");
    }
    int last = loom->depth - 1;
    while (last >= 0 && loom->choice[last] + 1 >= loom->alternatives[last]) {
        last--;
    }
    if (last < 0) {
        return false;
    }
    loom->choice[last]++;
    loom->prefix = last + 1;
    return true;
}

/* ---- the end of a run ---------------------------------------------------- */

_Noreturn static void stop(loom_verdict verdict, const char *what)
{
    loom->verdict = verdict;
    snprintf(loom->what, sizeof loom->what, "%s", what);
    if (!loom->active) { /* between runs */
        fprintf(stderr, "loom: %s\n", what);
        exit(2);
    }
    loom_here(&loom->where);
    loom->active = false;
    _longjmp(loom->explorer, 1);
}

_Noreturn void loom_found(const char *what, uintptr_t address)
{
    char text[200];
    if (address != 0) {
        snprintf(text, sizeof text, "%s at %#lx (T%d, step %d)", what,
                 (unsigned long)address, loom->current, loom->steps);
    } else {
        snprintf(text, sizeof text, "%s (T%d, step %d)", what, loom->current,
                 loom->steps);
    }
    stop(LOOM_FOUND, text);
}

_Noreturn void loom_limit(const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "%s (T%d, step %d)", what, loom->current,
             loom->steps);
    stop(LOOM_ERROR, text);
}

_Noreturn void loom_fail(const char *what)
{
    LOOM_SITE();
    if (!loom_active()) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
    loom_found(what, 0);
}

_Noreturn void __wrap___assert_fail(const char *expression, const char *file,
                                    unsigned line, const char *function)
{
    char text[200];
    LOOM_SITE();
    (void)function;
    snprintf(text, sizeof text, "assertion failed at %s:%u: %s", file, line,
             expression);
    loom_fail(text);
}

/* ---- the program image --------------------------------------------------- */

static int find_image(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    loom->load_bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_TLS) {
            loom->tls = info->dlpi_tls_data;
            loom->tls_size = header->p_memsz;
            loom->tls_image = (const char *)(info->dlpi_addr + header->p_vaddr);
            loom->tls_image_size = header->p_filesz;
        }
    }
    return 1; /* the first object is the program; no other one matters */
}

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("loom: mmap");
        exit(2);
    }
    return p;
}

static void create_state(void)
{
    loom = map(sizeof *loom);
    loom->arena = map(LOOM_ARENA);
    loom->stacks = map((size_t)LOOM_STACK * LOOM_THREADS);
    dl_iterate_phdr(find_image, NULL);
    if (loom->tls_size > LOOM_TLS) {
        fprintf(stderr, "loom: too much thread-local storage\n");
        exit(2);
    }
}

static size_t globals_size(void)
{
    return (size_t)(&_end - &__data_start);
}

static void save_image(void)
{
    loom->snapshot = __real_malloc(globals_size() + loom->tls_size);
    if (loom->snapshot == NULL) {
        perror("loom: malloc");
        exit(2);
    }
    memcpy(loom->snapshot, &__data_start, globals_size());
    loom->tls_saved = loom->snapshot + globals_size();
    if (loom->tls_size > 0) {
        memcpy(loom->tls_saved, loom->tls, loom->tls_size);
    }
}

static void restore_globals(void)
{
    memcpy(&__data_start, loom->snapshot, globals_size());
}

static void restore_image(void)
{
    restore_globals();
    if (loom->tls_size > 0) {
        memcpy(loom->tls, loom->tls_saved, loom->tls_size);
    }
    __real_free(loom->snapshot);
}

/* ---- the search ---------------------------------------------------------- */

static void *run_body(void *arg)
{
    (void)arg;
    loom->body();
    return NULL;
}

static void run_once(long run)
{
    restore_globals();
    loom_memory_reset();
    loom_threads_reset();
    loom_trace_reset();
    loom->depth = 0;
    loom->spurious = 0;
    loom->clock_ns = 0;
    loom->random = mixed(loom->options.seed + mixed((uint64_t)run));
    loom->active = true;
    loom_spawn(run_body, NULL);
    loom_run_fibers();
    loom->active = false;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct {
    long runs;
    double start;
    bool exhausted;
} progress;

/* True when the search goes on. */
static bool run_next(progress *p)
{
    const loom_options *options = &loom->options;
    if (p->runs >= options->runs ||
        (options->seconds > 0 && p->runs % 256 == 0 &&
         now() - p->start > options->seconds)) {
        return false;
    }
    run_once(p->runs);
    p->runs++;
    return loom->verdict == LOOM_PASS;
}

static void search_at_random(progress *p)
{
    while (run_next(p)) {
    }
}

/* A few random runs show which thread accesses what (loom_reduce.c), and find
 * many a bug sooner than the systematic search. */
static bool warm_up(progress *p)
{
    bool going = true;
    loom->options.search = LOOM_RAND;
    for (int i = 0; going && i < WARM_UP_RUNS; i++) {
        going = run_next(p);
    }
    loom->options.search = LOOM_DFS;
    return going;
}

static void search_depth_first(progress *p)
{
    loom->prefix = 0;
    while (run_next(p)) {
        if (loom_use_learned()) {
            loom->prefix = 0;
        } else if (!next_prefix()) {
            p->exhausted = true;
            return;
        }
    }
}

static void search(progress *p)
{
    if (loom->options.replay != NULL) {
        run_next(p);
    } else if (loom->options.search == LOOM_RAND) {
        search_at_random(p);
    } else if (warm_up(p)) {
        loom_use_learned();
        search_depth_first(p);
    }
}

void loom_explore(const loom_options *options, void (*body)(void),
                  loom_result *result)
{
    progress p = {.runs = 0, .start = now(), .exhausted = false};
    if (loom == NULL) {
        create_state();
    }
    loom->options = *options;
    loom->body = body;
    loom->verdict = LOOM_PASS;
    loom->what[0] = '\0';
    loom_reduce_reset();
    save_image();
    search(&p);
    restore_image();
    if (loom->verdict != LOOM_PASS) {
        loom_threads_abandon();
    }
    memset(result, 0, sizeof *result);
    result->verdict = loom->verdict;
    result->exhausted = p.exhausted;
    result->runs = p.runs;
    result->seconds = now() - p.start;
    memcpy(result->what, loom->what, sizeof result->what);
    result->where = loom->where;
    result->conflict = loom->conflict;
    result->choices = loom->choice;
    result->choice_count = loom->depth;
}

/* ---- parameters ---------------------------------------------------------- */

bool loom_fences_seqcst(void)
{
    return loom != NULL && loom->options.seqcst;
}

void loom_set_args(const long *values, unsigned count)
{
    if (loom == NULL) {
        create_state();
    }
    const unsigned limit = sizeof loom->arg / sizeof loom->arg[0];
    loom->args = count < limit ? count : limit;
    memcpy(loom->arg, values, loom->args * sizeof *values);
}

long loom_arg(unsigned index, long fallback)
{
    return loom != NULL && index < loom->args ? loom->arg[index] : fallback;
}
