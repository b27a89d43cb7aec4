/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * litmus_faults.c: races, dead memory, deadlocks, livelocks, limits: what the
 * checker reports by itself, and what it must not report.
 */
#include <assert.h>
#include <stdlib.h>

#include "litmus.h"
#include "port/platform.h"

/* ---- data races ---------------------------------------------------------- */

THREAD(plain_write)
{
    data = 1;
}

THREAD(plain_read)
{
    r1 = data;
}

static void race_write_write(void)
{
    run(plain_write, plain_write, NULL, NULL);
}

static void race_write_read(void)
{
    run(plain_write, plain_read, NULL, NULL);
}

THREAD(atomic_write)
{
    STORE(data, 1, SC);
}

static void race_atomic_plain(void)
{
    run(atomic_write, plain_read, NULL, NULL);
}

THREAD(atomic_read)
{
    r2 = LOAD(data, SC);
}

static void race_plain_atomic(void)
{
    run(plain_write, atomic_read, NULL, NULL);
}

static void no_race_reads(void)
{
    run(plain_read, atomic_read, NULL, NULL);
}

THREAD(byte_0)
{
    bytes[0] = 1;
}

THREAD(byte_1)
{
    bytes[1] = 1;
    r1 = bytes[1];
}

static void no_race_neighbours(void)
{
    run(byte_0, byte_1, NULL, NULL);
    LOOM_CHECK(bytes[0] == 1 && bytes[1] == 1);
}

THREAD(word_of_bytes)
{
    static const uint8_t ones[4] = {1, 1, 1, 1};
    loom_memcpy(bytes, ones, sizeof ones);
}

static void race_part(void)
{
    run(byte_1, word_of_bytes, NULL, NULL);
}

/* A seq_cst fence in both threads, but nothing is handed over. */
THREAD(fence_then_write)
{
    FENCE(SC);
    data = 1;
    FENCE(SC);
}

static void race_with_fences(void)
{
    run(fence_then_write, fence_then_write, NULL, NULL);
}

THREAD(membarrier_then_write)
{
    loom_membarrier();
    data = 1;
}

static void race_with_membarrier(void)
{
    run(plain_write, membarrier_then_write, NULL, NULL);
}

/* ---- memory -------------------------------------------------------------- */

static int *heap;

THREAD(use_heap)
{
    ADD(heap[0], 1, RLX);
}

THREAD(free_heap)
{
    free(heap);
}

static void use_after_free(void)
{
    heap = calloc(1, sizeof *heap);
    run(use_heap, free_heap, NULL, NULL);
}

static void double_free(void)
{
    heap = calloc(1, sizeof *heap);
    run(free_heap, free_heap, NULL, NULL);
}

static void use_then_free(void)
{
    heap = wsi_mem_alloc(64, sizeof *heap);
    LOOM_CHECK((uintptr_t)heap % 64 == 0 && heap[0] == 0);
    run(use_heap, use_heap, NULL, NULL);
    LOOM_CHECK(heap[0] == 2);
    wsi_mem_free(heap);
}

static void heap_overrun(void)
{
    heap = malloc(3 * sizeof *heap);
    heap[3] = 1;
}

THREAD(frame_user)
{
    int *p = LOAD(pointer, ACQ);
    if (p != NULL) {
        ADD(*p, 1, RLX);
    }
}

__attribute__((noinline)) static void frame_owner_inner(void)
{
    int local = 0;
    STORE(pointer, &local, REL);
}

THREAD(frame_owner)
{
    frame_owner_inner();
    STORE(x, 1, RLX);
}

static void dead_frame(void)
{
    run(frame_owner, frame_user, NULL, NULL);
}

/* ---- blocking ------------------------------------------------------------ */

static wsi_atomic_u32 word;

/* With the comparison in the kernel, no wake-up is lost. */
THREAD(futex_waiter)
{
    while (wsi_u32_load_acquire(&word) == 0) {
        wsi_futex_wait(&word, 0, UINT64_MAX);
    }
    LOOM_CHECK(data == 1);
}

THREAD(futex_waker)
{
    data = 1;
    wsi_u32_store_release(&word, 1);
    wsi_futex_wake(&word, UINT32_MAX);
}

static void futex_right(void)
{
    run(futex_waiter, futex_waiter, futex_waker, NULL);
}

/* Waits for a value that it has not checked: the wake may be over. */
THREAD(futex_waiter_blind)
{
    const uint32_t seen = wsi_u32_load_acquire(&word);
    if (LOAD(x, RLX) == 0) {
        wsi_futex_wait(&word, seen, UINT64_MAX);
    }
}

THREAD(futex_waker_blind)
{
    STORE(x, 1, RLX);
    wsi_futex_wake(&word, 1);
}

static void futex_lost(void)
{
    run(futex_waiter_blind, futex_waker_blind, NULL, NULL);
}

THREAD(futex_waker_one)
{
    data = 1;
    wsi_u32_store_release(&word, 1);
    wsi_futex_wake(&word, 1);
}

static void futex_too_few_wakes(void)
{
    run(futex_waiter, futex_waiter, futex_waker_one, NULL);
}

THREAD(futex_napper)
{
    while (wsi_u32_load_acquire(&word) == 0) {
        wsi_futex_wait(&word, 0, 1000000);
    }
}

THREAD(futex_no_wake)
{
    wsi_u32_store_release(&word, 1);
}

static void futex_timeout(void)
{
    run(futex_napper, futex_no_wake, NULL, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

THREAD(mutex_adder)
{
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
}

static void mutex_right(void)
{
    run(mutex_adder, mutex_adder, mutex_adder, NULL);
    LOOM_CHECK(data == 3);
}

THREAD(mutex_12)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex2);
    pthread_mutex_unlock(&mutex2);
    pthread_mutex_unlock(&mutex);
}

THREAD(mutex_21)
{
    pthread_mutex_lock(&mutex2);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex2);
}

static void mutex_deadlock(void)
{
    run(mutex_12, mutex_21, NULL, NULL);
}

THREAD(cond_waiter)
{
    pthread_mutex_lock(&mutex);
    while (data == 0) {
        pthread_cond_wait(&cond, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

THREAD(cond_setter)
{
    pthread_mutex_lock(&mutex);
    data = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&cond);
}

static void cond_right(void)
{
    run(cond_waiter, cond_setter, NULL, NULL);
}

static void cond_too_few_signals(void)
{
    run(cond_waiter, cond_waiter, cond_setter, NULL);
}

/* ---- loops, state, searches ---------------------------------------------- */

THREAD(write_1)
{
    STORE(x, 1, RLX);
}

THREAD(read_once)
{
    r1 = LOAD(x, RLX);
}

THREAD(spin_two)
{
    while (LOAD(x, RLX) == 0 || LOAD(y, RLX) == 0) {
        loom_pause();
    }
}

THREAD(set_both)
{
    STORE(x, 1, RLX);
    STORE(y, 1, RLX);
}

static void spin_ends(void)
{
    run(spin_two, spin_two, set_both, NULL);
}

static void spin_forever(void)
{
    run(spin_two, write_1, NULL, NULL);
}

static int counter = 5;
static _Thread_local int local = 7;

THREAD(touch_locals)
{
    LOOM_CHECK(local == 7);
    local = 8;
    ADD(counter, 1, RLX);
    LOOM_CHECK(local == 8);
    local++;
}

static void state_is_reset(void)
{
    LOOM_CHECK(counter == 5 && local == 7);
    local = 9;
    run(touch_locals, touch_locals, NULL, NULL);
    LOOM_CHECK(counter == 7 && local == 9);
}

/* A long single-threaded part must not run into the limits. */
static void long_setup(void)
{
    for (int i = 0; i < 1000; i++) {
        ADD(x, 1, RLX);
        STORE(y, i, REL);
    }
    run(read_once, NULL, NULL, NULL);
    LOOM_CHECK(r1 == 1000);
}

THREAD(many_stores)
{
    for (int i = 0; i < 200; i++) {
        STORE(x, i, RLX);
    }
}

THREAD(wait_for_y)
{
    while (LOAD(y, ACQ) == 0) {
        loom_pause();
    }
}

/* More visible stores than the history holds: never a pass. */
static void limit_history(void)
{
    run(many_stores, wait_for_y, NULL, NULL);
}

static void assert_is_caught(void)
{
    run(write_1, read_once, NULL, NULL);
    assert(r1 == 0);
}

/* ---- the list ------------------------------------------------------------ */

const litmus litmus_faults[] = {
    {"race: write, write", race_write_write,
     FOUND_AS("plain write, plain write"), false},
    {"race: write, read", race_write_read, FOUND_AS("data race"), false},
    {"race: atomic write, read", race_atomic_plain, FOUND_AS("data race"),
     false},
    {"race: write, atomic read", race_plain_atomic, FOUND_AS("data race"),
     false},
    {"race: byte in word", race_part, FOUND_AS("data race"), false},
    {"race: fences hand over nothing", race_with_fences, FOUND_AS("data race"),
     false},
    {"race: membarrier does not either", race_with_membarrier,
     FOUND_AS("data race"), false},
    {"no race: reads", no_race_reads, ABSENT, false},
    {"no race: neighbours", no_race_neighbours, ABSENT, false},
    {"use after free", use_after_free, LOOM_FOUND, NULL, false},
    {"double free", double_free, FOUND_AS("double free"), false},
    {"free after join", use_then_free, ABSENT, false},
    {"heap overrun", heap_overrun, FOUND_AS("outside of an allocated"), false},
    {"dead stack frame", dead_frame, FOUND_AS("dead stack frame"), false},
    {"futex", futex_right, ABSENT, false},
    {"futex: lost wake-up", futex_lost, FOUND_AS("deadlock"), false},
    {"futex: too few wakes", futex_too_few_wakes, FOUND_AS("deadlock"), false},
    {"futex: time-out", futex_timeout, ABSENT, false},
    {"mutex", mutex_right, ABSENT, false},
    {"mutex: deadlock", mutex_deadlock, FOUND_AS("deadlock"), false},
    {"cond", cond_right, ABSENT, false},
    {"cond: too few signals", cond_too_few_signals, FOUND_AS("deadlock"),
     false},
    {"spin loop over two words", spin_ends, ABSENT, false},
    {"spin loop for ever", spin_forever, FOUND_AS("livelock"), false},
    {"state is reset", state_is_reset, ABSENT, false},
    {"long set-up", long_setup, ABSENT, false},
    {"limit is an error", limit_history, LOOM_ERROR, NULL, false},
    {"assert", assert_is_caught, FOUND_AS("assertion failed"), false},
    {NULL, NULL, LOOM_PASS, NULL, false},
};
