/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/arena.hpp"
#include "merge.h"

#include <tbb/parallel_invoke.h>

#include <memory>

static void merge(const merge_item *a, std::size_t na, const merge_item *b,
                  std::size_t nb, merge_item *out)
{
    std::size_t at_a;
    std::size_t at_b;
    if (na + nb <= MERGE_CUT_OFF) {
        merge_serial(a, na, b, nb, out);
        return;
    }
    merge_cut(a, na, b, nb, &at_a, &at_b);
    tbb::parallel_invoke([=] { merge(a, at_a, b, at_b, out); },
                         [=] {
                             merge(a + at_a, na - at_a, b + at_b, nb - at_b,
                                   out + at_a + at_b);
                         });
}

static void sort(merge_item *a, merge_item *spare, std::size_t n, bool to_spare)
{
    std::size_t half = n / 2;
    if (n <= MERGE_CUT_OFF) {
        merge_sort(a, spare, n, to_spare);
        return;
    }
    tbb::parallel_invoke(
        [=] { sort(a, spare, half, !to_spare); },
        [=] { sort(a + half, spare + half, n - half, !to_spare); });
    if (to_spare) {
        merge(a, half, a + half, n - half, spare);
    } else {
        merge(spare, half, spare + half, n - half, a);
    }
}

static int setup(const bench_args *args)
{
    return merge_setup(args) != 0 ? -1 : bench_arena_setup(args);
}

static void sample()
{
    // Not make_unique: that would write to it.
    std::unique_ptr<merge_item[]> spare(new merge_item[merge_n]);
    bench_arena->execute(
        [&spare] { sort(merge_items, spare.get(), merge_n, false); });
}

static void teardown()
{
    bench_arena_teardown();
    merge_teardown();
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, merge_prepare, sample, merge_check, merge_units, teardown,
    };
    return bench_main(argc, argv, &program);
}
