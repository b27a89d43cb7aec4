/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * port_model.c: the port layer of the library, on the simulator.
 *
 * Linked into model tests in place of the sources in src/port.  Compiled
 * without -fsanitize=thread: nothing here touches an atomic by itself.
 *
 * Layer: port (tests only).
 */
#include "loom.h"
#include "port/fence.h"
#include "port/platform.h"

/* ---- memory -------------------------------------------------------------- */

void *wsi_mem_alloc_real(size_t align, size_t size)
{
    return loom_alloc(align, size, true);
}

void wsi_mem_free_real(void *p)
{
    loom_free(p);
}

void *wsi_mem_alloc(size_t align, size_t size)
{
    return wsi_port_ops.mem_alloc(align, size);
}

void wsi_mem_free(void *p)
{
    wsi_port_ops.mem_free(p);
}

/* ---- futex --------------------------------------------------------------- */

void wsi_futex_wait(const wsi_atomic_u32 *word, uint32_t expected,
                    uint64_t timeout_ns)
{
    loom_futex_wait(word, expected, timeout_ns);
}

void wsi_futex_wake(const wsi_atomic_u32 *word, uint32_t n)
{
    loom_futex_wake(word, n);
}

/* ---- fences -------------------------------------------------------------- */

wsi_fences wsi_fences_mode(void)
{
    return loom_fences_seqcst() ? WSI_FENCES_SEQCST : WSI_FENCES_ASYMMETRIC;
}

bool wsi_membarrier_available(void)
{
    return !loom_fences_seqcst();
}

bool wsi_membarrier(void)
{
    loom_membarrier();
    return true;
}

bool wsi_fence_heavy(wsi_fences mode)
{
    if (mode == WSI_FENCES_ASYMMETRIC) {
        return wsi_port_ops.membarrier();
    }
    loom_fence_seq_cst();
    return true;
}

WSI_COLD void wsi_fence_light_seqcst(void)
{
    loom_fence_seq_cst();
}

/* ---- threads ------------------------------------------------------------- */

int wsi_thread_start(wsi_thread *out, size_t stack_size, const char *name,
                     wsi_thread_fn fn, void *arg)
{
    (void)stack_size;
    (void)name;
    return wsi_port_ops.thread_create(&out->handle, NULL, fn, arg);
}

int wsi_thread_join(wsi_thread thread)
{
    return pthread_join(thread.handle, NULL);
}

void wsi_thread_yield(void)
{
    loom_pause();
}

void wsi_model_pause(void)
{
    loom_pause();
}

size_t wsi_stack_size_max(void)
{
    return (size_t)64 << 20;
}

/* ---- the machine --------------------------------------------------------- */

uint64_t wsi_clock_ns_real(void)
{
    return loom_clock_ns();
}

uint64_t wsi_clock_ns(void)
{
    return wsi_port_ops.clock_ns();
}

uint64_t wsi_process_id(void)
{
    return 1;
}

unsigned wsi_cpu_count_real(void)
{
    return 2;
}

unsigned wsi_cpu_count(void)
{
    return wsi_port_ops.cpu_count();
}

unsigned wsi_cgroup_cpu_limit(const char *root)
{
    (void)root;
    return 0;
}

unsigned wsi_affinity_cpu_count(wsi_affinity_fn get)
{
    (void)get;
    return 0;
}

/* A test may replace entries: a membarrier that fails, memory that runs out. */
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
