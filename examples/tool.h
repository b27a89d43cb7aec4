/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * tool.h: the dull parts that ws-sort.c, ws-wc.c and compress-pipe.c share:
 * options, reading whole files, the clock, statistics.  What cannot go on ends
 * the program with a message and code 2.
 *
 * Options: -j WORKERS (0, the default: all CPUs), -o OUT, -s: print times and
 * what each worker did to stderr, one line of name=value pairs.
 */
#ifndef WSTEAL_EXAMPLES_TOOL_H
#define WSTEAL_EXAMPLES_TOOL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wsteal.h>

#define TOOL_BLOCK ((size_t)1 << 20)

struct tool {
    ws_pool *pool;
    char *const *paths; /* the arguments behind the options; ends with NULL */
    const char *out;    /* NULL: standard output */
    int stats;
    int posix;      /* ws-wc only */
    int decompress; /* compress-pipe only */
};

static inline void *tool_need(void *p)
{
    if (p == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return p;
}

/** Reads the options, of which `accepted` names those the program has, and
 * makes the pool. */
static inline struct tool tool_start(int argc, char **argv,
                                     const char *accepted, const char *usage)
{
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    struct tool tool = {NULL, NULL, NULL, 0, 0, 0};
    int good = 1;
    for (int option; (option = getopt(argc, argv, accepted)) != -1;) {
        if (option == 'j') {
            char *end;
            const unsigned long workers = strtoul(optarg, &end, 10);
            good = good && end != optarg && *end == '\0';
            /* What is too large for a pool is left to the library to refuse. */
            config.num_threads = workers <= WS_MAX_WORKERS ? (unsigned)workers
                                                           : WS_MAX_WORKERS + 1;
        } else if (option == 'o') {
            tool.out = optarg;
        } else if (option == 's') {
            tool.stats = 1;
        } else if (option == 'd') {
            tool.decompress = 1;
        } else {
            tool.posix = 1;
            good = good && option == 'p';
        }
    }
    tool.paths = argv + optind;
    if (!good || optind >= argc) {
        fprintf(stderr, "usage: %s\n", usage);
        exit(2);
    }
    const int code = ws_pool_create(&tool.pool, &config);
    if (code != WS_OK) {
        fprintf(stderr, "%s: no pool: %s\n", argv[0], ws_strerror(code));
        exit(2);
    }
    return tool;
}

/** All files behind each other, each line with a newline at its end; the
 * caller frees the result. */
static inline unsigned char *tool_read(const struct tool *tool, size_t *size)
{
    size_t capacity = TOOL_BLOCK;
    unsigned char *text = tool_need(malloc(capacity));
    *size = 0;
    for (char *const *path = tool->paths; *path != NULL; path++) {
        FILE *file = fopen(*path, "rb");
        for (size_t got = 1; file != NULL && got > 0; *size += got) {
            if (capacity - *size <= TOOL_BLOCK) { /* one byte for a newline */
                capacity = 2 * capacity + TOOL_BLOCK;
                text = tool_need(realloc(text, capacity));
            }
            got = fread(text + *size, 1, TOOL_BLOCK, file);
        }
        if (file == NULL || ferror(file)) {
            perror(*path);
            free(text);
            exit(2);
        }
        fclose(file);
        if (*size > 0 && text[*size - 1] != '\n') {
            text[(*size)++] = '\n';
        }
    }
    return text;
}

/** Makes standard output the file OUT.  Call it when all input is read: the
 * two may be the same file. */
static inline void tool_open_output(const struct tool *tool)
{
    if (tool->out != NULL && freopen(tool->out, "wb", stdout) == NULL) {
        perror(tool->out);
        exit(2);
    }
}

/** Seconds, from an unknown origin. */
static inline double tool_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/** Completes the line of statistics, destroys the pool, checks the output. */
static inline void tool_finish(const struct tool *tool)
{
    ws_worker_stats w;
    uint64_t jobs = 0;
    uint64_t steals = 0;
    for (unsigned i = 0; tool->stats && i < ws_pool_num_workers(tool->pool) &&
                         ws_pool_worker_stats(tool->pool, i, &w) == WS_OK;
         i++) {
        jobs += w.jobs;
        steals += w.steals;
        fprintf(stderr, "w%u_jobs=%" PRIu64 " w%u_steals=%" PRIu64 " ", i,
                w.jobs, i, w.steals);
    }
    if (tool->stats) {
        fprintf(stderr, "workers=%u jobs=%" PRIu64 " steals=%" PRIu64 "\n",
                ws_pool_num_workers(tool->pool), jobs, steals);
    }
    const int code = ws_pool_destroy(tool->pool);
    if (ferror(stdout) || fclose(stdout) != 0 || code != WS_OK) {
        perror(tool->out != NULL ? tool->out : "standard output");
        exit(2);
    }
}

#endif
