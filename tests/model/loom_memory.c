/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_memory.c: views, atomic locations, and the data race check.
 *
 * Data races are found with vector clocks, by happens-before, not by chance:
 * the two accesses need not be adjacent in the run.  Every aligned word has a
 * cell with the last accesses of each thread; a word that is accessed in parts
 * is split into four byte cells, so neighbouring small fields do not disturb
 * each other.  Cells know accesses of four kinds, since C11 allows atomic
 * accesses to meet each other, but not a plain write.
 */
#include <string.h>

#include "loom_internal.h"

/* ---- views --------------------------------------------------------------- */

/* The part of a view that says which stores are visible. */
void loom_seen_join(loom_view *to, const loom_view *from)
{
    enum {
        STEP = 16
    }; /* a constant trip count lets gcc vectorize */
    for (int i = 0; i < loom->locations; i += STEP) {
        uint16_t *a = to->seen + i;
        const uint16_t *b = from->seen + i;
        for (int k = 0; k < STEP; k++) {
            a[k] = a[k] > b[k] ? a[k] : b[k];
        }
    }
}

void loom_view_join(loom_view *to, const loom_view *from)
{
    for (int i = 0; i < LOOM_THREADS; i++) {
        if (from->clock[i] > to->clock[i]) {
            to->clock[i] = from->clock[i];
        }
    }
    loom_seen_join(to, from);
}

/* ---- cells --------------------------------------------------------------- */

static loom_cell *cell_get(uintptr_t key)
{
    const unsigned mask = LOOM_CELLS - 1;
    unsigned h = (unsigned)(key >> 1 >> ((key & 1) ? 0 : 2));
    h ^= (unsigned)(key >> 17) * 0x9E37u;
    for (;; h++) {
        loom_cell *cell = &loom->cell[h & mask];
        if (cell->generation != loom->generation) {
            if (loom->used_cells == LOOM_CELLS * 3 / 4) {
                loom_limit("too many words of memory are accessed");
            }
            loom->used_cell[loom->used_cells++] = h & mask;
            memset(cell, 0, sizeof *cell);
            cell->generation = loom->generation;
            cell->key = key;
            cell->writer = LOOM_THREADS;
            return cell;
        }
        if (cell->key == key) {
            return cell;
        }
    }
}

static loom_cell *cell_of_word(uintptr_t word)
{
    return cell_get(word << 1);
}

static loom_cell *cell_of_byte(uintptr_t byte)
{
    return cell_get((byte << 1) | 1);
}

static void cell_split(loom_cell *word)
{
    const uintptr_t address = word->key >> 1;
    for (uintptr_t i = 0; i < 4; i++) {
        loom_cell *byte = cell_of_byte(address + i);
        const uintptr_t key = byte->key;
        *byte = *word;
        byte->key = key;
        if (i > 0) {
            byte->location = 0;
        }
    }
    word->split = true;
}

/* ---- data races ---------------------------------------------------------- */

static const char *const race_names[4][4] = {
    /* [now][earlier] */
    {NULL, "plain read, plain write", NULL, "plain read, atomic write"},
    {"plain write, plain read", "plain write, plain write",
     "plain write, atomic read", "plain write, atomic write"},
    {NULL, "atomic read, plain write", NULL, NULL},
    {"atomic write, plain read", "atomic write, plain write", NULL, NULL},
};

static void race(const loom_cell *cell, loom_access now, loom_access earlier,
                 int thread, uint32_t site)
{
    static const char prefix[] = "data race: ";
    char what[64];
    const uintptr_t address = cell->key >> 1;
    memcpy(what, prefix, sizeof prefix);
    strcat(what, race_names[now][earlier]);
    (void)thread;
    loom->conflict.site[0] = loom->load_bias + site;
    loom_found(what, address);
}

/* Is each touch in the list ordered before what the thread does now? */
static void check_list(const loom_cell *cell, const loom_touch *list,
                       loom_access now, loom_access earlier)
{
    const loom_thread *self = loom_self();
    for (int i = 0; i < loom->threads; i++) {
        if (i != loom->current && list[i].clock > self->now.clock[i]) {
            race(cell, now, earlier, i, list[i].site);
        }
    }
}

static void check_cell(loom_cell *cell, loom_access access)
{
    const int me = loom->current;
    const loom_thread *self = loom_self();
    const loom_touch touch = {self->now.clock[me],
                              (uint32_t)(loom->site - loom->load_bias)};
    if (cell->writer != LOOM_THREADS && cell->writer != me &&
        cell->write.clock > self->now.clock[cell->writer]) {
        race(cell, access, LOOM_PLAIN_WRITE, cell->writer, cell->write.site);
    }
    switch (access) {
    case LOOM_PLAIN_READ:
        if (cell->shared) {
            check_list(cell, cell->atomic_write, access, LOOM_ATOMIC_WRITE);
        }
        cell->read[me] = touch;
        cell->shared = true;
        break;
    case LOOM_ATOMIC_READ:
        cell->atomic_read[me] = touch;
        cell->shared = true;
        break;
    case LOOM_ATOMIC_WRITE:
        if (cell->shared) {
            check_list(cell, cell->read, access, LOOM_PLAIN_READ);
        }
        cell->atomic_write[me] = touch;
        cell->shared = true;
        break;
    case LOOM_PLAIN_WRITE:
        if (cell->shared) {
            check_list(cell, cell->read, access, LOOM_PLAIN_READ);
            check_list(cell, cell->atomic_read, access, LOOM_ATOMIC_READ);
            check_list(cell, cell->atomic_write, access, LOOM_ATOMIC_WRITE);
            /* All of them happen before this write: it stands for them. */
            memset(cell->read, 0, sizeof cell->read);
            memset(cell->atomic_read, 0, sizeof cell->atomic_read);
            memset(cell->atomic_write, 0, sizeof cell->atomic_write);
            cell->shared = false;
        }
        cell->writer = (uint8_t)me;
        cell->write = touch;
        break;
    }
}

/* ---- locations ----------------------------------------------------------- */

/* A plain write re-initialises an atomic: its history is forgotten.  The
 * indices go on where they were, so views of the old object do no harm. */
static void retire(loom_cell *cell)
{
    if (cell->location != 0) {
        loom->location[cell->location - 1].address = 0;
        loom->retired++;
        cell->location = 0;
    }
}

static void touch_range(uintptr_t address, size_t size, loom_access access)
{
    const uintptr_t end = address + size;
    uintptr_t word = address & ~(uintptr_t)3;
    for (; word < end; word += 4) {
        loom_cell *cell = cell_of_word(word);
        const bool whole = word >= address && word + 4 <= end;
        if (whole && !cell->split) {
            if (access == LOOM_PLAIN_WRITE) {
                retire(cell);
            }
            check_cell(cell, access);
            continue;
        }
        if (!cell->split) {
            cell_split(cell);
        }
        for (uintptr_t b = word; b < word + 4; b++) {
            if (b >= address && b < end) {
                loom_cell *byte = cell_of_byte(b);
                if (access == LOOM_PLAIN_WRITE) {
                    retire(byte);
                }
                check_cell(byte, access);
            }
        }
    }
}

static uint64_t read_memory(const void *p, unsigned size)
{
    uint8_t v1;
    uint16_t v2;
    uint32_t v4;
    uint64_t v8;
    switch (size) {
    case 1:
        memcpy(&v1, p, 1);
        return v1;
    case 2:
        memcpy(&v2, p, 2);
        return v2;
    case 4:
        memcpy(&v4, p, 4);
        return v4;
    default:
        memcpy(&v8, p, 8);
        return v8;
    }
}

static loom_location *new_location(const void *p, unsigned size)
{
    loom_location *location = NULL;
    if (loom->retired > 0) {
        loom->retired--;
        location = loom->location;
        while (location->address != 0) {
            location++;
        }
        if (++location->newest == LOOM_STORES) {
            loom_limit("too many stores to one location");
        }
    } else {
        if (loom->locations == LOOM_LOCATIONS) {
            loom_limit("too many atomic locations");
        }
        location = &loom->location[loom->locations++];
        location->newest = 0;
    }
    location->address = (uintptr_t)p;
    location->size = size;
    location->oldest = location->newest;
    memset(location->stale, 0, sizeof location->stale);
    /* The initial value carries nothing: that its reader may see it is for the
     * race check to say. */
    loom_store *first = loom_store_at(location, location->newest);
    first->value = read_memory(p, size);
    memset(&first->message, 0, sizeof first->message);
    return location;
}

loom_location *loom_find(const void *p, unsigned size, loom_access access)
{
    const uintptr_t address = (uintptr_t)p;
    loom_check_address(address, size);
    if (address % size != 0) {
        loom_found("misaligned atomic access", address);
    }
    touch_range(address, size, access);
    loom_cell *cell = cell_of_word(address & ~(uintptr_t)3);
    if (cell->split) {
        cell = cell_of_byte(address);
    }
    if (cell->location == 0) {
        loom_location *created = new_location(p, size);
        cell->location = (uint8_t)(loom_location_index(created) + 1);
        return created;
    }
    loom_location *location = &loom->location[cell->location - 1];
    if (location->size != size) {
        loom_limit("atomic accesses of different sizes to one object");
    }
    return location;
}

/* What a thread may still read at least.  A thread blocked in join reads
 * nothing until the other one has ended, and then sees what that one saw. */
static unsigned oldest_seen_by(const loom_thread *thread, unsigned index)
{
    unsigned seen = thread->now.seen[index];
    for (int i = 0; i < LOOM_THREADS && thread->state == LOOM_IN_JOIN; i++) {
        thread = &loom->thread[thread->object];
        if (thread->now.seen[index] > seen) {
            seen = thread->now.seen[index];
        }
    }
    return seen;
}

/* Stores that every thread has left behind can be dropped. */
static void compact(loom_location *location)
{
    const unsigned index = loom_location_index(location);
    unsigned oldest = location->newest;
    for (int i = 0; i < loom->threads; i++) {
        const loom_thread *thread = &loom->thread[i];
        if (thread->state != LOOM_DONE) {
            const unsigned seen = oldest_seen_by(thread, index);
            oldest = seen < oldest ? seen : oldest;
        }
    }
    if (oldest > location->oldest) {
        location->oldest = oldest;
    }
}

unsigned loom_next_store(loom_location *location)
{
    if (location->newest - location->oldest + 1 == LOOM_HISTORY) {
        compact(location);
        if (location->newest - location->oldest + 1 == LOOM_HISTORY) {
            loom_limit("too many stores of one location are still visible");
        }
    }
    if (location->newest + 1 == LOOM_STORES) {
        loom_limit("too many stores to one location");
    }
    return ++location->newest;
}

/* ---- plain accesses ------------------------------------------------------ */

static bool in_tls(uintptr_t address)
{
    const uintptr_t tls = (uintptr_t)loom->tls;
    return address >= tls && address < tls + loom->tls_size;
}

void loom_plain_access(const void *p, size_t size, loom_access access)
{
    const uintptr_t address = (uintptr_t)p;
    if (size == 0 || in_tls(address)) {
        return;
    }
    /* Let another thread run between the release of an object and a touch of
     * it.  One's own stack ends with a function, not with a touch of it. */
    if (loom_self()->published) {
        const uintptr_t stack =
            (uintptr_t)loom->stacks +
            (uintptr_t)loom->current * (uintptr_t)LOOM_STACK;
        if (address < stack || address >= stack + LOOM_STACK) {
            const uintptr_t site = loom->site;
            loom_point();
            loom->site = site;
        }
    }
    loom_check_address(address, size);
    touch_range(address, size, access);
}

void loom_check_address(uintptr_t address, size_t size)
{
    const uintptr_t stacks = (uintptr_t)loom->stacks;
    if (address - stacks < (uintptr_t)LOOM_STACK * LOOM_THREADS) {
        const int owner = (int)((address - stacks) / LOOM_STACK);
        const loom_thread *thread = &loom->thread[owner];
        if (owner == loom->current) {
            return;
        }
        if (thread->state == LOOM_DONE || thread->state == LOOM_UNUSED ||
            (thread->depth > 0 && thread->depth <= LOOM_FRAMES &&
             address < thread->frame[thread->depth - 1].low)) {
            loom_found("access to a dead stack frame", address);
        }
        return;
    }
    const loom_block *block = loom_block_of(address);
    if (block != NULL) {
        if (address + size > block->address + block->size) {
            loom_found("access outside of an allocated block", address);
        }
        if (block->freed) {
            loom_found("use after free", address);
        }
    } else if (address < 4096) {
        loom_found("null pointer access", address);
    }
}

void loom_check_free(const loom_block *block)
{
    for (unsigned i = 0; i < loom->used_cells; i++) {
        loom_cell *cell = &loom->cell[loom->used_cell[i]];
        const uintptr_t address = cell->key >> 1;
        if (address >= block->address &&
            address < block->address + block->size && !cell->split) {
            retire(cell);
            check_cell(cell, LOOM_PLAIN_WRITE);
        }
    }
}

void loom_memory_reset(void)
{
    loom->generation++;
    loom->used_cells = 0;
    loom->locations = 0;
    loom->retired = 0;
    loom->blocks = 0;
    loom->arena_used = 0;
    loom->mutexes = 0;
    loom->site = 0;
    memset(&loom->where, 0, sizeof loom->where);
    memset(&loom->conflict, 0, sizeof loom->conflict);
    memset(&loom->global, 0, sizeof loom->global);
}
