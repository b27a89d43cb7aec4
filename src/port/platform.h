/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * platform.h: the one seam to the operating system.
 *
 * Memory, threads, futex, clock, number of CPUs.  Everything that blocks,
 * allocates or enters the kernel goes through here, so that a checker or a
 * test can replace it:
 *  - fault injection swaps entries of wsi_port_ops (tests only, before any
 *    other thread runs library code);
 *  - the model checker links its own definitions of the functions below.
 *
 * Implementations: linux.c (futex, membarrier) and, with WSTEAL_PORT=posix,
 * posix.c (mutex + condition variable); threads.c, memory.c, system.c,
 * cpu_count.c and cgroup.c serve both.  No function prints, exits or keeps
 * hidden state besides what its comment names.
 *
 * Errors are 0 or a positive errno value; the layers above translate.
 *
 * Layer: port.
 */
#ifndef WSI_PORT_PLATFORM_H
#define WSI_PORT_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/atomic.h"

/* ---- memory ---------------------------------------------------------- */

/* `size` zeroed bytes aligned to `align` (a power of two, at least
 * sizeof(void *)), or NULL.  Never returns NULL unless memory is out; size 0
 * counts as 1.  wsi_mem_free(NULL) does nothing. */
void *wsi_mem_alloc(size_t align, size_t size);
void wsi_mem_free(void *p);

/* ---- futex ----------------------------------------------------------- */

/* Sleeps while *word == expected, until a wake, or until `timeout_ns` (relative
 * to now; UINT64_MAX = for ever).  May return early for no reason: the caller
 * loops on its own condition.  A wake orders nothing by itself: the caller's
 * acquire load of the word does. */
void wsi_futex_wait(const wsi_atomic_u32 *word, uint32_t expected,
                    uint64_t timeout_ns);

/* Wakes up to `n` sleepers of `word`.  Only the address is used: the word's
 * memory may already be gone. */
void wsi_futex_wake(const wsi_atomic_u32 *word, uint32_t n);

/* ---- membarrier ------------------------------------------------------ */

/* Registers for and tries one membarrier(PRIVATE_EXPEDITED); true when the
 * call exists and works.  Always false in the POSIX port. */
bool wsi_membarrier_available(void);
/* One membarrier; false when the kernel refuses (re-registers once). */
bool wsi_membarrier(void);

/* ---- threads --------------------------------------------------------- */

typedef struct {
    pthread_t handle;
} wsi_thread;

typedef void *(*wsi_thread_fn)(void *arg);

/* Starts a thread whose stack has `stack_size` bytes (rounded up to a page and
 * to the system's minimum, 0 = 8 MiB; never derived from RLIMIT_STACK) and in
 * which all signals are blocked except the synchronous ones (SEGV, BUS, FPE,
 * ILL, TRAP, ABRT, SYS), whatever the caller's mask; that mask only grows
 * during the call and is back when it returns.  `name` is cut to the 15 bytes
 * the system keeps and is in place before `fn` runs; NULL = unnamed.
 *
 * EAGAIN is retried a few times with back-off, then returned.  EINVAL: the
 * stack size is above wsi_stack_size_max() or the system refuses it.  ENOMEM:
 * no memory for the few bytes handed to the thread, which frees them itself
 * (so a test that swaps mem_free swaps it back after the join). */
int wsi_thread_start(wsi_thread *out, size_t stack_size, const char *name,
                     wsi_thread_fn fn, void *arg);
int wsi_thread_join(wsi_thread thread);
void wsi_thread_yield(void);

/* The lowest address of the calling thread's stack and its size in bytes;
 * false: not known. */
bool wsi_stack_of_caller(uintptr_t *lowest, size_t *size);

/* The largest stack size that wsi_thread_start() will try. */
size_t wsi_stack_size_max(void);

/* ---- clock ----------------------------------------------------------- */

/* Nanoseconds of a monotonic clock with an arbitrary zero. */
uint64_t wsi_clock_ns(void);

/* Until a deadline on that clock; UINT64_MAX, which is no deadline, stays. */
static inline uint64_t wsi_time_left(uint64_t deadline_ns)
{
    uint64_t now;
    if (deadline_ns == UINT64_MAX) {
        return UINT64_MAX;
    }
    now = wsi_clock_ns();
    return now < deadline_ns ? deadline_ns - now : 0;
}

/* ---- process --------------------------------------------------------- */

/* Identifies the process: differs in a forked child. */
uint64_t wsi_process_id(void);

/* ---- CPUs ------------------------------------------------------------ */

/* CPUs this process may use: min(online, affinity mask of any width, cgroup
 * v1/v2 quota over all ancestors, rounded up), at least 1. */
unsigned wsi_cpu_count(void);

/* The cgroup part, with the root of the file system as a parameter (tests use
 * fixtures; "" or "/" = the machine).  Reads <root>/proc/self/cgroup and
 * <root>/proc/self/mountinfo, walks from the process's group up to the mount,
 * and returns the smallest quota in CPUs, rounded up, at least 1; 0 = no
 * limit, or nothing readable. */
unsigned wsi_cgroup_cpu_limit(const char *root);

/* The affinity part: the CPUs in the calling thread's mask; 0 = not known.
 * `get` fills a mask of `bytes` bytes and returns 0 or an errno value; EINVAL
 * = the mask is too small, and the next call brings one of twice the size. */
typedef int (*wsi_affinity_fn)(size_t bytes, void *mask);
unsigned wsi_affinity_cpu_count(wsi_affinity_fn get);

/* ---- replaceable operations ------------------------------------------ */

/* Places where a test wants to stop a thread: each lies on a slow path, between
 * two steps that another thread can come between. */
typedef enum {
    WSI_POINT_LATCH_SET = 1, /* latch is set, its waiter not yet woken */
    WSI_POINT_SLEEP_COMMIT,  /* last look done, about to block */
    WSI_POINT_CLAIM_HELD,    /* forced exposure: claimed, not yet settled */
    WSI_POINT_PARK           /* spare says parked, has not given its seat */
} wsi_point;

typedef struct {
    void *(*mem_alloc)(size_t align, size_t size);
    void (*mem_free)(void *p);
    int (*thread_create)(pthread_t *out, const pthread_attr_t *attr,
                         wsi_thread_fn fn, void *arg);
    bool (*membarrier_available)(void);
    bool (*membarrier)(void);
    uint64_t (*clock_ns)(void);
    unsigned (*cpu_count)(void);
    /* NULL, or called at the named points of a protocol (below). */
    void (*at_point)(wsi_point point, void *object);
} wsi_port_ops_table;

/* Initialised to the real operations.  Written by tests only. */
extern wsi_port_ops_table wsi_port_ops;

/* The real operations that have no other name; only the table uses them. */
void *wsi_mem_alloc_real(size_t align, size_t size);
void wsi_mem_free_real(void *p);
uint64_t wsi_clock_ns_real(void);
unsigned wsi_cpu_count_real(void);

static inline void wsi_at_point(wsi_point point, void *object)
{
    if (wsi_port_ops.at_point != NULL) {
        wsi_port_ops.at_point(point, object);
    }
}

#endif
