/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_reduce.c: leaves out scheduling points that cannot matter.
 *
 * A load of an atomic that no other thread writes, and a store to one that no
 * other thread accesses, give the same at whatever moment they are made: to let
 * another thread run just before them is to let it run just after.  Typical is
 * the owner of a deque that reads its own index.
 *
 * Who accesses what is not known in advance.  So the depth-first search first
 * learns it from some random runs, then relies on it; when a later run shows
 * that something is not as it was relied on, the search starts again from the
 * beginning, with what is known then.  A search that ends has relied on nothing
 * that one of its runs contradicts.
 *
 * Addresses are the same in each run; only atomic accesses that are made while
 * two or more threads are alive count.
 *
 * Not left out is a point after a release (`published`): there the object may
 * be about to disappear.
 */
#include <string.h>

#include "loom_internal.h"

static loom_object *find_object(uintptr_t address)
{
    const unsigned mask = LOOM_OBJECTS - 1;
    unsigned h = (unsigned)(address ^ (address >> 13)) * 0x9E3779B1u >> 16;
    for (;; h++) {
        loom_object *object = &loom->object[h & mask];
        if (object->address == address) {
            return object;
        }
        if (object->address == 0) {
            if (loom->objects == LOOM_OBJECTS / 2) {
                loom_limit("too many atomic objects in one search");
            }
            loom->objects++;
            object->address = address;
            return object;
        }
    }
}

bool loom_note_access(const void *p, bool write, int order)
{
    if (loom->alive < 2) {
        return false;
    }
    const uint8_t me = (uint8_t)(1u << loom->current);
    loom_object *object = find_object((uintptr_t)p);
    uint8_t *mask = write ? &object->new_writers : &object->new_readers;
    if ((*mask & me) == 0) {
        *mask |= me;
        loom->learned = true;
    }
    if (loom->options.search != LOOM_DFS || order == __ATOMIC_SEQ_CST ||
        loom_self()->published) {
        return false;
    }
    const unsigned others = object->writers | (write ? object->readers : 0u);
    return (others & ~(unsigned)me) == 0;
}

bool loom_use_learned(void)
{
    const bool learned = loom->learned;
    for (unsigned i = 0; learned && i < LOOM_OBJECTS; i++) {
        loom_object *object = &loom->object[i];
        object->readers = object->new_readers;
        object->writers = object->new_writers;
    }
    loom->learned = false;
    return learned;
}

void loom_reduce_reset(void)
{
    memset(loom->object, 0, sizeof loom->object);
    loom->objects = 0;
    loom->learned = false;
}
