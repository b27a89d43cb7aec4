/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * ws-wc.c [-j WORKERS] [-s] [-o OUT] [-p] DIR...: prints how many files, lines,
 * words and bytes are in directory trees, as find and wc count them.  Shows
 * ws_scope(): a tree of jobs whose size nobody knows (entries, large files).
 *
 * An error is reported, becomes the code of its job and so of the scope, and
 * stops nothing.  A word must have a printable byte, as for GNU wc 9.1, but
 * with -p need not, as for POSIX and newer versions.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "tool.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE ((off_t)1 << 20)
#define BUFFER ((off_t)1 << 16)

struct job {
    off_t begin, end; /* of a piece of a file; end 0: see what path is */
    char path[];
};

static atomic_uint_least64_t files, lines, words, bytes;
static int posix_words;
static int visit(struct ws_scope *scope, void *arg);

static int spawn(struct ws_scope *scope, const char *dir, const char *name,
                 off_t begin, off_t end)
{
    const size_t size = strlen(dir) + strlen(name) + 2;
    struct job *job = tool_need(malloc(sizeof *job + size));
    *job = (struct job){.begin = begin, .end = end};
    snprintf(job->path, size, "%s%s%s", dir, *dir != '\0' ? "/" : "", name);
    return ws_scope_spawn(scope, visit, job);
}

/* A piece has the words that begin behind its first space (the first piece: at
 * its begin) and before the first space at or behind its end. */
static int count(const struct job *job)
{
    unsigned char buffer[BUFFER];
    uint64_t n_lines = 0;
    uint64_t n_words = 0;
    int in_word = job->begin > 0;
    ssize_t got = 1;
    const int fd = open(job->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return errno;
    }
    for (off_t at = job->begin; got > 0 && (at < job->end || !in_word);
         at += got) {
        const int inside = at < job->end;
        const off_t rest = inside ? job->end - at : BUFFER;
        got = pread(fd, buffer, rest < BUFFER ? (size_t)rest : BUFFER, at);
        for (ssize_t i = 0; i < got; i++) {
            const unsigned char c = buffer[i];
            const int space = c == ' ' || (c >= '\t' && c <= '\r');
            const int word = !space && (posix_words || (c > ' ' && c <= '~'));
            n_lines += inside && c == '\n';
            n_words += word && !in_word;
            in_word = space ? !inside : in_word || word;
        }
        atomic_fetch_add(&bytes, inside && got > 0 ? (uint64_t)got : 0);
    }
    atomic_fetch_add(&lines, n_lines);
    atomic_fetch_add(&words, n_words);
    const int code = got < 0 ? errno : 0;
    close(fd);
    return code;
}

static int list(struct ws_scope *scope, const char *dir)
{
    struct dirent **entries = NULL;
    const int n = scandir(dir, &entries, NULL, NULL);
    const int code = n < 0 ? errno : 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            spawn(scope, dir, name, 0, 0);
        }
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int visit(struct ws_scope *scope, void *arg)
{
    struct job *job = arg;
    struct stat info;
    int code = 0;
    if (job->end > 0) {
        code = count(job);
    } else if (lstat(job->path, &info) != 0) {
        code = errno;
    } else if (S_ISDIR(info.st_mode)) {
        code = list(scope, job->path);
    } else if (S_ISREG(info.st_mode)) {
        atomic_fetch_add(&files, 1);
        for (; info.st_size - job->begin > PIECE; job->begin += PIECE) {
            spawn(scope, "", job->path, job->begin, job->begin + PIECE);
        }
        job->end = INT64_MAX; /* what is left is the piece of this job */
        code = count(job);
    }
    if (code != 0) {
        fprintf(stderr, "%s: %s\n", job->path, strerror(code));
    }
    free(job);
    return code;
}

static int walk(struct ws_scope *scope, void *arg)
{
    for (char *const *path = arg; *path != NULL; path++) {
        spawn(scope, "", *path, 0, 0);
    }
    return 0;
}

static int start(void *arg)
{
    return ws_scope(walk, arg);
}

int main(int argc, char **argv)
{
    struct tool tool = tool_start(
        argc, argv, "j:o:sp", "ws-wc [-j WORKERS] [-s] [-o OUT] [-p] DIR...");
    posix_words = tool.posix;
    const double begin = tool_now();
    const int code = ws_pool_install(tool.pool, start, (void *)tool.paths);
    if (tool.stats) {
        fprintf(stderr, "walk_s=%.6f ", tool_now() - begin);
    }
    tool_open_output(&tool);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           atomic_load(&files), atomic_load(&lines), atomic_load(&words),
           atomic_load(&bytes));
    tool_finish(&tool);
    return code != 0;
}
