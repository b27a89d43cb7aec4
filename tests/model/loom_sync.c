/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_sync.c: what blocks: threads, mutexes, condition variables, futex.
 *
 * The names __wrap_NAME receive the calls of NAME from all linked objects
 * (linker option --wrap, see wrap.txt).  Outside of a run they do nothing.
 * Attributes are ignored; a mutex that its owner locks again is a deadlock.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "loom_internal.h"

/* Scheduling point of a call whose site is to be reported. */
static void point(void)
{
    const uintptr_t site = loom->site;
    loom_point();
    loom->site = site;
}

/* ---- threads ------------------------------------------------------------- */

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attr,
                          void *(*function)(void *), void *argument)
{
    LOOM_SITE();
    (void)attr;
    if (!loom_active()) {
        return EAGAIN;
    }
    const int number = loom_spawn(function, argument);
    const pthread_t handle = (pthread_t)number;
    *out = handle;
    loom_trace("start", __ATOMIC_RELEASE, NULL, (uint64_t)number, 0);
    loom_self()->published = true;
    return 0;
}

int __wrap_pthread_join(pthread_t handle, void **result)
{
    LOOM_SITE();
    if (!loom_active()) {
        return ESRCH;
    }
    const int number = (int)handle;
    loom_thread *self = loom_self();
    while (loom->thread[number].state != LOOM_DONE) {
        self->state = LOOM_IN_JOIN;
        self->object = (uintptr_t)number;
        loom_block_self();
    }
    loom_view_join(&self->now, &loom->thread[number].now);
    loom_trace("join", __ATOMIC_ACQUIRE, NULL, (uint64_t)number, 0);
    if (result != NULL) {
        *result = loom->thread[number].result;
    }
    return 0;
}

pthread_t __wrap_pthread_self(void)
{
    return (pthread_t)(loom_active() ? loom->current : 0);
}

int __wrap_sched_yield(void)
{
    LOOM_SITE();
    loom_pause();
    return 0;
}

/* ---- mutexes ------------------------------------------------------------- */

static loom_mutex *mutex_of(const void *mutex)
{
    const uintptr_t address = (uintptr_t)mutex;
    loom_check_address(address, sizeof(pthread_mutex_t));
    for (int i = 0; i < loom->mutexes; i++) {
        if (loom->mutex[i].address == address) {
            return &loom->mutex[i];
        }
    }
    if (loom->mutexes == LOOM_MUTEXES) {
        loom_limit("too many mutexes");
    }
    loom_mutex *m = &loom->mutex[loom->mutexes++];
    m->address = address;
    m->owner = -1;
    memset(&m->message, 0, sizeof m->message);
    return m;
}

static void mutex_take(loom_mutex *m)
{
    m->owner = loom->current;
    loom_view_join(&loom_self()->now, &m->message);
    loom_trace("lock", __ATOMIC_ACQUIRE, (void *)m->address, 0, 0);
}

static void mutex_lock(const void *mutex)
{
    loom_mutex *m = mutex_of(mutex);
    while (m->owner >= 0) {
        loom_self()->state = LOOM_IN_MUTEX;
        loom_self()->object = m->address;
        loom_block_self();
    }
    mutex_take(m);
}

static void mutex_unlock(const void *mutex)
{
    loom_mutex *m = mutex_of(mutex);
    loom_thread *self = loom_self();
    if (m->owner != loom->current) {
        loom_found("unlock of a mutex that the thread does not hold",
                   m->address);
    }
    m->message = self->now;
    self->now.clock[loom->current]++;
    self->published = true;
    m->owner = -1;
    loom_trace("unlock", __ATOMIC_RELEASE, mutex, 0, 0);
    loom_unblock_all(LOOM_IN_MUTEX, m->address);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attr)
{
    (void)attr;
    if (loom_active()) {
        loom_mutex *m = mutex_of(mutex);
        m->owner = -1;
        memset(&m->message, 0, sizeof m->message);
    }
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    LOOM_SITE();
    if (loom_active() && mutex_of(mutex)->owner >= 0) {
        loom_found("destruction of a locked mutex", (uintptr_t)mutex);
    }
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    LOOM_SITE();
    if (loom_active()) {
        point();
        mutex_lock(mutex);
    }
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    LOOM_SITE();
    if (!loom_active()) {
        return 0;
    }
    point();
    loom_mutex *m = mutex_of(mutex);
    if (m->owner >= 0) {
        return EBUSY;
    }
    mutex_take(m);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    LOOM_SITE();
    if (loom_active()) {
        mutex_unlock(mutex);
    }
    return 0;
}

/* ---- condition variables ------------------------------------------------- */

int __wrap_pthread_cond_init(pthread_cond_t *cond,
                             const pthread_condattr_t *attr)
{
    (void)cond;
    (void)attr;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
    LOOM_SITE();
    if (loom_active()) {
        loom_check_address((uintptr_t)cond, sizeof *cond);
    }
    return 0;
}

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                     uint64_t timeout_ns)
{
    if (!loom_active()) {
        return 0;
    }
    point();
    loom_thread *self = loom_self();
    loom_check_address((uintptr_t)cond, sizeof *cond);
    mutex_unlock(mutex);
    loom_trace("cond_wait", 0, cond, 0, 0);
    self->state = LOOM_IN_COND;
    self->object = (uintptr_t)cond;
    self->timeout = timeout_ns;
    loom_block_self();
    const bool timed_out = self->timed_out;
    mutex_lock(mutex);
    return timed_out ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    LOOM_SITE();
    return cond_wait(cond, mutex, UINT64_MAX);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *deadline)
{
    LOOM_SITE();
    (void)deadline;
    return cond_wait(cond, mutex, 1);
}

/* Wakes up to n threads blocked in `state` on `object`; which ones is for the
 * search to choose. */
static void wake_some(loom_thread_state state, uintptr_t object, uint32_t n)
{
    int waiter[LOOM_THREADS];
    int waiters = 0;
    for (int i = 0; i < loom->threads; i++) {
        if (loom->thread[i].state == state &&
            loom->thread[i].object == object) {
            waiter[waiters++] = i;
        }
    }
    for (; n > 0 && waiters > 0; n--) {
        const int k = n >= (uint32_t)waiters ? 0 : loom_choose(waiters);
        loom->thread[waiter[k]].state = LOOM_READY;
        loom->thread[waiter[k]].timed_out = false;
        waiter[k] = waiter[--waiters];
    }
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
    LOOM_SITE();
    if (loom_active()) {
        point();
        loom_check_address((uintptr_t)cond, sizeof *cond);
        loom_trace("cond_signal", 0, cond, 0, 0);
        wake_some(LOOM_IN_COND, (uintptr_t)cond, 1);
    }
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    LOOM_SITE();
    if (loom_active()) {
        point();
        loom_check_address((uintptr_t)cond, sizeof *cond);
        loom_trace("cond_broadcast", 0, cond, 0, 0);
        wake_some(LOOM_IN_COND, (uintptr_t)cond, UINT32_MAX);
    }
    return 0;
}

/* ---- futex --------------------------------------------------------------- */

void loom_futex_wait(const void *word, uint32_t expected, uint64_t timeout_ns)
{
    LOOM_SITE();
    if (!loom_active()) {
        return;
    }
    point();
    loom_note_access(word, false, __ATOMIC_SEQ_CST);
    if (loom->spurious < loom->options.spurious && loom_choose(2) == 1) {
        loom->spurious++;
        return;
    }
    /* The kernel compares under the lock that a wake takes, too: it sees the
     * newest value.  The thread learns no more than that (coherence). */
    loom_location *location = loom_find(word, 4, LOOM_ATOMIC_READ);
    const uint32_t value =
        (uint32_t)loom_store_at(location, location->newest)->value;
    loom_thread *self = loom_self();
    self->now.seen[loom_location_index(location)] = (uint16_t)location->newest;
    if (value != expected) {
        loom_trace("futex_wait (changed)", 0, word, value, 0);
        return;
    }
    loom_trace("futex_wait", 0, word, value, 0);
    self->state = LOOM_IN_FUTEX;
    self->object = (uintptr_t)word;
    self->timeout = timeout_ns;
    loom_block_self();
    self->fresh = true;
    loom_trace(self->timed_out ? "futex timed out" : "futex woken", 0, word, 0,
               0);
}

void loom_futex_wake(const void *word, uint32_t n)
{
    LOOM_SITE();
    if (!loom_active()) {
        return;
    }
    point();
    loom_trace("futex_wake", 0, word, n, 0);
    wake_some(LOOM_IN_FUTEX, (uintptr_t)word, n);
}

uint64_t loom_clock_ns(void)
{
    return loom != NULL ? ++loom->clock_ns : 0;
}
