/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_heap.c: memory of a run: allocation and free.
 *
 * Blocks come from an arena that starts again at its begin with every run, so
 * addresses are the same in each, and freed memory is not reused within one.
 * Fresh memory is filled with a pattern, for a read of it to be noticed and to
 * give the same result in every run.
 *
 * The names __wrap_NAME receive the calls of NAME from all linked objects
 * (linker option --wrap, see wrap.txt).
 */
#include <errno.h>
#include <string.h>

#include "loom_internal.h"

enum {
    MIN_ALIGN = 16,
    RED_ZONE = 16,
    FILL = 0xA5
};

/* ---- blocks -------------------------------------------------------------- */

/* The blocks lie in the order of their addresses. */
loom_block *loom_block_of(uintptr_t address)
{
    const uintptr_t arena = (uintptr_t)loom->arena;
    if (address - arena >= LOOM_ARENA) {
        return NULL;
    }
    int low = 0;
    int high = loom->blocks;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (loom->block[middle].address <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low < loom->blocks ? &loom->block[low] : NULL;
}

static void *arena_alloc(size_t align, size_t size, bool zeroed)
{
    if (align < MIN_ALIGN) {
        align = MIN_ALIGN;
    }
    uintptr_t start = (uintptr_t)loom->arena + loom->arena_used;
    start = (start + align - 1) & ~(uintptr_t)(align - 1);
    const uintptr_t end = start + size + RED_ZONE;
    if (size > LOOM_ARENA || end > (uintptr_t)loom->arena + LOOM_ARENA) {
        loom_limit("too much memory is allocated");
    }
    if (loom->blocks == LOOM_BLOCKS) {
        loom_limit("too many blocks are allocated");
    }
    loom->arena_used = end - (uintptr_t)loom->arena;
    loom->block[loom->blocks++] = (loom_block){start, size, false};
    memset((void *)start, zeroed ? 0 : FILL, size);
    return (void *)start;
}

static void arena_free(void *p)
{
    loom_point(); /* the memory may be in use up to here */
    loom_block *block = loom_block_of((uintptr_t)p);
    if (block == NULL || block->address != (uintptr_t)p) {
        loom_found("free of something that was not allocated", (uintptr_t)p);
    }
    if (block->freed) {
        loom_found("double free", (uintptr_t)p);
    }
    loom_check_free(block);
    block->freed = true;
}

/* ---- allocation ---------------------------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
int __real_posix_memalign(void **out, size_t align, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void __real_free(void *p);

void *loom_alloc(size_t align, size_t size, bool zeroed)
{
    LOOM_SITE();
    if (loom_active()) {
        return arena_alloc(align, size, zeroed);
    }
    void *p = NULL;
    if (__real_posix_memalign(&p, align, size) != 0) {
        return NULL;
    }
    if (zeroed) {
        memset(p, 0, size);
    }
    return p;
}

void loom_free(void *p)
{
    LOOM_SITE();
    if (p == NULL) {
        return;
    }
    if (loom_active()) {
        arena_free(p);
    } else if (loom == NULL ||
               (uintptr_t)p - (uintptr_t)loom->arena >= LOOM_ARENA) {
        __real_free(p);
    }
}

void *__wrap_malloc(size_t size)
{
    LOOM_SITE();
    return loom_active() ? arena_alloc(MIN_ALIGN, size, false)
                         : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    LOOM_SITE();
    if (!loom_active()) {
        return __real_calloc(n, size);
    }
    if (size != 0 && n > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return arena_alloc(MIN_ALIGN, n * size, true);
}

void *__wrap_realloc(void *p, size_t size)
{
    LOOM_SITE();
    if (!loom_active()) {
        return __real_realloc(p, size);
    }
    void *fresh = arena_alloc(MIN_ALIGN, size, false);
    if (p != NULL) {
        const loom_block *block = loom_block_of((uintptr_t)p);
        if (block == NULL || block->address != (uintptr_t)p) {
            loom_found("realloc of something that was not allocated",
                       (uintptr_t)p);
        }
        loom_memcpy(fresh, p, block->size < size ? block->size : size);
        arena_free(p);
    }
    return fresh;
}

int __wrap_posix_memalign(void **out, size_t align, size_t size)
{
    LOOM_SITE();
    if (!loom_active()) {
        return __real_posix_memalign(out, align, size);
    }
    *out = arena_alloc(align, size, false);
    return 0;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    LOOM_SITE();
    return loom_active() ? arena_alloc(align, size, false)
                         : __real_aligned_alloc(align, size);
}

void __wrap_free(void *p)
{
    LOOM_SITE();
    if (p == NULL) {
        return;
    }
    if (loom_active()) {
        arena_free(p);
    } else {
        __real_free(p);
    }
}
