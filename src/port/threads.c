/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * threads.c: start, join and yield.
 *
 * Any thread may call.  What a library must settle for the threads it adds to
 * somebody's program:
 *  - signals stay with the program's own threads.  The starter blocks them
 *    around pthread_create(), so that the new thread never runs with one
 *    open; it only adds to its own mask, so that nothing the program blocked
 *    is let through meanwhile.  The thread then sets its final mask.
 *  - the stack size is explicit: musl's default is 128 KiB, and glibc's
 *    follows `ulimit -s`.
 * A started thread is always joined by its owner; none is detached.
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
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "port/platform.h"

#define NAME_BYTES 16 /* with the terminating zero, as the kernel counts */
#define DEFAULT_STACK ((size_t)8 << 20)
/* A quarter of a 32-bit address space; on 64 bits a size that no program
 * means and that still leaves room for rounding up. */
#define MAX_STACK (sizeof(size_t) > 4 ? SIZE_MAX >> 24 : SIZE_MAX >> 2)
#define EAGAIN_RETRIES 3
#define FIRST_BACKOFF_NS 1000000L

/* Handed to the new thread, which frees it. */
typedef struct {
    wsi_thread_fn fn;
    void *arg;
    char name[NAME_BYTES];
} start_record;

/* Everything but the signals that a thread raises by what it does itself:
 * blocked, these would kill the process past its own crash handler. */
static void worker_mask(sigset_t *set)
{
    static const int open[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                               SIGTRAP, SIGABRT, SIGSYS};
    (void)sigfillset(set);
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        (void)sigdelset(set, open[i]);
    }
}

/* A name is a courtesy to debuggers: failures do not matter. */
static void name_self(const char *name)
{
#if defined(__APPLE__)
    (void)pthread_setname_np(name);
#elif defined(__linux__)
    (void)pthread_setname_np(pthread_self(), name);
#else
    (void)name;
#endif
}

static void *thread_main(void *arg)
{
    start_record *record = arg;
    const wsi_thread_fn fn = record->fn;
    void *fn_arg = record->arg;
    if (record->name[0] != '\0') {
        name_self(record->name);
    }
    wsi_mem_free(record);
    sigset_t mask;
    worker_mask(&mask);
    /* Cannot fail with these arguments; if it did, more would be blocked. */
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return fn(fn_arg);
}

static start_record *record_new(const char *name, wsi_thread_fn fn, void *arg)
{
    start_record *record =
        wsi_mem_alloc(_Alignof(start_record), sizeof(*record));
    if (record != NULL) {
        record->fn = fn;
        record->arg = arg;
        if (name != NULL) {
            const size_t length = strlen(name);
            memcpy(record->name, name,
                   length < NAME_BYTES ? length : NAME_BYTES - 1);
        }
    }
    return record;
}

static size_t positive_sysconf(int name, size_t otherwise)
{
    const long value = sysconf(name);
    return value > 0 ? (size_t)value : otherwise;
}

/* `size` as pthread_attr_setstacksize() takes it; size <= MAX_STACK. */
static size_t rounded_stack(size_t size)
{
    const size_t page = positive_sysconf(_SC_PAGESIZE, 4096);
    size_t least = (size_t)PTHREAD_STACK_MIN;
#ifdef _SC_THREAD_STACK_MIN
    const size_t dynamic = positive_sysconf(_SC_THREAD_STACK_MIN, least);
    least = dynamic > least ? dynamic : least;
#endif
    size = size > least ? size : least;
    return (size + page - 1) / page * page;
}

/* One attempt, with the signals of this thread blocked for its duration. */
static int create_masked(pthread_t *out, const pthread_attr_t *attr,
                         start_record *record)
{
    sigset_t block;
    sigset_t before;
    worker_mask(&block);
    int error = pthread_sigmask(SIG_BLOCK, &block, &before);
    if (error == 0) {
        error = wsi_port_ops.thread_create(out, attr, thread_main, record);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return error;
}

/* EAGAIN is a limit on processes or a moment without memory: other threads
 * may be about to end.  A few milliseconds in all, then it is the caller's. */
static int create_patiently(pthread_t *out, const pthread_attr_t *attr,
                            start_record *record)
{
    long pause_ns = FIRST_BACKOFF_NS;
    int error = create_masked(out, attr, record);
    for (int i = 0; i < EAGAIN_RETRIES && error == EAGAIN; i++) {
        const struct timespec pause = {0, pause_ns};
        (void)nanosleep(&pause, NULL);
        pause_ns *= 2;
        error = create_masked(out, attr, record);
    }
    return error;
}

int wsi_thread_start(wsi_thread *out, size_t stack_size, const char *name,
                     wsi_thread_fn fn, void *arg)
{
    if (stack_size > MAX_STACK) {
        return EINVAL;
    }
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error != 0) {
        return error;
    }
    error = pthread_attr_setstacksize(
        &attr, rounded_stack(stack_size > 0 ? stack_size : DEFAULT_STACK));
    if (error == 0) {
        start_record *record = record_new(name, fn, arg);
        error = record == NULL ? ENOMEM
                               : create_patiently(&out->handle, &attr, record);
        /* On success the record is the thread's and may be gone. */
        if (error != 0) {
            wsi_mem_free(record);
        }
    }
    (void)pthread_attr_destroy(&attr);
    return error;
}

int wsi_thread_join(wsi_thread thread)
{
    return pthread_join(thread.handle, NULL);
}

void wsi_thread_yield(void)
{
    (void)sched_yield();
}

size_t wsi_stack_size_max(void)
{
    return MAX_STACK;
}

bool wsi_stack_of_caller(uintptr_t *lowest, size_t *size)
{
    bool known = false;
#if defined(__linux__)
    pthread_attr_t attr;
    void *address;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        known = pthread_attr_getstack(&attr, &address, size) == 0;
        *lowest = known ? (uintptr_t)address : 0;
        pthread_attr_destroy(&attr);
    }
#elif defined(__APPLE__)
    *size = pthread_get_stacksize_np(pthread_self());
    *lowest = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - *size;
    known = true;
#else
    (void)lowest;
    (void)size;
#endif
    return known;
}
