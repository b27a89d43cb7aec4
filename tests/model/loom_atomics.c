/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_atomics.c: what the compiler calls for atomic operations and fences
 * under -fsanitize=thread.
 *
 * Atomic operations follow RC11 (C11 as repaired by C++20), operationally:
 *  - a store goes to the end of its location's modification order;
 *  - a load takes any store that is not older than what its thread has seen;
 *  - an acquire load joins the store's message into the thread's view, a
 *    relaxed one into `pending`, which an acquire fence joins later;
 *  - the message of a release store is the thread's view, that of a relaxed
 *    store the view at its last release fence;
 *  - a read-modify-write takes the newest store and passes its message on
 *    (release sequence); a plain store starts a new one;
 *  - seq_cst fences and accesses meet in one global view, in the order in
 *    which they are run.
 *
 * Before each operation lies a scheduling point.  After a release store the
 * next access of any kind is one too (`published`), so that a thread can be
 * overtaken between handing an object over and touching it again.
 */
#include <string.h>

#include "loom_internal.h"

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
           order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

/* Accesses after a release must not be covered by it. */
static void next_epoch(loom_thread *thread)
{
    thread->now.clock[thread - loom->thread]++;
}

/* ---- the operations ------------------------------------------------------ */

/* The thread has read the store with this index. */
static void see(loom_location *location, unsigned store, int order)
{
    loom_thread *self = loom_self();
    const unsigned index = loom_location_index(location);
    self->now.seen[index] = (uint16_t)store;
    if (order == __ATOMIC_SEQ_CST && loom->global.seen[index] < store) {
        loom->global.seen[index] = (uint16_t)store;
    }
    loom_view *learner = acquires(order) ? &self->now : &self->pending;
    loom_view_join(learner, &loom_store_at(location, store)->message);
}

/* The oldest store that a load may take.  Fairness: a thread reads the same
 * stale store a few times at most, then it sees the newest one. */
static unsigned oldest_readable(const loom_location *location, int order)
{
    const unsigned index = loom_location_index(location);
    unsigned oldest = loom_self()->now.seen[index];
    if (oldest < location->oldest) {
        oldest = location->oldest;
    }
    if (order == __ATOMIC_SEQ_CST && oldest < loom->global.seen[index]) {
        oldest = loom->global.seen[index];
    }
    if (loom->options.lag >= 0 && loom->lags >= loom->options.lag) {
        return location->newest;
    }
    if (location->stale[loom->current].reads >= loom->options.stale_reads &&
        location->stale[loom->current].index == oldest) {
        return location->newest;
    }
    return oldest;
}

static void count_stale(loom_location *location, unsigned store)
{
    if (store == location->newest) {
        return;
    }
    if (location->stale[loom->current].index != store) {
        location->stale[loom->current].index = (uint16_t)store;
        location->stale[loom->current].reads = 0;
    }
    location->stale[loom->current].reads++;
    loom->lags++;
}

static uint64_t load(const void *p, unsigned size, int order)
{
    loom_location *location = loom_find(p, size, LOOM_ATOMIC_READ);
    const unsigned newest = location->newest;
    const unsigned oldest = oldest_readable(location, order);
    const unsigned behind = (unsigned)loom_choose((int)(newest - oldest + 1));
    const unsigned store = newest - behind;
    count_stale(location, store);
    see(location, store, order);
    const uint64_t value = loom_store_at(location, store)->value;
    loom_trace("load", order, p, value, behind);
    return value;
}

/* Appends a store; `continued` is the store that a read-modify-write read. */
static void append(loom_location *location, uint64_t value, int order,
                   const loom_store *continued)
{
    loom_thread *self = loom_self();
    const unsigned index = loom_location_index(location);
    const unsigned store = loom_next_store(location);
    loom_store *s = loom_store_at(location, store);
    s->value = value;
    self->now.seen[index] = (uint16_t)store;
    s->message = releases(order) ? self->now : self->fenced;
    s->message.seen[index] = (uint16_t)store;
    if (continued != NULL) {
        loom_view_join(&s->message, &continued->message);
    }
    if (order == __ATOMIC_SEQ_CST) {
        loom->global.seen[index] = (uint16_t)store;
    }
    if (releases(order)) {
        next_epoch(self);
        self->published = true;
    }
}

/* What memory holds is always the newest store. */
static void write_memory(void *p, unsigned size, uint64_t value)
{
    const uint8_t v1 = (uint8_t)value;
    const uint16_t v2 = (uint16_t)value;
    const uint32_t v4 = (uint32_t)value;
    switch (size) {
    case 1:
        memcpy(p, &v1, 1);
        break;
    case 2:
        memcpy(p, &v2, 2);
        break;
    case 4:
        memcpy(p, &v4, 4);
        break;
    default:
        memcpy(p, &value, 8);
        break;
    }
}

static void store(void *p, unsigned size, uint64_t value, int order)
{
    loom_location *location = loom_find(p, size, LOOM_ATOMIC_WRITE);
    append(location, value, order, NULL);
    write_memory(p, size, value);
    loom_trace("store", order, p, value, 0);
}

typedef enum {
    EXCHANGE,
    ADD,
    SUB,
    AND,
    OR,
    XOR,
    NAND
} rmw_kind;

static const char *const rmw_names[] = {
    "exchange", "fetch_add", "fetch_sub",  "fetch_and",
    "fetch_or", "fetch_xor", "fetch_nand",
};

static uint64_t rmw_result(rmw_kind kind, uint64_t old, uint64_t operand)
{
    switch (kind) {
    case EXCHANGE:
        return operand;
    case ADD:
        return old + operand;
    case SUB:
        return old - operand;
    case AND:
        return old & operand;
    case OR:
        return old | operand;
    case XOR:
        return old ^ operand;
    case NAND:
        return ~(old & operand);
    }
    return 0;
}

static uint64_t truncated(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & ((UINT64_C(1) << (8 * size)) - 1);
}

static uint64_t rmw(void *p, unsigned size, rmw_kind kind, uint64_t operand,
                    int order)
{
    loom_location *location = loom_find(p, size, LOOM_ATOMIC_WRITE);
    const unsigned newest = location->newest;
    const loom_store *old = loom_store_at(location, newest);
    see(location, newest, order);
    const uint64_t value =
        truncated(rmw_result(kind, old->value, operand), size);
    append(location, value, order, old);
    write_memory(p, size, value);
    loom_trace(rmw_names[kind], order, p, value, 0);
    return old->value;
}

/* A compare-exchange that fails is a load: it may take a stale store whose
 * value differs.  One that succeeds takes the newest.  Never fails for no
 * reason, also not the weak form. */
static bool compare_exchange(void *p, unsigned size, uint64_t *expected,
                             uint64_t desired, int order, int failure_order)
{
    loom_location *location = loom_find(p, size, LOOM_ATOMIC_READ);
    const unsigned newest = location->newest;
    const unsigned oldest = oldest_readable(location, failure_order);
    int candidates = 1;
    for (unsigned i = oldest; i < newest; i++) {
        candidates += loom_store_at(location, i)->value != *expected;
    }
    int choice = loom_choose(candidates);
    unsigned taken = newest;
    while (choice > 0) {
        taken--;
        choice -= loom_store_at(location, taken)->value != *expected;
    }
    const loom_store *old = loom_store_at(location, taken);
    if (old->value == *expected) {
        loom_find(p, size, LOOM_ATOMIC_WRITE); /* for the race check */
        see(location, newest, order);
        append(location, desired, order, old);
        write_memory(p, size, desired);
        loom_trace("cas", order, p, desired, 0);
        return true;
    }
    count_stale(location, taken);
    see(location, taken, failure_order);
    loom_trace("cas failed", failure_order, p, old->value, newest - taken);
    *expected = old->value;
    return false;
}

/* ---- fences -------------------------------------------------------------- */

/* Views only: a fence by itself makes no happens-before for plain data. */
static void fence_seq_cst(loom_thread *thread)
{
    loom_view_join(&thread->now, &thread->pending);
    loom_seen_join(&thread->now, &loom->global);
    loom_seen_join(&loom->global, &thread->now);
    thread->fenced = thread->now;
    next_epoch(thread);
}

static void fence(int order)
{
    loom_thread *self = loom_self();
    if (order == __ATOMIC_SEQ_CST) {
        loom_point();
        fence_seq_cst(self);
    } else {
        if (acquires(order)) {
            loom_view_join(&self->now, &self->pending);
        }
        if (releases(order)) {
            self->fenced = self->now;
            next_epoch(self);
        }
    }
    loom_trace("fence", order, NULL, 0, 0);
}

void loom_membarrier(void)
{
    LOOM_SITE();
    if (!loom_active()) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        return;
    }
    loom_point();
    fence_seq_cst(loom_self());
    for (int i = 0; i < loom->threads; i++) {
        if (i != loom->current) {
            fence_seq_cst(&loom->thread[i]); /* one that ended counts, too */
        }
    }
    fence_seq_cst(loom_self());
    loom_trace("membarrier", __ATOMIC_SEQ_CST, NULL, 0, 0);
}

void loom_fence_seq_cst(void)
{
    LOOM_SITE();
    if (loom_active()) {
        fence(__ATOMIC_SEQ_CST);
    } else {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

void __tsan_atomic_thread_fence(int order)
{
    LOOM_SITE();
    if (loom_active()) {
        fence(order & 0x7fff);
    } else {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order; /* orders nothing between threads */
}

/* ---- entry points: atomics ----------------------------------------------- */

static void enter(const void *p, bool write, int order)
{
    const uintptr_t site = loom->site;
    if (loom_note_access(p, write, order)) {
        loom_point_private();
    } else {
        loom_point();
    }
    loom->site = site;
}

/* Outside of a run the program has one thread: the real operations serve.  The
 * upper bits of an order are hints of gcc. */
#define ENTER(WRITE)                                                           \
    do {                                                                       \
        LOOM_SITE();                                                           \
        order &= 0x7fff;                                                       \
        if (loom_active()) {                                                   \
            enter(p, WRITE, order);                                            \
        }                                                                      \
    } while (0)

#define DEFINE_RMW(BITS, TYPE, NAME, KIND, REAL)                               \
    TYPE __tsan_atomic##BITS##_##NAME(TYPE *p, TYPE operand, int order)        \
    {                                                                          \
        ENTER(true);                                                           \
        if (!loom_active()) {                                                  \
            return REAL(p, operand, __ATOMIC_SEQ_CST);                         \
        }                                                                      \
        return (TYPE)rmw(p, sizeof *p, KIND, operand, order);                  \
    }

#define DEFINE_ATOMICS(BITS, TYPE)                                             \
    TYPE __tsan_atomic##BITS##_load(const TYPE *p, int order)                  \
    {                                                                          \
        ENTER(false);                                                          \
        if (!loom_active()) {                                                  \
            return *p;                                                         \
        }                                                                      \
        return (TYPE)load(p, sizeof *p, order);                                \
    }                                                                          \
    void __tsan_atomic##BITS##_store(TYPE *p, TYPE value, int order)           \
    {                                                                          \
        ENTER(true);                                                           \
        if (!loom_active()) {                                                  \
            *p = value;                                                        \
            return;                                                            \
        }                                                                      \
        store(p, sizeof *p, value, order);                                     \
    }                                                                          \
    DEFINE_RMW(BITS, TYPE, exchange, EXCHANGE, __atomic_exchange_n)            \
    DEFINE_RMW(BITS, TYPE, fetch_add, ADD, __atomic_fetch_add)                 \
    DEFINE_RMW(BITS, TYPE, fetch_sub, SUB, __atomic_fetch_sub)                 \
    DEFINE_RMW(BITS, TYPE, fetch_and, AND, __atomic_fetch_and)                 \
    DEFINE_RMW(BITS, TYPE, fetch_or, OR, __atomic_fetch_or)                    \
    DEFINE_RMW(BITS, TYPE, fetch_xor, XOR, __atomic_fetch_xor)                 \
    DEFINE_RMW(BITS, TYPE, fetch_nand, NAND, __atomic_fetch_nand)              \
    int __tsan_atomic##BITS##_compare_exchange_strong(                         \
        TYPE *p, TYPE *expected, TYPE desired, int order, int failure)         \
    {                                                                          \
        ENTER(true);                                                           \
        if (!loom_active()) {                                                  \
            return __atomic_compare_exchange_n(p, expected, desired, false,    \
                                               __ATOMIC_SEQ_CST,               \
                                               __ATOMIC_SEQ_CST);              \
        }                                                                      \
        uint64_t value = *expected;                                            \
        const bool done = compare_exchange(p, sizeof *p, &value, desired,      \
                                           order, failure & 0x7fff);           \
        *expected = (TYPE)value;                                               \
        return done;                                                           \
    }                                                                          \
    int __tsan_atomic##BITS##_compare_exchange_weak(                           \
        TYPE *p, TYPE *expected, TYPE desired, int order, int failure)         \
    {                                                                          \
        ENTER(true);                                                           \
        if (!loom_active()) {                                                  \
            return __atomic_compare_exchange_n(p, expected, desired, false,    \
                                               __ATOMIC_SEQ_CST,               \
                                               __ATOMIC_SEQ_CST);              \
        }                                                                      \
        uint64_t value = *expected;                                            \
        const bool done = compare_exchange(p, sizeof *p, &value, desired,      \
                                           order, failure & 0x7fff);           \
        *expected = (TYPE)value;                                               \
        return done;                                                           \
    }                                                                          \
    TYPE __tsan_atomic##BITS##_compare_exchange_val(                           \
        TYPE *p, TYPE expected, TYPE desired, int order, int failure)          \
    {                                                                          \
        ENTER(true);                                                           \
        uint64_t value = expected;                                             \
        if (!loom_active()) {                                                  \
            __atomic_compare_exchange_n(p, &expected, desired, false,          \
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
            return expected;                                                   \
        }                                                                      \
        compare_exchange(p, sizeof *p, &value, desired, order,                 \
                         failure & 0x7fff);                                    \
        return (TYPE)value;                                                    \
    }

DEFINE_ATOMICS(8, uint8_t)
DEFINE_ATOMICS(16, uint16_t)
DEFINE_ATOMICS(32, uint32_t)
DEFINE_ATOMICS(64, uint64_t)
