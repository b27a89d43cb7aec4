/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * grep-tree.c [-j WORKERS] [-u] [-q] STRING PATH...: prints the lines that hold
 * STRING in all files of directory trees, as grep -rnaF does: path:line:text.
 *
 *   -u  as they are found; otherwise sorted by path
 *   -q  prints nothing, ends at the first match
 *
 * Shows ws_search() on something that is no puzzle: a state is a path, to
 * expand a directory is to emit what is in it, to expand a file is to search
 * it.  A tree has no cycles, so there is no visited set.  Codes are grep's: 0
 * found, 1 not found, 2 an error, which is reported and stops nothing.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wsteal.h>

enum {
    FOUND = 1 /* the code that ends a search with -q */
};

/* What is printed of one file. */
struct match {
    char *path;
    char *text;
    size_t size;
    size_t room;
};

static const char *needle;
static size_t needle_size;
static int unsorted;
static int quiet;
static atomic_int n_errors;
static atomic_int n_found;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct match *matches; /* under the lock */
static size_t n_matches;

static void *need(void *p)
{
    if (p == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return p;
}

static void complain(const char *path)
{
    fprintf(stderr, "grep-tree: %s: %s\n", path, strerror(errno));
    atomic_store(&n_errors, 1);
}

/* ---- a file ---------------------------------------------------------- */

/* The first needle in [at, end), or NULL. */
static const char *find(const char *at, const char *end)
{
    if (needle_size == 0) {
        return at < end ? at : NULL;
    }
    while ((size_t)(end - at) >= needle_size) {
        const size_t starts = (size_t)(end - at) - needle_size + 1;
        at = memchr(at, needle[0], starts);
        if (at == NULL || memcmp(at, needle, needle_size) == 0) {
            return at;
        }
        at++;
    }
    return NULL;
}

static void add(struct match *m, const char *text, size_t size)
{
    if (m->room - m->size < size) {
        m->room = 2 * m->room + size;
        m->text = need(realloc(m->text, m->room));
    }
    memcpy(m->text + m->size, text, size);
    m->size += size;
}

static void add_line(struct match *m, unsigned long line, const char *text,
                     size_t size)
{
    char number[32];
    const int length = snprintf(number, sizeof number, ":%lu:", line);
    add(m, m->path, strlen(m->path));
    add(m, number, (size_t)length);
    add(m, text, size);
    add(m, "\n", 1);
}

static void match_lines(struct match *m, const char *text, size_t size)
{
    const char *end = text + size;
    const char *begin = text; /* of a line, whose number is `line` */
    unsigned long line = 1;
    for (const char *hit; (hit = find(begin, end)) != NULL;) {
        for (const char *newline;
             (newline = memchr(begin, '\n', (size_t)(hit - begin))) != NULL;
             line++) {
            begin = newline + 1;
        }
        const char *stop = memchr(hit, '\n', (size_t)(end - hit));
        stop = stop != NULL ? stop : end;
        add_line(m, line++, begin, (size_t)(stop - begin));
        if (quiet || stop == end) {
            return;
        }
        begin = stop + 1;
    }
}

/* Takes what the match holds. */
static void keep(struct match m)
{
    pthread_mutex_lock(&lock);
    if (unsorted) {
        fwrite(m.text, 1, m.size, stdout);
        free(m.path);
        free(m.text);
    } else {
        /* The room doubles at powers of two. */
        if ((n_matches & (n_matches - 1)) == 0) {
            const size_t room = n_matches > 0 ? 2 * n_matches : 1;
            matches = need(realloc(matches, room * sizeof *matches));
        }
        matches[n_matches++] = m;
    }
    pthread_mutex_unlock(&lock);
}

static char *read_file(const char *path, size_t *size)
{
    size_t room = 1 << 16;
    char *text = need(malloc(room));
    ssize_t got = 1;
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    *size = 0;
    while (fd >= 0 && (got = read(fd, text + *size, room - *size)) > 0) {
        *size += (size_t)got;
        if (*size == room) {
            room *= 2;
            text = need(realloc(text, room));
        }
    }
    if (fd < 0 || got < 0) {
        complain(path);
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

/* Takes the path. */
static int search_file(char *path)
{
    size_t size;
    struct match m = {path, NULL, 0, 0};
    char *text = read_file(path, &size);
    match_lines(&m, text, size);
    free(text);
    if (m.size == 0) {
        free(path);
        return 0;
    }
    atomic_store(&n_found, 1);
    if (quiet) {
        free(path);
        free(m.text);
        return FOUND;
    }
    keep(m);
    return 0;
}

/* ---- the tree -------------------------------------------------------- */

static char *join(const char *dir, const char *name)
{
    const size_t length = strlen(dir);
    const char *slash = length > 0 && dir[length - 1] == '/' ? "" : "/";
    const size_t size = length + strlen(name) + 2;
    char *path = need(malloc(size));
    snprintf(path, size, "%s%s%s", dir, slash, name);
    return path;
}

static int is_searched(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        complain(path);
        return 0;
    }
    return S_ISDIR(info.st_mode) || S_ISREG(info.st_mode);
}

static int list(const char *dir, DIR *stream, struct ws_search *search)
{
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        char *path = join(dir, name);
        if (!is_searched(path)) {
            free(path);
        } else if (ws_search_emit(search, &path) < 0) {
            /* Without memory the search ends, and would list this again. */
            free(path);
            break;
        }
    }
    closedir(stream);
    return 0;
}

static int expand(const void *state, struct ws_search *search, void *arg)
{
    char *path = *(char *const *)state;
    (void)arg;
    DIR *stream = opendir(path);
    if (stream != NULL) {
        const int code = list(path, stream, search);
        free(path);
        return code;
    }
    if (errno == ENOTDIR) {
        /* FOUND ends the search: not as the code of expand, since a state
         * whose expansion returns a code is handed to save. */
        if (search_file(path) == FOUND) {
            ws_search_stop(search, FOUND);
        }
        return 0;
    }
    complain(path);
    free(path);
    return 0;
}

/* What was not searched. */
static int forget(const void *states, size_t n, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        free(((char *const *)states)[i]);
    }
    return 0;
}

/* ---- the program ----------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
    const struct match *x = a;
    const struct match *y = b;
    return strcmp(x->path, y->path);
}

static void print_sorted(void)
{
    if (n_matches > 0) {
        qsort(matches, n_matches, sizeof *matches, by_path);
    }
    for (size_t i = 0; i < n_matches; i++) {
        fwrite(matches[i].text, 1, matches[i].size, stdout);
        free(matches[i].path);
        free(matches[i].text);
    }
    free(matches);
}

static char **copy_paths(char *const *paths, size_t n)
{
    char **copies = need(malloc(n * sizeof *copies));
    for (size_t i = 0; i < n; i++) {
        copies[i] = need(strdup(paths[i]));
    }
    return copies;
}

int main(int argc, char **argv)
{
    ws_pool_config pool_config = WS_POOL_CONFIG_INIT;
    ws_search_config config = WS_SEARCH_CONFIG_INIT;
    int good = 1;
    for (int option; (option = getopt(argc, argv, "j:uq")) != -1;) {
        if (option == 'j') {
            pool_config.num_threads = (unsigned)strtoul(optarg, NULL, 10);
        } else if (option == 'u') {
            unsorted = 1;
        } else {
            quiet = 1;
            good = good && option == 'q';
        }
    }
    if (!good || argc - optind < 2) {
        fputs("usage: grep-tree [-j WORKERS] [-u] [-q] STRING PATH...\n",
              stderr);
        return 2;
    }
    needle = argv[optind];
    needle_size = strlen(needle);
    const size_t n_roots = (size_t)(argc - optind - 1);
    char **roots = copy_paths(argv + optind + 1, n_roots);
    int code = ws_pool_create(&config.pool, &pool_config);
    if (code != WS_OK) {
        fprintf(stderr, "grep-tree: no pool: %s\n", ws_strerror(code));
        return 2;
    }
    config.state_size = sizeof *roots;
    config.roots = roots;
    config.n_roots = n_roots;
    config.expand = expand;
    config.save = forget;
    code = ws_search(&config, NULL);
    ws_pool_destroy(config.pool);
    free(roots);
    print_sorted();
    if (code < 0) {
        fprintf(stderr, "grep-tree: %s\n", ws_strerror(code));
    }
    if (code == FOUND) {
        return 0;
    }
    if (code != 0 || atomic_load(&n_errors) != 0 || fflush(stdout) != 0) {
        return 2;
    }
    return atomic_load(&n_found) != 0 ? 0 : 1;
}
