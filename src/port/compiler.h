/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * compiler.h: what we ask of the compiler beyond C11.
 *
 * Branch hints, out-of-line cold paths, cache-line padding, the pause of a
 * spin loop.  Everything has a plain C11 meaning where the compiler is neither
 * gcc nor clang.
 *
 * Layer: port.
 */
#ifndef WSI_PORT_COMPILER_H
#define WSI_PORT_COMPILER_H

#if defined(__GNUC__) || defined(__clang__)
#define WSI_LIKELY(x) __builtin_expect(!!(x), 1)
#define WSI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WSI_COLD __attribute__((cold, noinline))
#define WSI_NOINLINE __attribute__((noinline))
/* For the one function whose placement shows: a cache line of its own. */
#define WSI_HOT __attribute__((hot, aligned(64)))
#define WSI_ALWAYS_INLINE inline __attribute__((always_inline))
/* One load instead of a call for the current worker, also in a shared
 * library: the eight bytes fit the static TLS reserve of every libc we know. */
#define WSI_THREAD_LOCAL                                                       \
    _Thread_local __attribute__((tls_model("initial-exec")))
#define WSI_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")
#else
#define WSI_LIKELY(x) (x)
#define WSI_UNLIKELY(x) (x)
#define WSI_COLD
#define WSI_NOINLINE
#define WSI_HOT
#define WSI_ALWAYS_INLINE inline
#define WSI_THREAD_LOCAL _Thread_local
#define WSI_COMPILER_BARRIER() atomic_signal_fence(memory_order_seq_cst)
#endif

/* Two lines, because adjacent-line prefetch pairs them on x86-64 and Apple's
 * cores have 128-byte lines: words of different writers stand so far apart. */
#define WSI_CACHE_LINE 128

/* The body of every spin loop.  The model checker compiles with WSI_MODEL and
 * supplies wsi_model_pause(), which tells its scheduler that we wait. */
#ifdef WSI_MODEL
void wsi_model_pause(void);
#endif

static inline void wsi_cpu_relax(void)
{
#if defined(WSI_MODEL)
    wsi_model_pause();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__arm__) && __ARM_ARCH >= 7
    __asm__ volatile("yield" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#else
    WSI_COMPILER_BARRIER();
#endif
}

#endif
