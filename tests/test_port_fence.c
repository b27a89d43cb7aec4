/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_fence.c: the choice of the fences, and that they work.
 *
 * The choice is made once per process, so each case about it runs in a forked
 * child; this process asks for the mode in one case only.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "port/fence.h"
#include "port/platform.h"

/* ---- the choice ------------------------------------------------------ */

static unsigned available_calls;

static bool fake_available(void)
{
    available_calls++;
    return true;
}

static bool fake_unavailable(void)
{
    available_calls++;
    return false;
}

/* The exit status of a child says which of its checks failed. */
#define CHILD_REQUIRE(condition)                                               \
    do {                                                                       \
        if (!(condition)) {                                                    \
            return __LINE__ % 255 + 1;                                         \
        }                                                                      \
    } while (0)

static void assert_passes_in_child(int (*body)(void))
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(body());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int child_available(void)
{
    unsetenv("WSTEAL_FENCES");
    wsi_port_ops.membarrier_available = fake_available;
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_ASYMMETRIC);
    /* Later changes of any kind do not matter. */
    wsi_port_ops.membarrier_available = fake_unavailable;
    setenv("WSTEAL_FENCES", "seqcst", 1);
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_ASYMMETRIC);
    CHILD_REQUIRE(available_calls == 1);
    return 0;
}

static int child_unavailable(void)
{
    unsetenv("WSTEAL_FENCES");
    wsi_port_ops.membarrier_available = fake_unavailable;
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_SEQCST);
    wsi_port_ops.membarrier_available = fake_available;
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_SEQCST);
    CHILD_REQUIRE(available_calls == 1);
    return 0;
}

static int child_forced(void)
{
    setenv("WSTEAL_FENCES", "seqcst", 1);
    wsi_port_ops.membarrier_available = fake_available;
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_SEQCST);
    CHILD_REQUIRE(available_calls == 0);
    return 0;
}

static int child_other_value(void)
{
    setenv("WSTEAL_FENCES", "seqcst ", 1);
    wsi_port_ops.membarrier_available = fake_available;
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_ASYMMETRIC);
    return 0;
}

static int child_other_value_unavailable(void)
{
    setenv("WSTEAL_FENCES", "asymmetric", 1);
    wsi_port_ops.membarrier_available = fake_unavailable;
    CHILD_REQUIRE(wsi_fences_mode() == WSI_FENCES_SEQCST);
    return 0;
}

static int child_real_machine(void)
{
    unsetenv("WSTEAL_FENCES");
    const bool available = wsi_membarrier_available();
    CHILD_REQUIRE((wsi_fences_mode() == WSI_FENCES_ASYMMETRIC) == available);
    CHILD_REQUIRE(wsi_fence_heavy(wsi_fences_mode()));
    return 0;
}

static void mode_is_asymmetric_where_membarrier_works(void **state)
{
    (void)state;
    assert_passes_in_child(child_available);
}

static void mode_is_seqcst_without_membarrier(void **state)
{
    (void)state;
    assert_passes_in_child(child_unavailable);
}

static void environment_forces_seqcst(void **state)
{
    (void)state;
    assert_passes_in_child(child_forced);
}

static void other_values_leave_it_to_the_machine(void **state)
{
    (void)state;
    assert_passes_in_child(child_other_value);
    assert_passes_in_child(child_other_value_unavailable);
}

static void mode_follows_the_real_machine(void **state)
{
    (void)state;
    assert_passes_in_child(child_real_machine);
}

#define ASKERS 4

static wsi_atomic_u32 asked;
static wsi_fences answers[ASKERS];

/* Answers when all ask, and yes to every other one: the worst machine there
 * can be. */
static bool fickle_available(void)
{
    /* relaxed, both: only the numbers count */
    const uint32_t place = wsi_u32_fetch_add_relaxed(&asked, 1);
    while (wsi_u32_load_relaxed(&asked) < ASKERS) {
        wsi_thread_yield();
    }
    return place % 2 == 0;
}

static void *ask(void *arg)
{
    wsi_fences *answer = arg;
    *answer = wsi_fences_mode();
    return NULL;
}

static void simultaneous_first_calls_agree(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_port_ops.membarrier_available = fickle_available;
    wsi_thread threads[ASKERS];
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(
            wsi_thread_start(&threads[i], 0, NULL, ask, &answers[i]), 0);
    }
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(wsi_thread_join(threads[i]), 0);
    }
    wsi_port_ops = saved;
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(answers[i], answers[0]);
        assert_int_equal(answers[i], wsi_fences_mode());
    }
}

/* ---- the heavy side -------------------------------------------------- */

static unsigned membarrier_calls;
static bool membarrier_answer;

static bool fake_membarrier(void)
{
    membarrier_calls++;
    return membarrier_answer;
}

static void refused_heavy_fence_is_reported(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_port_ops.membarrier = fake_membarrier;
    membarrier_calls = 0;
    membarrier_answer = false;
    const bool refused = wsi_fence_heavy(WSI_FENCES_ASYMMETRIC);
    membarrier_answer = true;
    const bool done = wsi_fence_heavy(WSI_FENCES_ASYMMETRIC);
    wsi_port_ops = saved;
    assert_false(refused);
    assert_true(done);
    assert_int_equal(membarrier_calls, 2);
}

static void seqcst_heavy_fence_cannot_be_refused(void **state)
{
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    wsi_port_ops.membarrier = fake_membarrier;
    membarrier_calls = 0;
    membarrier_answer = false;
    const bool done = wsi_fence_heavy(WSI_FENCES_SEQCST);
    wsi_port_ops = saved;
    assert_true(done);
    assert_int_equal(membarrier_calls, 0);
}

/* ---- both sides together --------------------------------------------- */

/* Store buffering: each thread stores its word, fences, loads the other's.
 * Both loads missing the other's store is what the fences forbid. */
typedef struct {
    wsi_atomic_u32 round;
    char pad1[WSI_CACHE_LINE];
    wsi_atomic_u32 word;
    char pad2[WSI_CACHE_LINE];
} side;

typedef struct {
    side light;
    side heavy;
    wsi_fences mode;
    uint32_t rounds;
    unsigned char *light_missed; /* per round: loaded an old value */
    unsigned char *heavy_missed;
} litmus;

static void meet(side *own, const side *other, uint32_t round)
{
    /* release: pairs with the acquire below; the other side has finished its
     * last round before this one starts */
    wsi_u32_store_release(&own->round, round);
    for (unsigned spins = 0;; spins++) {
        /* acquire: pairs with the release above, in the other thread */
        if (wsi_u32_load_acquire(&other->round) >= round) {
            break;
        }
        if (spins % 256 == 255) {
            wsi_thread_yield();
        }
    }
}

static void *light_side(void *arg)
{
    litmus *l = arg;
    for (uint32_t r = 1; r <= l->rounds; r++) {
        meet(&l->light, &l->heavy, r);
        /* relaxed, both: the fence is what is tested */
        wsi_u32_store_relaxed(&l->light.word, r);
        wsi_fence_light(l->mode);
        l->light_missed[r] = wsi_u32_load_relaxed(&l->heavy.word) < r;
    }
    return NULL;
}

static void *heavy_side(void *arg)
{
    litmus *l = arg;
    for (uint32_t r = 1; r <= l->rounds; r++) {
        meet(&l->heavy, &l->light, r);
        /* relaxed, both: the fence is what is tested */
        wsi_u32_store_relaxed(&l->heavy.word, r);
        WS_TEST_REQUIRE(wsi_fence_heavy(l->mode));
        l->heavy_missed[r] = wsi_u32_load_relaxed(&l->light.word) < r;
    }
    return NULL;
}

static void run_litmus(wsi_fences mode, size_t rounds)
{
    litmus *l = wsi_mem_alloc(WSI_CACHE_LINE, sizeof(*l));
    assert_non_null(l);
    l->mode = mode;
    l->rounds = (uint32_t)rounds;
    l->light_missed = wsi_mem_alloc(WSI_CACHE_LINE, rounds + 1);
    l->heavy_missed = wsi_mem_alloc(WSI_CACHE_LINE, rounds + 1);
    assert_non_null(l->light_missed);
    assert_non_null(l->heavy_missed);
    wsi_thread threads[2];
    assert_int_equal(wsi_thread_start(&threads[0], 0, NULL, light_side, l), 0);
    assert_int_equal(wsi_thread_start(&threads[1], 0, NULL, heavy_side, l), 0);
    assert_int_equal(wsi_thread_join(threads[0]), 0);
    assert_int_equal(wsi_thread_join(threads[1]), 0);
    size_t both = 0;
    for (size_t r = 1; r <= rounds; r++) {
        both += l->light_missed[r] != 0 && l->heavy_missed[r] != 0;
    }
    wsi_mem_free(l->heavy_missed);
    wsi_mem_free(l->light_missed);
    wsi_mem_free(l);
    assert_int_equal(both, 0);
}

static void seqcst_fences_order_store_and_load(void **state)
{
    (void)state;
    run_litmus(WSI_FENCES_SEQCST, ws_test_scale(100000));
}

static void asymmetric_fences_order_store_and_load(void **state)
{
    (void)state;
    if (!wsi_membarrier_available()) {
        skip();
    }
    run_litmus(WSI_FENCES_ASYMMETRIC, ws_test_scale(100000));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(mode_is_asymmetric_where_membarrier_works),
    cmocka_unit_test(mode_is_seqcst_without_membarrier),
    cmocka_unit_test(environment_forces_seqcst),
    cmocka_unit_test(other_values_leave_it_to_the_machine),
    cmocka_unit_test(mode_follows_the_real_machine),
    cmocka_unit_test(refused_heavy_fence_is_reported),
    cmocka_unit_test(seqcst_heavy_fence_cannot_be_refused),
    cmocka_unit_test(seqcst_fences_order_store_and_load),
    cmocka_unit_test(asymmetric_fences_order_store_and_load),
    /* last: the only case that fixes the mode of this process */
    cmocka_unit_test(simultaneous_first_calls_agree),
};
WS_TEST_MAIN(tests)
