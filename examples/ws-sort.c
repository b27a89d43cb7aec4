/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * ws-sort.c [-j WORKERS] [-s] [-o OUT] FILE...: sorts the lines of all files
 * as LC_ALL=C sort does.  Shows divide and conquer with ws_join().
 *
 * A merge sort whose merges are divided too, so that no job is longer than
 * MERGE_LEAF lines, however many workers there are.  It forks down to SORT_LEAF
 * lines, depth first: small runs are merged while they are in the cache.
 */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"
#include <string.h>

#define SORT_LEAF 16
#define MERGE_LEAF 4096

struct line {
    uint64_t key; /* the first 8 bytes, big-endian, zeros behind the end */
    const unsigned char *text;
    size_t length; /* without the newline, which follows the text */
};

struct sort {
    struct line *lines, *spare;
    size_t n;
    int to_spare; /* where the result shall be */
};

struct merge {
    const struct line *a, *b;
    size_t na, nb;
    struct line *out;
};

static int less(const struct line *a, const struct line *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    const size_t n = a->length < b->length ? a->length : b->length;
    const int order = n > 8 ? memcmp(a->text + 8, b->text + 8, n - 8) : 0;
    return order != 0 ? order < 0 : a->length < b->length;
}

static int merge(void *arg)
{
    const struct merge m = *(const struct merge *)arg;
    const size_t n = m.na + m.nb;
    if (n <= MERGE_LEAF) {
        for (size_t i = 0, ia = 0; i < n; i++) {
            const size_t ib = i - ia;
            const int take_a =
                ib == m.nb || (ia < m.na && !less(&m.b[ib], &m.a[ia]));
            m.out[i] = take_a ? m.a[ia] : m.b[ib];
            ia += (size_t)take_a;
        }
        return 0;
    }
    /* The lower half of the result is a[0 .. ia) and b[0 .. n / 2 - ia). */
    size_t ia = n / 2 > m.nb ? n / 2 - m.nb : 0;
    for (size_t end = n / 2 < m.na ? n / 2 : m.na; ia < end;) {
        const size_t middle = ia + (end - ia) / 2;
        if (less(&m.b[n / 2 - middle - 1], &m.a[middle])) {
            end = middle;
        } else {
            ia = middle + 1;
        }
    }
    const size_t ib = n / 2 - ia;
    struct merge low = {m.a, m.b, ia, ib, m.out};
    struct merge high = {m.a + ia, m.b + ib, m.na - ia, m.nb - ib,
                         m.out + n / 2};
    return ws_join(merge, &low, merge, &high);
}

static int sort(void *arg)
{
    const struct sort *s = arg;
    struct line *out = s->to_spare ? s->spare : s->lines;
    const struct line *in = s->to_spare ? s->lines : s->spare;
    if (s->n <= SORT_LEAF) {
        for (size_t i = 0; i < s->n; i++) {
            const struct line line = s->lines[i];
            size_t hole = i;
            for (; hole > 0 && less(&line, &out[hole - 1]); hole--) {
                out[hole] = out[hole - 1];
            }
            out[hole] = line;
        }
        return 0;
    }
    const size_t half = s->n / 2;
    struct sort low = {s->lines, s->spare, half, !s->to_spare};
    struct sort high = {s->lines + half, s->spare + half, s->n - half,
                        !s->to_spare};
    struct merge halves = {in, in + half, half, s->n - half, out};
    const int code = ws_join(sort, &low, sort, &high);
    return code != 0 ? code : merge(&halves);
}

static struct sort find_lines(const unsigned char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        n += text[i] == '\n';
    }
    struct line *lines = tool_need(calloc(2 * n + 1, sizeof *lines));
    for (size_t i = 0; i < n; i++) {
        const unsigned char *end = memchr(text, '\n', size);
        lines[i].text = text;
        lines[i].length = (size_t)(end - text);
        for (size_t k = 0; k < 8; k++) {
            lines[i].key =
                lines[i].key << 8 | (k < lines[i].length ? text[k] : 0U);
        }
        size -= lines[i].length + 1;
        text = end + 1;
    }
    return (struct sort){lines, lines + n, n, 0};
}

int main(int argc, char **argv)
{
    const struct tool tool = tool_start(
        argc, argv, "j:o:s", "ws-sort [-j WORKERS] [-s] [-o OUT] FILE...");
    const double start = tool_now();
    size_t size;
    unsigned char *text = tool_read(&tool, &size);
    struct sort all = find_lines(text, size);
    const double read = tool_now();
    const int code = ws_pool_install(tool.pool, sort, &all);
    const double sorted = tool_now();
    tool_open_output(&tool);
    for (size_t i = 0; i < all.n && code == 0; i++) {
        fwrite(all.lines[i].text, 1, all.lines[i].length + 1, stdout);
    }
    fflush(stdout);
    if (tool.stats) {
        fprintf(stderr, "read_s=%.6f sort_s=%.6f write_s=%.6f ", read - start,
                sorted - read, tool_now() - sorted);
    }
    tool_finish(&tool);
    free(all.lines);
    free(text);
    return code != 0;
}
