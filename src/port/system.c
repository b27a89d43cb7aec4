/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * system.c: the table of replaceable operations, the clock, the process id.
 *
 * Any thread.  The table is constant after the start of the process except in
 * tests, which change it while no other thread runs library code; that is why
 * its entries are plain pointers and not atomics.
 *
 * Layer: port.
 */
#define _POSIX_C_SOURCE 200809L

#include <time.h>
#include <unistd.h>

#include "port/platform.h"

#define NS_PER_S UINT64_C(1000000000)

wsi_port_ops_table wsi_port_ops = {
    .mem_alloc = wsi_mem_alloc_real,
    .mem_free = wsi_mem_free_real,
    .thread_create = pthread_create,
    .membarrier_available = wsi_membarrier_available,
    .membarrier = wsi_membarrier,
    .clock_ns = wsi_clock_ns_real,
    .cpu_count = wsi_cpu_count_real,
    .at_point = NULL,
};

uint64_t wsi_clock_ns_real(void)
{
    struct timespec now = {0, 0};
    /* Cannot fail: POSIX systems that lack CLOCK_MONOTONIC do not compile. */
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t wsi_clock_ns(void)
{
    return wsi_port_ops.clock_ns();
}

uint64_t wsi_process_id(void)
{
    return (uint64_t)getpid();
}
