/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * atomic.h: the only user of <stdatomic.h>.
 *
 * Every operation carries its memory order in its name, and every atomic is a
 * struct, so that a bare operator (`x->n -= 1`, a hidden seq_cst) does not
 * compile.  Each use names its partner beside the call.
 *
 * Rules that keep the code checkable:
 *  - data is handed over by release/acquire *accesses*, never by a fence;
 *  - a fence serves store-load ordering only (fence.h);
 *  - only word-size atomics that are lock-free everywhere we build.
 *
 * Layer: port.
 */
#ifndef WSI_PORT_ATOMIC_H
#define WSI_PORT_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/compiler.h"

/* A test build (WSTEAL_DELAYS) waits here for random times, so that threads
 * meet in states which are short otherwise. */
#ifdef WSI_DELAYS
#include "port/delay.h"
#define WSI_MAYBE_DELAY() wsi_maybe_delay()
#else
#define WSI_MAYBE_DELAY() ((void)0)
#endif

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "32-bit atomics must be lock-free");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics must be lock-free");
_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2, "pointers must be lock-free");

/* Loads, stores and the two read-modify-writes that any type has.  A failed
 * compare-and-swap acquires, so that the value it reports can be acted on. */
#define WSI_ATOMIC_DEFINE(NAME, TYPE)                                          \
    typedef struct {                                                           \
        _Atomic(TYPE) v;                                                       \
    } wsi_atomic_##NAME;                                                       \
    static inline void wsi_##NAME##_init(wsi_atomic_##NAME *a, TYPE x)         \
    {                                                                          \
        atomic_init(&a->v, x);                                                 \
    }                                                                          \
    static inline TYPE wsi_##NAME##_load_relaxed(const wsi_atomic_##NAME *a)   \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_load_explicit(&a->v, memory_order_relaxed);              \
    }                                                                          \
    static inline TYPE wsi_##NAME##_load_acquire(const wsi_atomic_##NAME *a)   \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_load_explicit(&a->v, memory_order_acquire);              \
    }                                                                          \
    static inline void wsi_##NAME##_store_relaxed(wsi_atomic_##NAME *a,        \
                                                  TYPE x)                      \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        atomic_store_explicit(&a->v, x, memory_order_relaxed);                 \
    }                                                                          \
    static inline void wsi_##NAME##_store_release(wsi_atomic_##NAME *a,        \
                                                  TYPE x)                      \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        atomic_store_explicit(&a->v, x, memory_order_release);                 \
    }                                                                          \
    static inline TYPE wsi_##NAME##_exchange_acq_rel(wsi_atomic_##NAME *a,     \
                                                     TYPE x)                   \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_exchange_explicit(&a->v, x, memory_order_acq_rel);       \
    }                                                                          \
    static inline bool wsi_##NAME##_cas_acq_rel(wsi_atomic_##NAME *a,          \
                                                TYPE *expected, TYPE desired)  \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_compare_exchange_strong_explicit(                        \
            &a->v, expected, desired, memory_order_acq_rel,                    \
            memory_order_acquire);                                             \
    }

#define WSI_ATOMIC_DEFINE_ARITHMETIC(NAME, TYPE)                               \
    static inline TYPE wsi_##NAME##_fetch_add_acq_rel(wsi_atomic_##NAME *a,    \
                                                      TYPE x)                  \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_fetch_add_explicit(&a->v, x, memory_order_acq_rel);      \
    }                                                                          \
    static inline TYPE wsi_##NAME##_fetch_add_relaxed(wsi_atomic_##NAME *a,    \
                                                      TYPE x)                  \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_fetch_add_explicit(&a->v, x, memory_order_relaxed);      \
    }                                                                          \
    static inline TYPE wsi_##NAME##_fetch_sub_acq_rel(wsi_atomic_##NAME *a,    \
                                                      TYPE x)                  \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_fetch_sub_explicit(&a->v, x, memory_order_acq_rel);      \
    }                                                                          \
    static inline TYPE wsi_##NAME##_fetch_or_acq_rel(wsi_atomic_##NAME *a,     \
                                                     TYPE x)                   \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_fetch_or_explicit(&a->v, x, memory_order_acq_rel);       \
    }                                                                          \
    static inline TYPE wsi_##NAME##_fetch_and_acq_rel(wsi_atomic_##NAME *a,    \
                                                      TYPE x)                  \
    {                                                                          \
        WSI_MAYBE_DELAY();                                                     \
        return atomic_fetch_and_explicit(&a->v, x, memory_order_acq_rel);      \
    }

WSI_ATOMIC_DEFINE(u32, uint32_t)
WSI_ATOMIC_DEFINE(u64, uint64_t)
WSI_ATOMIC_DEFINE(ptr, void *)
WSI_ATOMIC_DEFINE_ARITHMETIC(u32, uint32_t)
WSI_ATOMIC_DEFINE_ARITHMETIC(u64, uint64_t)

/* The full store-load fence.  gcc warns under -fsanitize=thread that the
 * sanitizer does not model fences; no hand-over of data depends on this one,
 * so the warning is silenced here and nowhere else. */
static inline void wsi_fence_full(void)
{
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    atomic_thread_fence(memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif
}

#endif
