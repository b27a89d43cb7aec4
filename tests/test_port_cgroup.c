/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_port_cgroup.c: the CPU quota of fixture file systems.
 *
 * tests/fixtures/cgroup/<name> is the root directory of a machine with its
 * /proc/self/cgroup, /proc/self/mountinfo and the quota files; the names say
 * what is special about each.
 */
#define _GNU_SOURCE 1

#include "support/test.h"

#include "port/platform.h"

static unsigned limit_of(const char *name)
{
    char root[4096];
    const int n =
        snprintf(root, sizeof(root), "%s/cgroup/%s", WS_TEST_FIXTURES, name);
    assert_true(n > 0 && (size_t)n < sizeof(root));
    return wsi_cgroup_cpu_limit(root);
}

/* A macro, so that a failure names the line of the case. */
#define assert_limit(name, cpus) assert_int_equal(limit_of(name), (cpus))

static void v2_quota_of_the_own_group_limits(void **state)
{
    (void)state;
    assert_limit("v2_simple", 3);
    assert_limit("v2_no_newline_at_end", 2);
    assert_limit("v2_no_optional_fields", 2);
    assert_limit("v2_two_optional_fields", 2);
    assert_limit("v2_colon_in_name", 2);
}

static void v2_smallest_quota_of_all_ancestors_limits(void **state)
{
    (void)state;
    assert_limit("v2_nested_child_smaller", 2);
    assert_limit("v2_nested_parent_smaller", 2);
    assert_limit("v2_nested_middle_smallest", 3);
    assert_limit("v2_parent_only", 4);
    assert_limit("v2_group_deleted", 2);
}

static void v2_max_is_no_limit(void **state)
{
    (void)state;
    assert_limit("v2_max", 0);
}

static void v2_fraction_is_rounded_up(void **state)
{
    (void)state;
    assert_limit("v2_half_cpu", 1);
    assert_limit("v2_one_and_a_half_cpus", 2);
    assert_limit("v2_tiny_quota", 1);
}

static void v2_namespace_and_subtree_mounts_are_followed(void **state)
{
    (void)state;
    assert_limit("v2_namespace_root", 2);
    assert_limit("v2_mount_shows_subtree", 5);
    assert_limit("v2_root_is_not_a_prefix", 6);
    assert_limit("v2_outside_namespace", 3);
}

static void v1_quota_limits_like_v2(void **state)
{
    (void)state;
    assert_limit("v1_simple", 3);
    assert_limit("v1_nested_child_smaller", 2);
    assert_limit("v1_nested_parent_smaller", 2);
    assert_limit("v1_unlimited", 0);
    assert_limit("v1_one_and_a_half_cpus", 2);
    assert_limit("v1_period_missing", 0);
}

static void v1_docker_root_prefix_is_stripped(void **state)
{
    (void)state;
    assert_limit("v1_docker_root_prefix", 2);
    assert_limit("v1_docker_nested_below_root", 4);
    assert_limit("v1_namespace_differs_from_mount", 2);
}

static void hybrid_takes_the_smaller_of_both_hierarchies(void **state)
{
    (void)state;
    assert_limit("hybrid_v1_limits", 2);
    assert_limit("hybrid_both_limit", 3);
}

static void escaped_paths_are_decoded(void **state)
{
    (void)state;
    assert_limit("v2_escaped_path", 2);
}

static void long_lines_and_long_paths_are_read_whole(void **state)
{
    (void)state;
    assert_limit("v2_very_long_path", 3);
    assert_limit("v2_long_mountinfo_line", 2);
}

static void broken_quota_is_no_limit(void **state)
{
    (void)state;
    assert_limit("cpu_max_letters", 0);
    assert_limit("cpu_max_negative", 0);
    assert_limit("cpu_max_zero_period", 0);
    assert_limit("cpu_max_zero_quota", 0);
    assert_limit("cpu_max_overflow", 0);
    assert_limit("cpu_max_no_period", 0);
    assert_limit("cpu_max_extra_word", 0);
    assert_limit("cpu_max_empty", 0);
    assert_limit("cpu_max_blank", 0);
    assert_limit("cpu_max_binary", 0);
    assert_limit("cpu_max_enormous", UINT32_MAX);
    assert_limit("cpu_max_broken_below_good", 2);
}

static void broken_or_missing_files_are_no_limit(void **state)
{
    (void)state;
    assert_limit("garbage", 0);
    assert_limit("garbage_groups_good_mounts", 0);
    assert_limit("empty", 0);
    assert_limit("mountinfo_missing", 0);
    assert_limit("cgroup_missing", 0);
    assert_limit("quota_file_missing", 0);
    assert_limit("quota_file_is_a_directory", 0);
    assert_limit("no_such_machine", 0);
}

static void root_may_be_written_in_two_ways(void **state)
{
    (void)state;
    assert_int_equal(wsi_cgroup_cpu_limit("/"), wsi_cgroup_cpu_limit(""));
}

static size_t allocations;
static size_t failing_allocation;
static size_t live_blocks;

static void *counting_alloc(size_t align, size_t size)
{
    allocations++;
    if (allocations == failing_allocation) {
        return NULL;
    }
    live_blocks++;
    return wsi_mem_alloc_real(align, size);
}

static void counting_free(void *p)
{
    live_blocks--;
    wsi_mem_free_real(p);
}

static void out_of_memory_loses_at_most_the_limit(void **state)
{
    static const char *const names[] = {"v2_nested_middle_smallest",
                                        "hybrid_both_limit",
                                        "v2_long_mountinfo_line"};
    (void)state;
    const wsi_port_ops_table saved = wsi_port_ops;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const unsigned full = limit_of(names[i]);
        wsi_port_ops.mem_alloc = counting_alloc;
        wsi_port_ops.mem_free = counting_free;
        failing_allocation = 0;
        do {
            failing_allocation++;
            allocations = 0;
            const unsigned limit = limit_of(names[i]);
            assert_true(limit == 0 || limit >= full);
            assert_int_equal(live_blocks, 0);
        } while (allocations >= failing_allocation);
        wsi_port_ops = saved;
        assert_true(failing_allocation > 4);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(v2_quota_of_the_own_group_limits),
    cmocka_unit_test(v2_smallest_quota_of_all_ancestors_limits),
    cmocka_unit_test(v2_max_is_no_limit),
    cmocka_unit_test(v2_fraction_is_rounded_up),
    cmocka_unit_test(v2_namespace_and_subtree_mounts_are_followed),
    cmocka_unit_test(v1_quota_limits_like_v2),
    cmocka_unit_test(v1_docker_root_prefix_is_stripped),
    cmocka_unit_test(hybrid_takes_the_smaller_of_both_hierarchies),
    cmocka_unit_test(escaped_paths_are_decoded),
    cmocka_unit_test(long_lines_and_long_paths_are_read_whole),
    cmocka_unit_test(broken_quota_is_no_limit),
    cmocka_unit_test(broken_or_missing_files_are_no_limit),
    cmocka_unit_test(root_may_be_written_in_two_ways),
    cmocka_unit_test(out_of_memory_loses_at_most_the_limit),
};
WS_TEST_MAIN(tests)
