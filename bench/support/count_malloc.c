/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * count_malloc.c: a library to preload that counts calls of malloc and its
 * like, in any language that ends in the C library's allocator.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What glibc calls its own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic uint64_t calls;

uint64_t bench_allocations(void);
uint64_t bench_allocations(void)
{
    /* relaxed: read between samples */
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

static void count(void)
{
    /* relaxed: only a count */
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count();
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    count();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = aligned_alloc(alignment, size);
    if (memory == NULL) {
        return ENOMEM;
    }
    *out = memory;
    return 0;
}
