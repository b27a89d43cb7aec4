/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cpu_count.c: how many CPUs this process may use.
 *
 * Any thread may call; nothing is cached, so a second call sees a changed mask
 * or quota.  The answer is the smallest of what is known of
 *  - the CPUs that are online,
 *  - the calling thread's affinity mask, which the threads it starts inherit,
 *  - the cgroup quota (cgroup.c),
 * and at least 1.  A part that cannot be found out does not count.
 *
 * Layer: port.
 */
#define _GNU_SOURCE 1
#if defined(__APPLE__)
#define _DARWIN_C_SOURCE 1
#endif

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "port/platform.h"

/* 1024 CPUs, the width of the libc's fixed type; the kernel refuses a mask
 * that is narrower than its own with EINVAL. */
#define FIRST_MASK_BYTES 128U
#define LAST_MASK_BYTES (128U << 10)

static unsigned count_bits(const unsigned char *bytes, size_t n)
{
    unsigned bits = 0;
    for (size_t i = 0; i < n; i++) {
        for (unsigned rest = bytes[i]; rest != 0; rest &= rest - 1) {
            bits++;
        }
    }
    return bits;
}

unsigned wsi_affinity_cpu_count(wsi_affinity_fn get)
{
    for (size_t bytes = FIRST_MASK_BYTES; bytes <= LAST_MASK_BYTES;
         bytes *= 2) {
        void *mask = wsi_mem_alloc(sizeof(void *), bytes);
        if (mask == NULL) {
            return 0;
        }
        const int error = get(bytes, mask);
        const unsigned n = error == 0 ? count_bits(mask, bytes) : 0;
        wsi_mem_free(mask);
        if (error != EINVAL) {
            return n;
        }
    }
    return 0;
}

static int own_affinity(size_t bytes, void *mask)
{
#if defined(__linux__)
    return sched_getaffinity(0, bytes, mask) == 0 ? 0 : errno;
#else
    (void)bytes;
    (void)mask;
    return ENOSYS;
#endif
}

static unsigned online(void)
{
#ifdef _SC_NPROCESSORS_ONLN
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n > 0) {
        return n < INT_MAX ? (unsigned)n : (unsigned)INT_MAX;
    }
#endif
    return 0;
}

static unsigned smaller_known(unsigned a, unsigned b)
{
    if (a == 0 || b == 0) {
        return a + b;
    }
    return a < b ? a : b;
}

unsigned wsi_cpu_count_real(void)
{
    unsigned n = smaller_known(online(), wsi_affinity_cpu_count(own_affinity));
    n = smaller_known(n, wsi_cgroup_cpu_limit(""));
    return n > 0 ? n : 1;
}

unsigned wsi_cpu_count(void)
{
    const unsigned n = wsi_port_ops.cpu_count();
    return n > 0 ? n : 1;
}
