/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * components.c [-j WORKERS] [-s] (FILE | --random N M SEED [--print]): the
 * connected components of a graph, whose edges are lines "u v" of FILE ("-" is
 * standard input), with numbers below 2^32 - 1.  Lines that are empty or begin
 * with # are skipped.  Prints the number of vertices that have edges, of edges
 * and of components, and how many components there are of each size.
 *
 *   --random  M random edges between N vertices; --print prints them, no more
 *   -s        prints the time to stderr
 *
 * Shows ws_for(): the array of edges is divided on demand.  Components are
 * merged by a union-find without locks: a root is hung below a smaller one by a
 * compare-and-swap, so the smallest vertex stands for its component in the end,
 * whatever the order of the merges.
 */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define NONE UINT32_MAX

struct edge {
    uint32_t from, to;
};

static struct edge *edges;
static size_t n_edges;
/* Of each vertex: its parent, itself for a root, NONE without edges. */
static _Atomic uint32_t *parents;
static _Atomic uint32_t *sizes;
static size_t n_vertices;

/* ---- input ----------------------------------------------------------- */

static void add_edge(uint32_t from, uint32_t to)
{
    if ((n_edges & (n_edges - 1)) == 0) {
        const size_t room = n_edges > 0 ? 2 * n_edges : 1;
        edges = tool_need(realloc(edges, room * sizeof *edges));
    }
    edges[n_edges++] = (struct edge){from, to};
    n_vertices = from >= n_vertices ? from + (size_t)1 : n_vertices;
    n_vertices = to >= n_vertices ? to + (size_t)1 : n_vertices;
}

static int number(char **at, uint32_t *out)
{
    char *begin = *at + strspn(*at, " \t");
    errno = 0;
    const unsigned long value = strtoul(begin, at, 10);
    *out = (uint32_t)value;
    return *begin >= '0' && *begin <= '9' && errno == 0 && value < NONE;
}

static void read_edges(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    for (size_t n = 1; getline(&line, &room, file) >= 0; n++) {
        struct edge e;
        char *at = line;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#') {
            continue;
        }
        if (!number(&at, &e.from) || !number(&at, &e.to) ||
            at[strspn(at, " \t\r\n")] != '\0') {
            fprintf(stderr, "%s:%zu: not an edge\n", path, n);
            exit(2);
        }
        add_edge(e.from, e.to);
    }
    if (ferror(file)) {
        perror(path);
        exit(2);
    }
    free(line);
    fclose(file);
}

static uint32_t random_below(uint64_t *state, uint64_t n)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((x ^ x >> 31) % n);
}

static void make_edges(uint64_t n, uint64_t m, uint64_t seed)
{
    for (uint64_t i = 0; i < m; i++) {
        const uint32_t from = random_below(&seed, n);
        add_edge(from, random_below(&seed, n));
    }
}

/* ---- union and find -------------------------------------------------- */

/* All accesses are relaxed: a parent is a number, it hands no data over.  Each
 * step goes to a smaller number, so there is an end. */
static uint32_t parent_of(uint32_t v)
{
    return atomic_load_explicit(&parents[v], memory_order_relaxed);
}

static uint32_t find(uint32_t v)
{
    for (uint32_t parent; (parent = parent_of(v)) != v; v = parent) {
        uint32_t above = parent_of(parent);
        if (above != parent) {
            /* Halves the way; when it fails, somebody else has. */
            uint32_t old = parent;
            atomic_compare_exchange_weak_explicit(&parents[v], &old, above,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed);
        }
    }
    return v;
}

static void unite(uint32_t a, uint32_t b)
{
    for (;;) {
        a = find(a);
        b = find(b);
        if (a == b) {
            return;
        }
        uint32_t root = a > b ? a : b;
        if (atomic_compare_exchange_strong_explicit(
                &parents[root], &root, a < b ? a : b, memory_order_relaxed,
                memory_order_relaxed)) {
            return;
        }
    }
}

static int unite_edges(size_t begin, size_t end, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end; i++) {
        unite(edges[i].from, edges[i].to);
    }
    return 0;
}

static int count_vertices(size_t begin, size_t end, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end; i++) {
        if (parent_of((uint32_t)i) != NONE) {
            atomic_fetch_add_explicit(&sizes[find((uint32_t)i)], 1,
                                      memory_order_relaxed);
        }
    }
    return 0;
}

static int unite_and_count(void *arg)
{
    (void)arg;
    const int code = ws_for(0, n_edges, NULL, unite_edges, NULL);
    return code != 0 ? code : ws_for(0, n_vertices, NULL, count_vertices, NULL);
}

static int find_components(ws_pool *pool)
{
    for (size_t v = 0; v < n_vertices; v++) {
        atomic_init(&parents[v], NONE);
        atomic_init(&sizes[v], 0);
    }
    for (size_t i = 0; i < n_edges; i++) {
        atomic_init(&parents[edges[i].from], edges[i].from);
        atomic_init(&parents[edges[i].to], edges[i].to);
    }
    return ws_pool_install(pool, unite_and_count, NULL);
}

/* ---- output ---------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

static void print_components(void)
{
    uint32_t *found = tool_need(malloc((n_vertices + 1) * sizeof *found));
    size_t n = 0;
    size_t with_edges = 0;
    for (size_t v = 0; v < n_vertices; v++) {
        const uint32_t size = atomic_load(&sizes[v]);
        with_edges += size;
        if (size > 0) {
            found[n++] = size;
        }
    }
    qsort(found, n, sizeof *found, descending);
    printf("%zu vertices, %zu edges, %zu components\n", with_edges, n_edges, n);
    for (size_t i = 0; i < n;) {
        size_t same = i;
        while (same < n && found[same] == found[i]) {
            same++;
        }
        printf("%zu of size %" PRIu32 "\n", same - i, found[i]);
        i = same;
    }
    free(found);
}

static int usage(void)
{
    fputs("usage: components [-j WORKERS] [-s] "
          "(FILE | --random N M SEED [--print])\n",
          stderr);
    return 2;
}

/* The arguments behind the options; false: they make no sense. */
static int read_input(int argc, char **argv, int *print)
{
    if (argc == 1 && argv[0][0] != '\0' && strncmp(argv[0], "--", 2) != 0) {
        read_edges(argv[0]);
        return 1;
    }
    *print = argc == 5 && strcmp(argv[4], "--print") == 0;
    if (argc < 4 || (argc > 4 && !*print) || argc > 5 ||
        strcmp(argv[0], "--random") != 0) {
        return 0;
    }
    const uint64_t n = strtoull(argv[1], NULL, 10);
    if (n == 0 || n >= NONE) {
        return 0;
    }
    make_edges(n, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    return 1;
}

int main(int argc, char **argv)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pool;
    int at = 1;
    int timed = 0;
    int print = 0;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '-'; at++) {
        if (strcmp(argv[at], "-s") == 0) {
            timed = 1;
        } else if (strcmp(argv[at], "-j") == 0 && at + 1 < argc) {
            config.num_threads = (unsigned)strtoul(argv[++at], NULL, 10);
        } else {
            break;
        }
    }
    if (!read_input(argc - at, argv + at, &print)) {
        return usage();
    }
    for (size_t i = 0; print && i < n_edges; i++) {
        printf("%" PRIu32 " %" PRIu32 "\n", edges[i].from, edges[i].to);
    }
    if (print) {
        free(edges);
        return 0;
    }
    parents = tool_need(malloc((n_vertices + 1) * sizeof *parents));
    sizes = tool_need(malloc((n_vertices + 1) * sizeof *sizes));
    int code = ws_pool_create(&pool, &config);
    if (code != WS_OK) {
        fprintf(stderr, "components: %s\n", ws_strerror(code));
        return 2;
    }
    const double begin = tool_now();
    code = find_components(pool);
    if (timed) {
        fprintf(stderr, "%.1f ms, %u worker(s)\n", (tool_now() - begin) * 1e3,
                ws_pool_num_workers(pool));
    }
    ws_pool_destroy(pool);
    if (code == 0) {
        print_components();
    }
    free(parents);
    free(sizes);
    free(edges);
    return code == 0 ? 0 : 2;
}
