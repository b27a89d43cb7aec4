/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * linux.c: futex and membarrier, by system call.
 *
 * Any thread may call.  No state: a futex is an address the kernel hashes, and
 * the registration for membarrier belongs to the process and survives in the
 * kernel.  Only process-private futexes: the library's words are never in
 * memory that two processes share.
 *
 * Not compiled with WSTEAL_PORT_POSIX (see posix.c).
 *
 * Layer: port.
 */
#define _GNU_SOURCE 1

#include "port/platform.h"

#ifndef WSTEAL_PORT_POSIX

#ifndef __linux__
#error "this system is not Linux: build with WSTEAL_PORT=posix"
#endif

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/futex.h and linux/membarrier.h, which musl does not ship. */
#define OP_WAIT_PRIVATE (0 | 128)
#define OP_WAKE_PRIVATE (1 | 128)
#define MEMBARRIER_QUERY 0
#define MEMBARRIER_PRIVATE_EXPEDITED (1 << 3)
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED (1 << 4)

#define NS_PER_S UINT64_C(1000000000)
/* About 31 years: fits every tv_sec.  A wait that ends early is allowed. */
#define LONGEST_WAIT_S UINT64_C(1000000000)

_Static_assert(sizeof(wsi_atomic_u32) == 4, "a futex word has 32 bits");

/* The time each call takes, which is not the libc's struct timespec: on 32-bit
 * systems that one may have 64-bit seconds where SYS_futex reads 32.  x32 is
 * the one ABI whose long is shorter than the kernel's. */
#if defined(__x86_64__) && defined(__ILP32__)
typedef long long kernel_long;
#else
typedef long kernel_long;
#endif

typedef struct {
    kernel_long sec;
    kernel_long nsec;
} kernel_time;

#ifdef SYS_futex_time64
typedef struct {
    int64_t sec;
    int64_t nsec;
} kernel_time64;
#endif

/* timeout_ns is relative, UINT64_MAX = none.  The result is of no use to the
 * callers: every reason to return is a reason to look at the word again. */
static void futex(const wsi_atomic_u32 *word, int op, uint32_t value,
                  uint64_t timeout_ns)
{
    const void *address = word;
    uint64_t sec = timeout_ns / NS_PER_S;
    if (sec > LONGEST_WAIT_S) {
        sec = LONGEST_WAIT_S;
    }
    const uint64_t nsec = timeout_ns % NS_PER_S;
    const bool timed = timeout_ns != UINT64_MAX;
#ifdef SYS_futex
    const kernel_time t = {(kernel_long)sec, (kernel_long)nsec};
    if (syscall(SYS_futex, address, op, value, timed ? &t : NULL, NULL, 0) >=
            0 ||
        errno != ENOSYS) {
        return;
    }
#endif
    /* The only one on the newest 32-bit systems, and on kernels built without
     * 32-bit times. */
#ifdef SYS_futex_time64
    const kernel_time64 t64 = {(int64_t)sec, (int64_t)nsec};
    (void)syscall(SYS_futex_time64, address, op, value, timed ? &t64 : NULL,
                  NULL, 0);
#endif
}

void wsi_futex_wait(const wsi_atomic_u32 *word, uint32_t expected,
                    uint64_t timeout_ns)
{
    futex(word, OP_WAIT_PRIVATE, expected, timeout_ns);
}

void wsi_futex_wake(const wsi_atomic_u32 *word, uint32_t n)
{
    /* The kernel counts in int: a larger number would be negative there. */
    const uint32_t count = n < (uint32_t)INT_MAX ? n : (uint32_t)INT_MAX;
    if (count > 0) { /* the kernel would wake one for a zero */
        futex(word, OP_WAKE_PRIVATE, count, UINT64_MAX);
    }
}

static long membarrier(int command)
{
#ifdef SYS_membarrier
    return syscall(SYS_membarrier, command, 0, 0);
#else
    (void)command;
    errno = ENOSYS;
    return -1;
#endif
}

bool wsi_membarrier_available(void)
{
    const long commands = membarrier(MEMBARRIER_QUERY);
    return commands >= 0 && (commands & MEMBARRIER_PRIVATE_EXPEDITED) != 0 &&
           membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_PRIVATE_EXPEDITED) == 0;
}

bool wsi_membarrier(void)
{
    if (membarrier(MEMBARRIER_PRIVATE_EXPEDITED) == 0) {
        return true;
    }
    /* EPERM: not registered, which a forked child or a restored checkpoint
     * may find out here. */
    return errno == EPERM &&
           membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_PRIVATE_EXPEDITED) == 0;
}

#endif
