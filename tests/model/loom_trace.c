/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_trace.c: a readable account of one run.
 *
 * While options.trace is set, each operation is recorded with its thread, its
 * object, its value, and the place in the source.  Places come from addr2line
 * (binutils); without it, or without debug information, an offset in the
 * program is printed that can be given to addr2line later.
 *
 * An atomic operation often stands in an inline function of a header; the
 * place of interest is its caller.  Files named in `wrappers` are skipped.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, popen */
#endif
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loom_internal.h"

enum {
    MAX_EVENTS = 1 << 15,
    MAX_NAMES = 256,
    MAX_SITES = 1024,
    PLACES = sizeof(loom_place) / sizeof(uintptr_t)
};

typedef struct {
    const char *operation;
    int order;
    int thread;
    int step;
    unsigned behind;
    uintptr_t address;
    uint64_t value;
    loom_place place;
} event;

typedef struct {
    uintptr_t site;
    char text[96];
    bool wrapper; /* the text names a file that is only a wrapper */
} place_text;

/* Mapped, since .data and .bss are restored before each run. */
struct loom_log {
    event event[MAX_EVENTS];
    int events;
    struct {
        uintptr_t address;
        char text[40];
    } name[MAX_NAMES];
    int names;
    place_text site[MAX_SITES];
    int sites;
};

static const char *const wrappers[] = {"atomic.h", "fence.h", "compiler.h",
                                       "platform.h"};

/* ---- recording ----------------------------------------------------------- */

void loom_here(loom_place *place)
{
    memset(place, 0, sizeof *place);
    const loom_thread *self = loom_self();
    int frame = self->depth < LOOM_FRAMES ? self->depth : 0;
    place->site[0] = loom->site;
    for (int i = 1; i < PLACES && frame > 0; i++) {
        place->site[i] = self->frame[--frame].caller;
    }
}

void loom_trace(const char *operation, int order, const void *address,
                uint64_t value, unsigned behind)
{
    if (!loom->options.trace || loom->log->events == MAX_EVENTS) {
        return;
    }
    event *e = &loom->log->event[loom->log->events++];
    *e = (event){.operation = operation,
                 .order = order,
                 .thread = loom->current,
                 .step = loom->steps,
                 .behind = behind,
                 .address = (uintptr_t)address,
                 .value = value};
    loom_here(&e->place);
}

void loom_name(const void *address, const char *name)
{
    if (!loom_active() || !loom->options.trace ||
        loom->log->names == MAX_NAMES) {
        return;
    }
    const int i = loom->log->names++;
    loom->log->name[i].address = (uintptr_t)address;
    snprintf(loom->log->name[i].text, sizeof loom->log->name[i].text, "%s",
             name);
}

static void need_log(void)
{
    if (loom->log != NULL) {
        return;
    }
    loom->log = mmap(NULL, sizeof *loom->log, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (loom->log == MAP_FAILED) {
        perror("loom: mmap");
        exit(2);
    }
}

void loom_trace_reset(void)
{
    if (loom->options.trace) {
        need_log();
        loom->log->events = 0;
        loom->log->names = 0;
    }
}

/* ---- places -------------------------------------------------------------- */

static place_text *find_site(uintptr_t site)
{
    for (int i = 0; i < loom->log->sites; i++) {
        if (loom->log->site[i].site == site) {
            return &loom->log->site[i];
        }
    }
    return NULL;
}

static void add_sites(const loom_place *place)
{
    for (int i = 0; i < PLACES && place->site[i] != 0; i++) {
        const uintptr_t site = place->site[i];
        if (find_site(site) != NULL || loom->log->sites == MAX_SITES) {
            continue;
        }
        place_text *t = &loom->log->site[loom->log->sites++];
        t->site = site;
        t->wrapper = true;
        snprintf(t->text, sizeof t->text, "+%#lx",
                 (unsigned long)(site - loom->load_bias));
    }
}

static bool in_wrapper(const char *file)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        const size_t n = strlen(wrappers[i]);
        if (strncmp(file, wrappers[i], n) == 0 && file[n] == ':') {
            return true;
        }
    }
    return false;
}

/* addr2line prints per address one line with it and then, for the function and
 * each one that it is inlined in, a line with its name and one with the
 * place.  The first place that is no wrapper serves. */
static void parse_addr2line(FILE *in, int first)
{
    char function[128];
    char file[256];
    int i = first - 1;
    while (fgets(function, sizeof function, in) != NULL) {
        function[strcspn(function, "\n")] = '\0';
        if (strncmp(function, "0x", 2) == 0) {
            i++;
            continue;
        }
        if (fgets(file, sizeof file, in) == NULL) {
            return;
        }
        file[strcspn(file, " \n")] = '\0';
        if (i < first || i >= loom->log->sites || file[0] == '?' ||
            !loom->log->site[i].wrapper) {
            continue;
        }
        place_text *t = &loom->log->site[i];
        snprintf(t->text, sizeof t->text, "%.48s (%.40s)", file, function);
        t->wrapper = in_wrapper(file);
    }
}

/* Looks up all sites added since the last call. */
static void resolve_sites(int first)
{
    char program[512];
    const ssize_t length =
        readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0 || first == loom->log->sites) {
        return;
    }
    program[length] = '\0';
    const size_t size = 1024 + 24 * (size_t)(loom->log->sites - first);
    char *command = calloc(1, size);
    if (command == NULL) {
        return;
    }
    int used =
        snprintf(command, size, "addr2line -a -f -i -s -e '%s'", program);
    for (int i = first; i < loom->log->sites; i++) {
        /* -1: from the return address back into the call */
        used += snprintf(
            command + used, size - (size_t)used, " %#lx",
            (unsigned long)(loom->log->site[i].site - loom->load_bias - 1));
    }
    snprintf(command + used, size - (size_t)used, " 2>/dev/null");
    fflush(stdout);
    FILE *in = popen(command, "r");
    free(command);
    if (in != NULL) {
        parse_addr2line(in, first);
        pclose(in);
    }
}

static void print_place(const loom_place *place, char *text, size_t size)
{
    const place_text *best = NULL;
    for (int i = 0; i < PLACES && place->site[i] != 0; i++) {
        const place_text *t = find_site(place->site[i]);
        if (t != NULL && (best == NULL || (best->wrapper && !t->wrapper))) {
            best = t;
        }
    }
    snprintf(text, size, "%s", best != NULL ? best->text : "");
}

void loom_describe(const loom_place *place, char *text, size_t size)
{
    if (loom == NULL) {
        snprintf(text, size, "?");
        return;
    }
    need_log();
    const int first = loom->log->sites;
    add_sites(place);
    resolve_sites(first);
    print_place(place, text, size);
}

/* ---- objects ------------------------------------------------------------- */

static void describe_address(uintptr_t address, char *text, size_t size)
{
    if (address == 0) {
        snprintf(text, size, "-");
        return;
    }
    for (int i = loom->log->names - 1; i >= 0; i--) {
        if (loom->log->name[i].address == address) {
            snprintf(text, size, "%s", loom->log->name[i].text);
            return;
        }
    }
    const uintptr_t stack = address - (uintptr_t)loom->stacks;
    const loom_block *block = loom_block_of(address);
    Dl_info info;
    if (stack < (uintptr_t)LOOM_STACK * LOOM_THREADS) {
        snprintf(text, size, "stack of T%d -%#lx", (int)(stack / LOOM_STACK),
                 (unsigned long)(LOOM_STACK - stack % LOOM_STACK));
    } else if (block != NULL) {
        snprintf(text, size, "block %d +%#lx", (int)(block - loom->block),
                 (unsigned long)(address - block->address));
    } else if (dladdr((void *)address, &info) != 0 && info.dli_sname != NULL) {
        snprintf(text, size, "%s +%#lx", info.dli_sname,
                 (unsigned long)(address - (uintptr_t)info.dli_saddr));
    } else {
        snprintf(text, size, "program +%#lx",
                 (unsigned long)(address - loom->load_bias));
    }
}

/* ---- printing ------------------------------------------------------------ */

static const char *order_name(int order)
{
    switch (order) {
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE:
        return "acquire";
    case __ATOMIC_RELEASE:
        return "release";
    case __ATOMIC_ACQ_REL:
        return "acq_rel";
    case __ATOMIC_SEQ_CST:
        return "seq_cst";
    default:
        return "relaxed";
    }
}

void loom_print_trace(void)
{
    if (loom == NULL || loom->log == NULL) {
        return;
    }
    loom_log *log = loom->log;
    const int first = log->sites;
    for (int i = 0; i < log->events; i++) {
        add_sites(&log->event[i].place);
    }
    resolve_sites(first);
    printf("step thread operation\n");
    for (int i = 0; i < log->events; i++) {
        const event *e = &log->event[i];
        char object[64];
        char place[96];
        char stale[24] = "";
        describe_address(e->address, object, sizeof object);
        print_place(&e->place, place, sizeof place);
        if (e->behind > 0) {
            snprintf(stale, sizeof stale, " STALE by %u", e->behind);
        }
        printf("%4d T%d %-10s %-7s %-22s %#" PRIx64 "%s  %s\n", e->step,
               e->thread, e->operation, order_name(e->order), object, e->value,
               stale, place);
    }
}
