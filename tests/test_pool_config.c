/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_pool_config.c: ws_pool_create's config of another size, every field out
 * of its range, and WSTEAL_NUM_THREADS: each bad input has its code and
 * changes nothing.
 */
#define _GNU_SOURCE 1

#include "support/pools.h"

#include <errno.h>
#include <limits.h>

/* ---- what is refused changes nothing --------------------------------- */

static test_counter creations;
static test_counter allocations;

static int create_counted(pthread_t *out, const pthread_attr_t *attr,
                          wsi_thread_fn fn, void *arg)
{
    test_add(&creations, 1);
    return pthread_create(out, attr, fn, arg);
}

static void *alloc_counted(size_t align, size_t size)
{
    test_add(&allocations, 1);
    return wsi_mem_alloc_real(align, size);
}

static void count_everything(void)
{
    wsi_port_ops.thread_create = create_counted;
    wsi_port_ops.mem_alloc = alloc_counted;
}

static void assert_refused(const ws_pool_config *config, int code)
{
    ws_pool *const before = (ws_pool *)(void *)&creations;
    ws_pool *pool = before;
    test_set(&creations, 0);
    test_set(&allocations, 0);
    assert_int_equal(ws_pool_create(&pool, config), code);
    assert_ptr_equal(pool, before);
    assert_int_equal(test_get(&creations), 0);
    assert_int_equal(test_get(&allocations), 0);
}

static int get_seven(void *arg)
{
    (void)arg;
    return 7;
}

static void assert_accepted(const ws_pool_config *config, unsigned workers)
{
    ws_pool *pool = test_pool_with(config);
    assert_int_equal(ws_pool_num_workers(pool), workers);
    assert_int_equal(ws_pool_install(pool, get_seven, NULL), 7);
    test_destroy(pool);
}

static unsigned three_cpus(void)
{
    return 3;
}

/* ---- the size of the struct ------------------------------------------ */

static void no_config_means_defaults(void **state)
{
    (void)state;
    wsi_port_ops.cpu_count = three_cpus;
    assert_accepted(NULL, 3);
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    assert_accepted(&config, 3);
}

/* An older program knows fewer fields: what it does not know is default,
 * whatever stands behind its struct. */
static void smaller_config_is_accepted(void **state)
{
    static const size_t sizes[] = {
        offsetof(ws_pool_config, wait_policy),
        offsetof(ws_pool_config, stack_size),
        offsetof(ws_pool_config, name),
        offsetof(ws_pool_config, search_us),
        offsetof(ws_pool_config, fairness_interval),
        offsetof(ws_pool_config, deque_capacity),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        union {
            ws_pool_config config;
            unsigned char bytes[sizeof(ws_pool_config)];
        } old = {.config = WS_POOL_CONFIG_INIT};
        old.config.struct_size = sizes[i];
        old.config.num_threads = 2;
        memset(old.bytes + sizes[i], 0xFF, sizeof(old.bytes) - sizes[i]);
        assert_accepted(&old.config, 2);
    }
}

static void config_without_a_size_is_refused(void **state)
{
    (void)state;
    count_everything();
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    config.num_threads = 2;
    for (size_t size = 0; size < offsetof(ws_pool_config, wait_policy);
         size++) {
        config.struct_size = size;
        assert_refused(&config, WS_EINVAL);
    }
}

/* A newer program may know more, as long as it does not use it. */
static void larger_config_must_end_in_zeros(void **state)
{
    typedef union {
        ws_pool_config config;
        unsigned char bytes[sizeof(ws_pool_config) + 24];
    } newer;
    (void)state;
    count_everything();
    newer config;
    memset(&config, 0, sizeof(config));
    config.config = (ws_pool_config)WS_POOL_CONFIG_INIT;
    config.config.struct_size = sizeof(config);
    config.config.num_threads = 2;
    assert_accepted(&config.config, 2);
    for (size_t i = sizeof(ws_pool_config); i < sizeof(config); i++) {
        newer bad = config;
        bad.bytes[i] = 1;
        assert_refused(&bad.config, WS_EINVAL);
    }
}

/* ---- fields ---------------------------------------------------------- */

static void field_out_of_range_is_refused(void **state)
{
    (void)state;
    count_everything();
#define BAD(field, value)                                                      \
    do {                                                                       \
        ws_pool_config config = WS_POOL_CONFIG_INIT;                           \
        config.num_threads = 2;                                                \
        config.field = value;                                                  \
        assert_refused(&config, WS_EINVAL);                                    \
    } while (0)
    BAD(num_threads, WS_MAX_WORKERS + 1);
    BAD(num_threads, UINT_MAX);
    BAD(wait_policy, WS_WAIT_SUBTREE + 1);
    BAD(wait_policy, UINT_MAX);
    BAD(stack_size, 1);
    BAD(stack_size, WS_MIN_STACK_SIZE - 1);
    BAD(stack_size, WS_MAX_STACK_SIZE + 1);
    BAD(stack_size, SIZE_MAX / 2 + 1);
    BAD(stack_size, SIZE_MAX);
    BAD(search_us, 1000 * 1000 + 1);
    BAD(search_us, UINT_MAX);
    BAD(deque_capacity, ((size_t)1 << 30) + 1);
    BAD(deque_capacity, SIZE_MAX);
#undef BAD
}

static void field_at_its_limit_is_accepted(void **state)
{
    (void)state;
#define GOOD(field, value)                                                     \
    do {                                                                       \
        ws_pool_config config = WS_POOL_CONFIG_INIT;                           \
        config.num_threads = 2;                                                \
        config.field = value;                                                  \
        assert_accepted(&config, 2);                                           \
    } while (0)
    GOOD(wait_policy, WS_WAIT_DEFAULT);
    GOOD(wait_policy, WS_WAIT_ANY);
    GOOD(wait_policy, WS_WAIT_SUBTREE);
    GOOD(stack_size, WS_MIN_STACK_SIZE);
    GOOD(stack_size, WS_MIN_STACK_SIZE + 1);
    GOOD(search_us, 1);
    GOOD(search_us, 1000 * 1000);
    GOOD(fairness_interval, 1);
    GOOD(fairness_interval, UINT_MAX);
    GOOD(deque_capacity, 1);
    GOOD(deque_capacity, 3);
    GOOD(deque_capacity, 1000);
    GOOD(name, "");
#undef GOOD
}

/* In range, and yet more than most machines map. */
static void enormous_stack_is_refused_or_works(void **state)
{
    (void)state;
    ws_pool_config config = WS_POOL_CONFIG_INIT;
    ws_pool *pool = NULL;
    config.num_threads = 2;
    config.stack_size = WS_MAX_STACK_SIZE;
    int code = ws_pool_create(&pool, &config);
    if (code == WS_OK) {
        test_destroy(pool);
    } else {
        assert_int_equal(code, WS_ETHREADS);
        assert_null(pool);
    }
}

/* ---- WSTEAL_NUM_THREADS ---------------------------------------------- */

static void set_threads(const char *value)
{
    if (value != NULL) {
        assert_int_equal(setenv("WSTEAL_NUM_THREADS", value, 1), 0);
    } else {
        assert_int_equal(unsetenv("WSTEAL_NUM_THREADS"), 0);
    }
}

static void environment_sets_the_number(void **state)
{
    static const struct {
        const char *value;
        unsigned workers;
    } cases[] = {{NULL, 3}, {"", 3}, {"0", 3}, {"1", 1}, {"3", 3}, {"12", 12}};
    (void)state;
    wsi_port_ops.cpu_count = three_cpus;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ws_pool_config config = WS_POOL_CONFIG_INIT;
        ws_pool *global = NULL;
        set_threads(cases[i].value);
        assert_accepted(&config, cases[i].workers);
        assert_accepted(NULL, cases[i].workers);
        assert_int_equal(ws_current_num_workers(), cases[i].workers);
        assert_int_equal(ws_pool_global(&global), WS_OK);
        assert_int_equal(ws_pool_num_workers(global), cases[i].workers);
        assert_int_equal(ws_pool_global_destroy(), WS_OK);
        /* A stated number wins. */
        config.num_threads = 5;
        assert_accepted(&config, 5);
    }
}

static const char *const garbage[] = {
    "garbage",
    "-1",
    "+1",
    "1e3",
    "0x2",
    " 2",
    "2 ",
    "2.0",
    "1025",
    "2,3",
    "2\n",
    "--",
    "\xff",
    "4294967298",
    "99999999999999999999",
    "18446744073709551618",
};

static void garbage_in_the_environment_is_refused(void **state)
{
    (void)state;
    count_everything();
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        ws_pool_config config = WS_POOL_CONFIG_INIT;
        set_threads(garbage[i]);
        assert_refused(NULL, WS_EENV);
        assert_refused(&config, WS_EENV);
        /* Not consulted, so not wrong. */
        config.num_threads = 2;
        assert_accepted(&config, 2);
    }
    set_threads(NULL);
}

static int add_one(void *arg)
{
    test_add(arg, 1);
    return 0;
}

static void global_pool_with_garbage_in_the_environment(void **state)
{
    (void)state;
    ws_pool *const before = (ws_pool *)(void *)&creations;
    ws_pool *pool = before;
    test_counter sum = {0};
    set_threads("garbage");
    assert_int_equal(ws_pool_global(&pool), WS_EENV);
    assert_ptr_equal(pool, before);
    assert_int_equal(ws_spawn(NULL, add_one, &sum), WS_EENV);
    assert_int_equal(ws_pool_install(NULL, add_one, &sum), WS_EENV);
    assert_int_equal(ws_current_num_workers(), 0);
    assert_int_equal(test_get(&sum), 0);
    /* A join cannot fail: it runs here. */
    assert_int_equal(ws_join(add_one, &sum, add_one, &sum), 0);
    assert_int_equal(test_get(&sum), 2);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
    /* The next call tries again. */
    set_threads("2");
    assert_int_equal(ws_pool_install(NULL, add_one, &sum), 0);
    assert_int_equal(ws_current_num_workers(), 2);
    assert_int_equal(test_get(&sum), 3);
    set_threads(NULL);
    assert_int_equal(ws_pool_global_destroy(), WS_OK);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_config_means_defaults),
    cmocka_unit_test(smaller_config_is_accepted),
    cmocka_unit_test(config_without_a_size_is_refused),
    cmocka_unit_test(larger_config_must_end_in_zeros),
    cmocka_unit_test(field_out_of_range_is_refused),
    cmocka_unit_test(field_at_its_limit_is_accepted),
    cmocka_unit_test(enormous_stack_is_refused_or_works),
    cmocka_unit_test(environment_sets_the_number),
    cmocka_unit_test(garbage_in_the_environment_is_refused),
    cmocka_unit_test(global_pool_with_garbage_in_the_environment),
};
WS_TEST_MAIN(tests)
