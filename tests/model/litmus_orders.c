/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * litmus_orders.c: which values may an atomic load see?
 *
 * The verdicts are those of RC11 (C11 with the repairs of C++20), but for the
 * two cases named "limit", which C11 allows and the simulator cannot produce.
 */
#include "litmus.h"
#include "port/fence.h"

/* ---- store buffering (SB) ------------------------------------------------ */

#define SB(NAME, ORDER_STORE, ORDER_LOAD, BETWEEN_1, BETWEEN_2)                \
    THREAD(NAME##_1)                                                           \
    {                                                                          \
        STORE(x, 1, ORDER_STORE);                                              \
        BETWEEN_1;                                                             \
        r1 = LOAD(y, ORDER_LOAD);                                              \
    }                                                                          \
    THREAD(NAME##_2)                                                           \
    {                                                                          \
        STORE(y, 1, ORDER_STORE);                                              \
        BETWEEN_2;                                                             \
        r2 = LOAD(x, ORDER_LOAD);                                              \
    }                                                                          \
    static void NAME(void)                                                     \
    {                                                                          \
        run(NAME##_1, NAME##_2, NULL, NULL);                                   \
        LOOM_CHECK(r1 == 1 || r2 == 1);                                        \
    }

#define NOTHING (void)0
#define LIGHT wsi_fence_light(wsi_fences_mode())
#define HEAVY wsi_fence_heavy(wsi_fences_mode())

SB(sb_relaxed, RLX, RLX, NOTHING, NOTHING)
SB(sb_release_acquire, REL, ACQ, NOTHING, NOTHING)
SB(sb_seq_cst, SC, SC, NOTHING, NOTHING)
SB(sb_fences, RLX, RLX, FENCE(SC), FENCE(SC))
SB(sb_one_fence, RLX, RLX, FENCE(SC), NOTHING)
SB(sb_acq_rel_fences, RLX, RLX, FENCE(ACQ_REL), FENCE(ACQ_REL))
SB(sb_light_heavy, RLX, RLX, LIGHT, HEAVY)
SB(sb_light_light, RLX, RLX, LIGHT, LIGHT)

/* ---- message passing (MP) ------------------------------------------------ */

#define MP(NAME, ORDER_STORE, ORDER_LOAD, BETWEEN_1, BETWEEN_2)                \
    THREAD(NAME##_1)                                                           \
    {                                                                          \
        STORE(x, 1, RLX);                                                      \
        BETWEEN_1;                                                             \
        STORE(y, 1, ORDER_STORE);                                              \
    }                                                                          \
    THREAD(NAME##_2)                                                           \
    {                                                                          \
        r1 = LOAD(y, ORDER_LOAD);                                              \
        BETWEEN_2;                                                             \
        r2 = LOAD(x, RLX);                                                     \
    }                                                                          \
    static void NAME(void)                                                     \
    {                                                                          \
        run(NAME##_1, NAME##_2, NULL, NULL);                                   \
        LOOM_CHECK(r1 == 0 || r2 == 1);                                        \
    }

MP(mp_relaxed, RLX, RLX, NOTHING, NOTHING)
MP(mp_release_only, REL, RLX, NOTHING, NOTHING)
MP(mp_acquire_only, RLX, ACQ, NOTHING, NOTHING)
MP(mp_release_acquire, REL, ACQ, NOTHING, NOTHING)
MP(mp_fences, RLX, RLX, FENCE(REL), FENCE(ACQ))
MP(mp_release_fence_only, RLX, RLX, FENCE(REL), NOTHING)

/* ---- load buffering (LB), 2+2W, IRIW ------------------------------------- */

THREAD(lb_1)
{
    r1 = LOAD(x, RLX);
    STORE(y, 1, RLX);
}

THREAD(lb_2)
{
    r2 = LOAD(y, RLX);
    STORE(x, 1, RLX);
}

static void lb(void)
{
    run(lb_1, lb_2, NULL, NULL);
    LOOM_CHECK(r1 == 0 || r2 == 0);
}

THREAD(w22_1)
{
    STORE(x, 1, RLX);
    STORE(y, 2, RLX);
}

THREAD(w22_2)
{
    STORE(y, 1, RLX);
    STORE(x, 2, RLX);
}

static void w22(void)
{
    run(w22_1, w22_2, NULL, NULL);
    LOOM_CHECK(LOAD(x, RLX) != 1 || LOAD(y, RLX) != 1);
}

#define IRIW(NAME, ORDER_STORE, ORDER_LOAD, BETWEEN)                           \
    THREAD(NAME##_1)                                                           \
    {                                                                          \
        STORE(x, 1, ORDER_STORE);                                              \
    }                                                                          \
    THREAD(NAME##_2)                                                           \
    {                                                                          \
        STORE(y, 1, ORDER_STORE);                                              \
    }                                                                          \
    THREAD(NAME##_3)                                                           \
    {                                                                          \
        r1 = LOAD(x, ORDER_LOAD);                                              \
        BETWEEN;                                                               \
        r2 = LOAD(y, ORDER_LOAD);                                              \
    }                                                                          \
    THREAD(NAME##_4)                                                           \
    {                                                                          \
        r3 = LOAD(y, ORDER_LOAD);                                              \
        BETWEEN;                                                               \
        r4 = LOAD(x, ORDER_LOAD);                                              \
    }                                                                          \
    static void NAME(void)                                                     \
    {                                                                          \
        run(NAME##_1, NAME##_2, NAME##_3, NAME##_4);                           \
        LOOM_CHECK(!(r1 == 1 && r2 == 0 && r3 == 1 && r4 == 0));               \
    }

IRIW(iriw_acquire, REL, ACQ, NOTHING)
IRIW(iriw_seq_cst, SC, SC, NOTHING)
IRIW(iriw_fences, RLX, RLX, FENCE(SC))

/* ---- coherence ----------------------------------------------------------- */

THREAD(write_1_2)
{
    STORE(x, 1, RLX);
    STORE(x, 2, RLX);
}

THREAD(read_twice)
{
    r1 = LOAD(x, RLX);
    r2 = LOAD(x, RLX);
}

THREAD(read_twice_too)
{
    r3 = LOAD(x, RLX);
    r4 = LOAD(x, RLX);
}

/* One reader goes back in time. */
static void corr(void)
{
    run(write_1_2, read_twice, NULL, NULL);
    LOOM_CHECK(r2 >= r1);
}

THREAD(write_1)
{
    STORE(x, 1, RLX);
}

THREAD(write_2)
{
    STORE(x, 2, RLX);
}

/* Two readers disagree on the order of two writes. */
static void corr2(void)
{
    run(write_1, write_2, read_twice, read_twice_too);
    LOOM_CHECK(!(r1 == 1 && r2 == 2 && r3 == 2 && r4 == 1));
}

static void coww(void)
{
    run(write_1_2, NULL, NULL, NULL);
    LOOM_CHECK(LOAD(x, RLX) == 2);
}

THREAD(write_then_read)
{
    STORE(x, 1, RLX);
    r1 = LOAD(x, RLX);
}

static void cowr(void)
{
    run(write_then_read, NULL, NULL, NULL);
    LOOM_CHECK(r1 == 1);
}

/* Sees only one of two stores: the middle one must be reachable, too. */
static void reads_middle(void)
{
    run(write_1_2, read_twice, NULL, NULL);
    LOOM_CHECK(!(r1 == 0 && r2 == 1));
}

/* ---- read-modify-write --------------------------------------------------- */

THREAD(add_one)
{
    ADD(x, 1, RLX);
}

static void rmw_atomic(void)
{
    run(add_one, add_one, add_one, NULL);
    LOOM_CHECK(LOAD(x, RLX) == 3);
}

THREAD(add_torn)
{
    STORE(x, LOAD(x, RLX) + 1, RLX);
}

static void rmw_torn(void)
{
    run(add_torn, add_torn, NULL, NULL);
    LOOM_CHECK(LOAD(x, RLX) == 2);
}

static bool cas(int *p, int expected, int desired)
{
    return __atomic_compare_exchange_n(p, &expected, desired, false, ACQ_REL,
                                       ACQ);
}

THREAD(cas_1)
{
    r1 = cas(&x, 0, 1);
}

THREAD(cas_2)
{
    r2 = cas(&x, 0, 2);
}

static void cas_one_wins(void)
{
    run(cas_1, cas_2, NULL, NULL);
    LOOM_CHECK(r1 + r2 == 1);
}

THREAD(cas_stale_1)
{
    STORE(x, 1, RLX);
    STORE(y, 1, RLX);
}

THREAD(cas_stale_2)
{
    if (LOAD(y, RLX) == 1) {
        r1 = cas(&x, 1, 2);
    } else {
        r1 = 1;
    }
}

/* A compare-exchange may fail with a stale value. */
static void cas_fails_stale(void)
{
    run(cas_stale_1, cas_stale_2, NULL, NULL);
    LOOM_CHECK(r1 == 1);
}

static uint16_t halves[2];
static uint64_t wide;

THREAD(all_widths)
{
    ADD(bytes[1], 255, RLX);
    __atomic_fetch_or(&halves[1], 0x8001, RLX);
    __atomic_fetch_sub(&wide, 1, RLX);
    __atomic_fetch_and(&wide, UINT64_C(0xF0FFFFFFFFFFFFFF), RLX);
    __atomic_fetch_xor(&halves[0], 3, RLX);
    (void)XCHG(pointer, &x, ACQ_REL);
}

static void widths(void)
{
    run(all_widths, all_widths, NULL, NULL);
    LOOM_CHECK(LOAD(bytes[0], RLX) == 0 && LOAD(bytes[1], RLX) == 254);
    LOOM_CHECK(LOAD(halves[0], RLX) == 0 && LOAD(halves[1], RLX) == 0x8001);
    LOOM_CHECK((LOAD(wide, RLX) | 1) == UINT64_C(0xF0FFFFFFFFFFFFFF));
    LOOM_CHECK(LOAD(pointer, ACQ) == &x);
}

/* ---- release sequences --------------------------------------------------- */

THREAD(sequence_reader)
{
    while (LOAD(y, ACQ) < 2) {
        loom_pause();
    }
    r1 = data;
}

THREAD(sequence_add)
{
    if (LOAD(y, RLX) == 1) {
        ADD(y, 1, RLX);
    }
}

THREAD(sequence_release)
{
    data = 1;
    STORE(y, 1, REL);
}

THREAD(sequence_release_add)
{
    data = 1;
    STORE(y, 1, REL);
    ADD(y, 1, RLX);
}

THREAD(sequence_release_store)
{
    data = 1;
    STORE(y, 1, REL);
    STORE(y, 2, RLX);
}

THREAD(sequence_fence_store)
{
    data = 1;
    FENCE(REL);
    STORE(y, 1, RLX);
    STORE(y, 2, RLX);
}

/* A read-modify-write continues the sequence, ... */
static void sequence_rmw(void)
{
    run(sequence_release_add, sequence_reader, NULL, NULL);
}

/* ... also that of another thread, ... */
static void sequence_rmw_other(void)
{
    data = 0;
    run(sequence_release, sequence_add, NULL, NULL);
    if (LOAD(y, RLX) == 2) {
        run(sequence_reader, NULL, NULL, NULL);
    }
}

/* ... a plain store ends it (C++20), also by the same thread, ... */
static void sequence_store(void)
{
    run(sequence_release_store, sequence_reader, NULL, NULL);
}

/* ... but a release fence covers all stores after it. */
static void sequence_fence(void)
{
    run(sequence_fence_store, sequence_reader, NULL, NULL);
}

/* ---- the list ------------------------------------------------------------ */

const litmus litmus_orders[] = {
    {"SB relaxed", sb_relaxed, FOUND, false},
    {"SB release/acquire", sb_release_acquire, FOUND, false},
    {"SB seq_cst accesses", sb_seq_cst, ABSENT, false},
    {"SB seq_cst fences", sb_fences, ABSENT, false},
    {"SB one fence", sb_one_fence, FOUND, false},
    {"SB acq_rel fences", sb_acq_rel_fences, FOUND, false},
    {"SB light/heavy", sb_light_heavy, ABSENT, false},
    {"SB light/heavy, seqcst mode", sb_light_heavy, ABSENT, true},
    {"SB light/light", sb_light_light, FOUND, false},
    {"SB light/light, seqcst mode", sb_light_light, ABSENT, true},
    {"MP relaxed", mp_relaxed, FOUND, false},
    {"MP release only", mp_release_only, FOUND, false},
    {"MP acquire only", mp_acquire_only, FOUND, false},
    {"MP release/acquire", mp_release_acquire, ABSENT, false},
    {"MP fences", mp_fences, ABSENT, false},
    {"MP release fence only", mp_release_fence_only, FOUND, false},
    {"LB relaxed (limit)", lb, ABSENT, false},
    {"2+2W relaxed (limit)", w22, ABSENT, false},
    {"IRIW acquire", iriw_acquire, FOUND, false},
    {"IRIW seq_cst", iriw_seq_cst, ABSENT, false},
    {"IRIW seq_cst fences", iriw_fences, ABSENT, false},
    {"CoRR", corr, ABSENT, false},
    {"CoRR, two readers", corr2, ABSENT, false},
    {"CoWW", coww, ABSENT, false},
    {"CoWR", cowr, ABSENT, false},
    {"read of the middle store", reads_middle, FOUND, false},
    {"RMW is atomic", rmw_atomic, ABSENT, false},
    {"load + store is not", rmw_torn, FOUND, false},
    {"CAS: one wins", cas_one_wins, ABSENT, false},
    {"CAS may fail stale", cas_fails_stale, FOUND, false},
    {"atomics of all widths", widths, ABSENT, false},
    {"release sequence: RMW", sequence_rmw, ABSENT, false},
    {"release sequence: RMW of another", sequence_rmw_other, ABSENT, false},
    {"release sequence: store", sequence_store, FOUND_AS("data race"), false},
    {"release fence covers stores", sequence_fence, ABSENT, false},
    {NULL, NULL, LOOM_PASS, NULL, false},
};
