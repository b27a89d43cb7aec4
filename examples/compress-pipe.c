/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * compress-pipe.c [-j WORKERS] [-s] [-d] [-o OUT] FILE: compresses a file block
 * by block, or with -d decompresses it.  Shows ws_pipeline(): blocks are read
 * in order, packed by all workers, written in order, and no more of them are in
 * memory than are in flight.
 *
 * Format: "WSP1"; for each block raw size, packed size and checksum (4 bytes
 * each, little end first) and the packed bytes, which are the raw ones if both
 * sizes are equal; a block of raw size 0 ends it.  Packed: (number of literals,
 * literals, length of a match, its distance) again and again; numbers have 7
 * bits a byte, and the length of the last match is 0.
 */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"
#include <errno.h>
#include <string.h>

#define BLOCK ((size_t)1 << 17)
#define HASH_BITS 13
#define MIN_MATCH 5
#define PER_WORKER 4 /* blocks in flight */
#define DAMAGED 1000 /* a code that is no errno */

struct block {
    size_t raw_size, packed_size;
    uint32_t sum;
    unsigned char raw[BLOCK], packed[BLOCK];
};

struct work {
    FILE *in;
    struct block *blocks; /* one for each slot */
    size_t n_blocks;
    uint64_t in_bytes, out_bytes;
    int decompress, ended;
};

static uint32_t checksum(const unsigned char *bytes, size_t n)
{
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++) {
        sum = (sum ^ bytes[i]) * 16777619u;
    }
    return sum;
}

/* ---- one block ------------------------------------------------------- */

static size_t hash(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return (word * 2654435761u) >> (32 - HASH_BITS);
}

static void put(struct block *b, size_t n)
{
    for (; n > 127; n >>= 7) {
        b->packed[b->packed_size++] = (unsigned char)(n | 128);
    }
    b->packed[b->packed_size++] = (unsigned char)n;
}

/* False: no room for these literals and a match. */
static int put_literals(struct block *b, size_t from, size_t n)
{
    if (b->packed_size + n + 16 > b->raw_size) {
        return 0;
    }
    put(b, n);
    memcpy(b->packed + b->packed_size, b->raw + from, n);
    b->packed_size += n;
    return 1;
}

static size_t match_length(const struct block *b, size_t a, size_t at)
{
    size_t n = 0;
    while (at + n < b->raw_size && b->raw[a + n] == b->raw[at + n]) {
        n++;
    }
    return n;
}

/* False: it is better stored as it is. */
static int compress(struct block *b)
{
    uint32_t last[1 << HASH_BITS] = {0}; /* where the hash was seen, + 1 */
    size_t literals = 0;                 /* begin here */
    b->packed_size = 0;
    for (size_t at = 0; at + MIN_MATCH <= b->raw_size;) {
        uint32_t *seen = &last[hash(b->raw + at)];
        const size_t from = *seen;
        const size_t n = from > 0 ? match_length(b, from - 1, at) : 0;
        *seen = (uint32_t)at + 1;
        if (n < MIN_MATCH) {
            at++;
            continue;
        }
        if (!put_literals(b, literals, at - literals)) {
            return 0;
        }
        put(b, n);
        put(b, at - (from - 1));
        at += n;
        literals = at;
    }
    if (!put_literals(b, literals, b->raw_size - literals)) {
        return 0;
    }
    put(b, 0);
    return 1;
}

/* SIZE_MAX: the block is damaged. */
static size_t get(const struct block *b, size_t *at)
{
    size_t n = 0;
    for (unsigned shift = 0; shift < 28 && *at < b->packed_size; shift += 7) {
        const unsigned char byte = b->packed[(*at)++];
        n |= (size_t)(byte & 127) << shift;
        if (byte < 128) {
            return n;
        }
    }
    return SIZE_MAX;
}

static int decompress(struct block *b)
{
    size_t to = 0;
    for (size_t at = 0;;) {
        const size_t literals = get(b, &at);
        if (literals > b->raw_size - to || literals > b->packed_size - at) {
            return 0;
        }
        memcpy(b->raw + to, b->packed + at, literals);
        to += literals;
        at += literals;
        const size_t n = get(b, &at);
        if (n == 0) {
            return to == b->raw_size && at == b->packed_size;
        }
        const size_t distance = get(b, &at);
        if (n > b->raw_size - to || distance - 1 >= to) {
            return 0;
        }
        for (const size_t end = to + n; to < end; to++) {
            b->raw[to] = b->raw[to - distance];
        }
    }
}

/* ---- stages ---------------------------------------------------------- */

static int input_error(const struct work *w)
{
    return ferror(w->in) ? EIO : DAMAGED;
}

static int read_raw(ws_pipeline_item *item, void *arg)
{
    struct work *w = arg;
    struct block *b = &w->blocks[item->slot];
    b->raw_size = fread(b->raw, 1, BLOCK, w->in);
    w->in_bytes += b->raw_size;
    item->data = b->raw_size > 0 ? b : NULL;
    return ferror(w->in) ? input_error(w) : 0;
}

static int pack(ws_pipeline_item *item, void *arg)
{
    struct block *b = item->data;
    (void)arg;
    b->sum = checksum(b->raw, b->raw_size);
    if (!compress(b)) {
        memcpy(b->packed, b->raw, b->raw_size);
        b->packed_size = b->raw_size;
    }
    return 0;
}

static int write_number(size_t n)
{
    for (int i = 0; i < 4; i++) {
        putchar((int)(n >> 8 * i & 255));
    }
    return ferror(stdout) ? EIO : 0;
}

static int write_out(struct work *w, const unsigned char *bytes, size_t n)
{
    w->out_bytes += n;
    return fwrite(bytes, 1, n, stdout) == n ? 0 : EIO;
}

static int write_packed(ws_pipeline_item *item, void *arg)
{
    const struct block *b = item->data;
    write_number(b->raw_size);
    write_number(b->packed_size);
    write_number(b->sum);
    return write_out(arg, b->packed, b->packed_size);
}

static int read_number(const struct work *w, size_t *n)
{
    unsigned char bytes[4];
    *n = 0;
    if (fread(bytes, 1, 4, w->in) != 4) {
        return input_error(w);
    }
    for (int i = 0; i < 4; i++) {
        *n |= (size_t)bytes[i] << 8 * i;
    }
    return 0;
}

static int read_packed(ws_pipeline_item *item, void *arg)
{
    struct work *w = arg;
    struct block *b = &w->blocks[item->slot];
    size_t sum = 0;
    int code = read_number(w, &b->raw_size);
    if (code != 0 || b->raw_size == 0) {
        return code;
    }
    code = read_number(w, &b->packed_size);
    code = code != 0 ? code : read_number(w, &sum);
    if (code != 0 || b->raw_size > BLOCK || b->packed_size > b->raw_size) {
        return code != 0 ? code : DAMAGED;
    }
    b->sum = (uint32_t)sum;
    w->in_bytes += b->packed_size;
    item->data = b;
    return fread(b->packed, 1, b->packed_size, w->in) == b->packed_size
               ? 0
               : input_error(w);
}

static int unpack(ws_pipeline_item *item, void *arg)
{
    struct block *b = item->data;
    int good = 1;
    (void)arg;
    if (b->packed_size == b->raw_size) {
        memcpy(b->raw, b->packed, b->raw_size);
    } else {
        good = decompress(b);
    }
    return good && checksum(b->raw, b->raw_size) == b->sum ? 0 : DAMAGED;
}

static int write_raw(ws_pipeline_item *item, void *arg)
{
    const struct block *b = item->data;
    return write_out(arg, b->raw, b->raw_size);
}

/* ---- the whole ------------------------------------------------------- */

static int run(void *arg)
{
    struct work *w = arg;
    const ws_stage packing[] = {{WS_STAGE_SERIAL, read_raw, w, NULL},
                                {WS_STAGE_PARALLEL, pack, w, NULL},
                                {WS_STAGE_SERIAL, write_packed, w, NULL}};
    const ws_stage unpacking[] = {{WS_STAGE_SERIAL, read_packed, w, NULL},
                                  {WS_STAGE_PARALLEL, unpack, w, NULL},
                                  {WS_STAGE_SERIAL, write_raw, w, NULL}};
    char magic[4];
    if (w->decompress) {
        return fread(magic, 1, 4, w->in) != 4 || memcmp(magic, "WSP1", 4) != 0
                   ? DAMAGED
                   : ws_pipeline(3, unpacking, w->n_blocks);
    }
    int code = write_out(w, (const unsigned char *)"WSP1", 4);
    code = code != 0 ? code : ws_pipeline(3, packing, w->n_blocks);
    return code != 0 ? code : write_number(0);
}

int main(int argc, char **argv)
{
    const char *usage = "compress-pipe [-j WORKERS] [-s] [-d] [-o OUT] FILE";
    struct tool tool = tool_start(argc, argv, "j:o:sd", usage);
    struct work w = {.decompress = tool.decompress};
    w.in = fopen(tool.paths[0], "rb");
    if (w.in == NULL || tool.paths[1] != NULL) {
        fprintf(stderr, "%s: cannot be read\nusage: %s\n", tool.paths[0],
                usage);
        return 2;
    }
    tool_open_output(&tool);
    w.n_blocks = PER_WORKER * ws_pool_num_workers(tool.pool);
    w.blocks = tool_need(malloc(w.n_blocks * sizeof *w.blocks));
    const double begin = tool_now();
    const int code = ws_pool_install(tool.pool, run, &w);
    if (tool.stats) {
        fprintf(stderr, "pipe_s=%.6f in=%" PRIu64 " out=%" PRIu64 " ",
                tool_now() - begin, w.in_bytes, w.out_bytes);
    }
    if (code != 0) {
        fprintf(stderr, "%s: %s\n", tool.paths[0],
                code == DAMAGED ? "is not a whole file of this program"
                : code < 0      ? ws_strerror(code)
                                : strerror(code));
    }
    free(w.blocks);
    fclose(w.in);
    tool_finish(&tool);
    return code != 0;
}
