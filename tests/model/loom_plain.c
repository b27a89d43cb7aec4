/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_plain.c: plain accesses and function calls: what the compiler calls for
 * them under -fsanitize=thread, and memcpy, memmove and memset with checks.
 *
 * The compiler announces a plain access before it makes it.
 */
#include <string.h>

#include "loom_internal.h"

/* ---- loads and stores ---------------------------------------------------- */

#define DEFINE_PLAIN(NAME, SIZE)                                               \
    void __tsan_read##NAME(const void *p)                                      \
    {                                                                          \
        LOOM_SITE();                                                           \
        if (loom_active()) {                                                   \
            loom_plain_access(p, SIZE, LOOM_PLAIN_READ);                       \
        }                                                                      \
    }                                                                          \
    void __tsan_write##NAME(const void *p)                                     \
    {                                                                          \
        LOOM_SITE();                                                           \
        if (loom_active()) {                                                   \
            loom_plain_access(p, SIZE, LOOM_PLAIN_WRITE);                      \
        }                                                                      \
    }                                                                          \
    void __tsan_unaligned_read##NAME(const void *p)                            \
    {                                                                          \
        LOOM_SITE();                                                           \
        if (loom_active()) {                                                   \
            loom_plain_access(p, SIZE, LOOM_PLAIN_READ);                       \
        }                                                                      \
    }                                                                          \
    void __tsan_unaligned_write##NAME(const void *p)                           \
    {                                                                          \
        LOOM_SITE();                                                           \
        if (loom_active()) {                                                   \
            loom_plain_access(p, SIZE, LOOM_PLAIN_WRITE);                      \
        }                                                                      \
    }

DEFINE_PLAIN(1, 1)
DEFINE_PLAIN(2, 2)
DEFINE_PLAIN(4, 4)
DEFINE_PLAIN(8, 8)
DEFINE_PLAIN(16, 16)

void __tsan_read_range(const void *p, size_t size)
{
    LOOM_SITE();
    if (loom_active()) {
        loom_plain_access(p, size, LOOM_PLAIN_READ);
    }
}

void __tsan_write_range(const void *p, size_t size)
{
    LOOM_SITE();
    if (loom_active()) {
        loom_plain_access(p, size, LOOM_PLAIN_WRITE);
    }
}

void __tsan_init(void)
{
}

/* ---- memcpy and its like ------------------------------------------------- */

static void copy_check(void *to, const void *from, size_t n)
{
    if (loom_active()) {
        loom_plain_access(from, n, LOOM_PLAIN_READ);
        loom_plain_access(to, n, LOOM_PLAIN_WRITE);
    }
}

void *loom_memcpy(void *to, const void *from, size_t n)
{
    LOOM_SITE();
    copy_check(to, from, n);
    return memcpy(to, from, n);
}

void *loom_memmove(void *to, const void *from, size_t n)
{
    LOOM_SITE();
    copy_check(to, from, n);
    return memmove(to, from, n);
}

void *loom_memset(void *to, int byte, size_t n)
{
    LOOM_SITE();
    if (loom_active()) {
        loom_plain_access(to, n, LOOM_PLAIN_WRITE);
    }
    return memset(to, byte, n);
}

/* Newer clang versions emit these by themselves. */
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    LOOM_SITE();
    copy_check(to, from, n);
    return memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n)
{
    LOOM_SITE();
    copy_check(to, from, n);
    return memmove(to, from, n);
}

void *__tsan_memset(void *to, int byte, size_t n)
{
    LOOM_SITE();
    if (loom_active()) {
        loom_plain_access(to, n, LOOM_PLAIN_WRITE);
    }
    return memset(to, byte, n);
}

/* ---- calls --------------------------------------------------------------- */

/* The caller's frame lies above ours, and is dead once it has returned. */
void __tsan_func_entry(void *caller)
{
    if (!loom_active()) {
        return;
    }
    loom_thread *self = loom_self();
    if (self->depth < LOOM_FRAMES) {
        self->frame[self->depth].low = (uintptr_t)__builtin_frame_address(0);
        self->frame[self->depth].caller = (uintptr_t)caller;
    }
    self->depth++;
}

void __tsan_func_exit(void)
{
    if (loom_active() && loom_self()->depth > 0) {
        loom_self()->depth--;
    }
}
