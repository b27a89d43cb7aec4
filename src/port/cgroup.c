/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cgroup.c: the CPU quota of the process's control group, v1, v2 or both.
 *
 * Any thread may call; nothing is cached.  /proc/self/cgroup names the group,
 * /proc/self/mountinfo says where its hierarchy is mounted and from which group
 * on it shows it.  A limit on any ancestor binds, so the walk goes from the
 * group up to the mount point and keeps the smallest quota.
 *
 * Every text is taken as hostile: a line, a number or a file that is not as
 * expected means "no limit from here", never an error.
 *
 * Layer: port.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "port/platform.h"

#define FIRST_READ_BYTES 1024U
/* A host with thousands of mounts has about a megabyte of mountinfo. */
#define MAX_READ_BYTES (64U << 20)
#define LONGEST_LEAF "/cpu.cfs_period_us"

/* One of the two hierarchies that can limit CPU time. */
typedef struct {
    unsigned version;
    const char *group;  /* path from /proc/self/cgroup, NULL = none */
    bool mounted;       /* a mount that shows our group was found */
    unsigned limit;     /* smallest over those mounts, 0 = none */
    unsigned elsewhere; /* smallest over mounts that do not show it */
} hierarchy;

/* A directory name in a buffer that has room for any leaf name. */
typedef struct {
    char *text;
    size_t length;
} directory;

static unsigned smaller_known(unsigned a, unsigned b)
{
    if (a == 0 || b == 0) {
        return a + b;
    }
    return a < b ? a : b;
}

/* ---- text ------------------------------------------------------------ */

/* What is left of *rest up to `separator`, which becomes its end; NULL when
 * nothing is left.  Empty pieces count. */
static char *cut(char **rest, char separator)
{
    char *piece = *rest;
    if (piece != NULL) {
        char *end = strchr(piece, separator);
        if (end != NULL) {
            *end = '\0';
            end++;
        }
        *rest = end;
    }
    return piece;
}

/* Is `word` one of the comma-separated words of `list`? */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = list; p != NULL;) {
        if (strncmp(p, word, length) == 0 &&
            (p[length] == ',' || p[length] == '\0')) {
            return true;
        }
        p = strchr(p, ',');
        p = p == NULL ? NULL : p + 1;
    }
    return false;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
            is_octal(from[3])) {
            *to = (char)(unsigned char)((from[1] - '0') * 64 +
                                        (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from;
            from++;
        }
    }
    *to = '\0';
}

/* Reads digits and moves *text behind them; false on none or too many. */
static bool parse_number(const char **text, uint64_t *out)
{
    const char *p = *text;
    uint64_t n = 0;
    while (*p >= '0' && *p <= '9') {
        const unsigned digit = (unsigned)(*p - '0');
        if (n > (UINT64_MAX - digit) / 10) {
            return false;
        }
        n = n * 10 + digit;
        p++;
    }
    const bool some = p != *text;
    *text = p;
    *out = n;
    return some;
}

static bool at_end(const char *text)
{
    return text[0] == '\0' || (text[0] == '\n' && text[1] == '\0');
}

/* ---- files ----------------------------------------------------------- */

static size_t read_some(int fd, char *to, size_t bytes, bool *failed)
{
    ssize_t n;
    do {
        n = read(fd, to, bytes);
    } while (n < 0 && errno == EINTR);
    *failed = n < 0;
    return n > 0 ? (size_t)n : 0;
}

/* All of an open file with a zero behind it, for wsi_mem_free(); NULL when it
 * cannot be read, is absurdly large, or memory is out. */
static char *read_open(int fd)
{
    size_t capacity = FIRST_READ_BYTES;
    size_t used = 0;
    bool failed = false;
    char *text = wsi_mem_alloc(sizeof(void *), capacity);
    while (text != NULL) {
        const size_t n =
            read_some(fd, text + used, capacity - 1 - used, &failed);
        used += n;
        if (n == 0) {
            break;
        }
        if (used + 1 == capacity) {
            capacity *= 2;
            char *larger = capacity <= MAX_READ_BYTES
                               ? wsi_mem_alloc(sizeof(void *), capacity)
                               : NULL;
            if (larger != NULL) {
                memcpy(larger, text, used);
            }
            wsi_mem_free(text);
            text = larger;
        }
    }
    if (failed) {
        wsi_mem_free(text);
        text = NULL;
    }
    return text;
}

static char *read_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    char *text = read_open(fd);
    (void)close(fd);
    return text;
}

/* root + a + b; text NULL when memory is out. */
static directory directory_new(const char *root, const char *a, const char *b)
{
    const size_t root_length = strlen(root);
    const size_t a_length = strlen(a);
    const size_t b_length = strlen(b);
    directory d = {NULL, root_length + a_length + b_length};
    d.text = wsi_mem_alloc(sizeof(void *), d.length + sizeof(LONGEST_LEAF));
    if (d.text != NULL) {
        memcpy(d.text, root, root_length);
        memcpy(d.text + root_length, a, a_length);
        memcpy(d.text + root_length + a_length, b, b_length);
    }
    return d;
}

static char *read_leaf(const directory *d, const char *leaf)
{
    memcpy(d->text + d->length, leaf, strlen(leaf) + 1);
    char *text = read_file(d->text);
    d->text[d->length] = '\0';
    return text;
}

/* A file of /proc/self below `root`. */
static char *read_proc_self(const char *root, const char *leaf)
{
    directory d = directory_new(root, "/proc/self", "");
    char *text = d.text != NULL ? read_leaf(&d, leaf) : NULL;
    wsi_mem_free(d.text);
    return text;
}

/* ---- quotas ---------------------------------------------------------- */

/* Rounded up: half a CPU still needs one worker, and with one and a half a
 * second worker has something to do. */
static unsigned quota_to_cpus(uint64_t quota, uint64_t period)
{
    if (quota == 0 || period == 0) {
        return 0; /* no kernel says so: not a limit */
    }
    const uint64_t cpus = quota / period + (quota % period != 0);
    return cpus < UINT_MAX ? (unsigned)cpus : UINT_MAX;
}

/* v2: "max 100000" or "150000 100000". */
static unsigned parse_cpu_max(const char *text)
{
    uint64_t quota;
    uint64_t period;
    if (!parse_number(&text, &quota) || *text != ' ') {
        return 0;
    }
    text++;
    return parse_number(&text, &period) && at_end(text)
               ? quota_to_cpus(quota, period)
               : 0;
}

/* v1: one number in each file; a quota of -1 is none. */
static unsigned parse_cfs(const char *quota_text, const char *period_text)
{
    uint64_t quota;
    uint64_t period;
    return parse_number(&quota_text, &quota) && at_end(quota_text) &&
                   parse_number(&period_text, &period) && at_end(period_text)
               ? quota_to_cpus(quota, period)
               : 0;
}

static unsigned directory_limit(const directory *d, unsigned version)
{
    unsigned limit = 0;
    if (version == 2) {
        char *text = read_leaf(d, "/cpu.max");
        if (text != NULL) {
            limit = parse_cpu_max(text);
        }
        wsi_mem_free(text);
    } else {
        char *quota = read_leaf(d, "/cpu.cfs_quota_us");
        char *period = read_leaf(d, LONGEST_LEAF);
        if (quota != NULL && period != NULL) {
            limit = parse_cfs(quota, period);
        }
        wsi_mem_free(period);
        wsi_mem_free(quota);
    }
    return limit;
}

/* The smallest limit from the group at `point` + `below` up to `point`. */
static unsigned walk(const char *root, const char *point, const char *below,
                     unsigned version)
{
    const size_t top = strlen(root) + strlen(point);
    directory d = directory_new(root, point, below);
    if (d.text == NULL) {
        return 0;
    }
    unsigned limit = directory_limit(&d, version);
    while (d.length > top) {
        do {
            d.length--;
        } while (d.length > top && d.text[d.length] != '/');
        d.text[d.length] = '\0';
        limit = smaller_known(limit, directory_limit(&d, version));
    }
    wsi_mem_free(d.text);
    return limit;
}

/* ---- /proc/self ------------------------------------------------------ */

/* Lines "id:controllers:path".  The paths stay in `text`. */
static void find_groups(char *text, hierarchy *v1, hierarchy *v2)
{
    for (char *line; (line = cut(&text, '\n')) != NULL;) {
        const char *id = cut(&line, ':');
        const char *controllers = cut(&line, ':');
        const char *path = line; /* may hold further colons */
        if (controllers == NULL || path == NULL || path[0] != '/') {
            continue;
        }
        if (strcmp(id, "0") == 0 && controllers[0] == '\0') {
            v2->group = path;
        } else if (has_word(controllers, "cpu")) {
            v1->group = path;
        }
    }
}

/* Has `path` a component ".."?  The kernel writes one for what lies outside
 * the reader's cgroup namespace. */
static bool leaves_namespace(const char *path)
{
    for (const char *p = path; (p = strstr(p, "/..")) != NULL; p += 3) {
        if (p[3] == '/' || p[3] == '\0') {
            return true;
        }
    }
    return false;
}

/* Where below a mount of `mount_root` the group is: "" or "/...", NULL when
 * the mount does not show it. */
static const char *group_below(const char *group, const char *mount_root)
{
    if (leaves_namespace(group) || leaves_namespace(mount_root)) {
        return NULL;
    }
    if (strcmp(group, "/") == 0) {
        group = "";
    }
    const size_t length = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
    if (strncmp(group, mount_root, length) != 0 ||
        (group[length] != '/' && group[length] != '\0')) {
        return NULL;
    }
    return group + length;
}

static void add_mount(const char *root, hierarchy *h, const char *mount_root,
                      const char *point)
{
    if (h->group == NULL) {
        return;
    }
    const char *below = group_below(h->group, mount_root);
    if (below != NULL) {
        h->mounted = true;
        h->limit =
            smaller_known(h->limit, walk(root, point, below, h->version));
    } else {
        h->elsewhere =
            smaller_known(h->elsewhere, walk(root, point, "", h->version));
    }
}

/* Lines "id parent major:minor root point options [tag...] - type source
 * super-options" (proc(5)). */
static void find_mounts(const char *root, char *text, hierarchy *v1,
                        hierarchy *v2)
{
    for (char *line; (line = cut(&text, '\n')) != NULL;) {
        for (int i = 0; i < 3; i++) {
            (void)cut(&line, ' ');
        }
        char *mount_root = cut(&line, ' ');
        char *point = cut(&line, ' ');
        (void)cut(&line, ' ');
        const char *tag = cut(&line, ' ');
        while (tag != NULL && strcmp(tag, "-") != 0) {
            tag = cut(&line, ' ');
        }
        const char *type = cut(&line, ' ');
        (void)cut(&line, ' ');
        const char *options = line;
        if (options == NULL || mount_root[0] != '/' || point[0] != '/') {
            continue;
        }
        unescape(mount_root);
        unescape(point);
        if (strcmp(type, "cgroup2") == 0) {
            add_mount(root, v2, mount_root, point);
        } else if (strcmp(type, "cgroup") == 0 && has_word(options, "cpu")) {
            add_mount(root, v1, mount_root, point);
        }
    }
}

/* A container may see a mount of its own group under another name than the one
 * it is told (namespaces entered later): then that mount is the best guess. */
static unsigned hierarchy_limit(const hierarchy *h)
{
    return h->mounted ? h->limit : h->elsewhere;
}

unsigned wsi_cgroup_cpu_limit(const char *root)
{
    if (strcmp(root, "/") == 0) {
        root = "";
    }
    hierarchy v1 = {.version = 1};
    hierarchy v2 = {.version = 2};
    char *groups = read_proc_self(root, "/cgroup");
    char *mounts = read_proc_self(root, "/mountinfo");
    if (groups != NULL && mounts != NULL) {
        find_groups(groups, &v1, &v2);
        find_mounts(root, mounts, &v1, &v2);
    }
    wsi_mem_free(mounts);
    wsi_mem_free(groups);
    return smaller_known(hierarchy_limit(&v1), hierarchy_limit(&v2));
}
