/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * cube2x2.c [MODE] [--serial] [--workers N] [--runs N]: visits all 3,674,160
 * states of the 2x2x2 cube, with one corner fixed and the nine moves U U2 U' R
 * R2 R' F F2 F', and checks their number, per depth where the mode knows it.
 *
 *   --levels     (default) level by level, counts per depth; ws_for()
 *   --search     visits all states, in no order, without depths; ws_search()
 *   --per-state  the same with one ws_scope_spawn() per state
 *   --serial     the same in plain C without the library
 *   --runs N     so many times, and prints the median
 *
 * cube_levels.h says why levels are fastest.  --search shows the general way:
 * its visited set, one bit per state, is shared, and moves between the caches
 * of the workers all the time.
 */
#define _POSIX_C_SOURCE 200809L
#include "cube_visited.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wsteal.h>

#define DEPTHS 12

static const uint64_t known[DEPTHS] = {
    1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644};

/* ---- level by level -------------------------------------------------- */

static atomic_uint_fast64_t found;

static int step(size_t begin, size_t end, void *arg)
{
    (void)arg;
    /* relaxed: read after the run has returned */
    atomic_fetch_add_explicit(&found, level_step(begin, end),
                              memory_order_relaxed);
    return 0;
}

static int levels(int serial)
{
    uint64_t now = 1;
    int code = 0;
    level_begin();
    while (now > 0 && code == 0) {
        level_open(now);
        atomic_store(&found, 0);
        code =
            serial ? step(0, PERMS, NULL) : ws_for(0, PERMS, NULL, step, NULL);
        now = atomic_load(&found);
    }
    return code;
}

/* ---- the general search ---------------------------------------------- */

static uint64_t n_visited;
static int quiet;

static int expand(const void *state, struct ws_search *search, void *arg)
{
    uint32_t next[MOVES];
    const unsigned n = visited_next(*(const uint32_t *)state, next);
    (void)arg;
    for (unsigned i = 0; i < n; i++) {
        if (visited_add(next[i])) {
            ws_search_emit(search, &next[i]);
        }
    }
    return 0;
}

static void progress(const ws_search_stats *stats, struct ws_search *search,
                     void *arg)
{
    (void)search;
    (void)arg;
    if (!quiet) {
        fprintf(stderr, "\r%10" PRIu64 " visited %8" PRIu64 " open %6.1f M/s",
                stats->visited, stats->open, stats->per_second / 1e6);
    }
}

static int search(void)
{
    const uint32_t root = 0;
    ws_search_config config = WS_SEARCH_CONFIG_INIT;
    ws_search_stats stats;
    config.state_size = sizeof root;
    config.roots = &root;
    config.n_roots = 1;
    config.roots_visited = visited_add(root);
    config.expand = expand;
    config.progress = progress;
    config.progress_ms = 50;
    const int code = ws_search(&config, &stats);
    n_visited = stats.visited;
    return code;
}

static int spawn_state(struct ws_scope *scope, void *arg)
{
    uint32_t next[MOVES];
    const unsigned n = visited_next((uint32_t)(uintptr_t)arg, next);
    for (unsigned i = 0; i < n; i++) {
        if (visited_add(next[i])) {
            ws_scope_spawn(scope, spawn_state, (void *)(uintptr_t)next[i]);
        }
    }
    return 0;
}

static int per_state(void)
{
    visited_add(0);
    const int code = ws_scope(spawn_state, NULL);
    for (uint32_t i = 0; i < STATES; i++) {
        n_visited += !visited_look(i);
    }
    return code;
}

static int serial_search(void)
{
    uint32_t *stack = malloc((STATES + MOVES) * sizeof *stack);
    size_t n_open = 0;
    uint64_t count = 1;
    if (stack == NULL) {
        return WS_ENOMEM;
    }
    visited[0] = 1;
    stack[n_open++] = 0;
    while (n_open > 0) {
        const uint32_t state = stack[--n_open];
        const unsigned n = visited_next(state, &stack[n_open]);
        for (unsigned i = 0; i < n; i++) {
            const uint32_t next = stack[n_open++];
            visited[next / 32] |= (uint32_t)1 << next % 32;
        }
        count += n;
    }
    n_visited = count;
    free(stack);
    return 0;
}

/* ---- the program ----------------------------------------------------- */

enum mode {
    LEVELS,
    SEARCH,
    PER_STATE
};

struct run {
    enum mode mode;
    int serial;
};

static int run_once(void *arg)
{
    const struct run *r = arg;
    return r->mode == LEVELS   ? levels(r->serial)
           : r->serial         ? serial_search()
           : r->mode == SEARCH ? search()
                               : per_state();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Not timed. */
static void clear(void)
{
    memset(&visited, 0, sizeof visited);
    n_visited = 0;
}

static int check(const struct run *r)
{
    int good = 1;
    if (r->mode != LEVELS) {
        printf("%" PRIu64 " states\n", n_visited);
        return n_visited == STATES;
    }
    for (unsigned d = 0; d < DEPTHS; d++) {
        printf("%2u %8" PRIu64 "\n", d, level.counts[d]);
        good = good && level.counts[d] == known[d];
    }
    return good && level.depths == DEPTHS;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int usage(const char *name)
{
    fprintf(stderr,
            "usage: %s [--levels|--search|--per-state] [--serial] "
            "[--workers N] [--runs N]\n",
            name);
    return 2;
}

int main(int argc, char **argv)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    struct run run = {LEVELS, 0};
    long runs = 1;
    for (int i = 1; i < argc; i++) {
        const long number = i + 1 < argc ? strtol(argv[i + 1], NULL, 10) : -1;
        if (strcmp(argv[i], "--levels") == 0) {
            run.mode = LEVELS;
        } else if (strcmp(argv[i], "--search") == 0) {
            run.mode = SEARCH;
        } else if (strcmp(argv[i], "--per-state") == 0) {
            run.mode = PER_STATE;
        } else if (strcmp(argv[i], "--serial") == 0) {
            run.serial = 1;
        } else if (strcmp(argv[i], "--workers") == 0 && number >= 0 &&
                   number <= WS_MAX_WORKERS) {
            config.num_threads = (unsigned)number;
            i++;
        } else if (strcmp(argv[i], "--runs") == 0 && number > 0 &&
                   number < 10000) {
            runs = number;
            i++;
        } else {
            return usage(argv[0]);
        }
    }
    quiet = !isatty(STDERR_FILENO);
    cube_make_tables();
    ws_pool *pool;
    double *times = malloc((size_t)runs * sizeof *times);
    int code = times == NULL ? WS_ENOMEM : ws_pool_create(&pool, &config);
    if (code != WS_OK) {
        fprintf(stderr, "%s\n", ws_strerror(code));
        return 2;
    }
    for (long i = 0; i < runs && code == 0; i++) {
        clear();
        const double begin = seconds();
        code = ws_pool_install(pool, run_once, &run);
        times[i] = seconds() - begin;
    }
    if (code != 0) {
        fprintf(stderr, "\n%s\n", ws_strerror(code));
        return 2;
    }
    const int good = check(&run);
    qsort(times, (size_t)runs, sizeof *times, compare);
    const double median = times[runs / 2];
    if (run.serial) {
        fprintf(stderr, "%sserial", quiet ? "" : "\r");
    } else {
        fprintf(stderr, "%s%u worker(s)", quiet ? "" : "\r",
                ws_pool_num_workers(pool));
    }
    fprintf(stderr, ": %.1f ms, %.1f ns per state; best of %ld: %.1f ns\n",
            median * 1e3, median * 1e9 / STATES, runs, times[0] * 1e9 / STATES);
    free(times);
    ws_pool_destroy(pool);
    if (!good) {
        fputs("WRONG\n", stderr);
    }
    return good ? 0 : 1;
}
