/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../support/openmp.h"
#include "merge.h"

static void merge(const merge_item *a, size_t na, const merge_item *b,
                  size_t nb, merge_item *out)
{
    size_t at_a;
    size_t at_b;
    if (na + nb <= MERGE_CUT_OFF) {
        merge_serial(a, na, b, nb, out);
        return;
    }
    merge_cut(a, na, b, nb, &at_a, &at_b);
#pragma omp task
    merge(a, at_a, b, at_b, out);
    merge(a + at_a, na - at_a, b + at_b, nb - at_b, out + at_a + at_b);
#pragma omp taskwait
}

static void sort(merge_item *a, merge_item *spare, size_t n, int to_spare)
{
    size_t half = n / 2;
    if (n <= MERGE_CUT_OFF) {
        merge_sort(a, spare, n, to_spare);
        return;
    }
#pragma omp task
    sort(a, spare, half, !to_spare);
    sort(a + half, spare + half, n - half, !to_spare);
#pragma omp taskwait
    if (to_spare != 0) {
        merge(a, half, a + half, n - half, spare);
    } else {
        merge(spare, half, spare + half, n - half, a);
    }
}

static int setup(const bench_args *args)
{
    bench_openmp_setup(args->workers);
    return merge_setup(args);
}

static void sample(void)
{
    merge_item *spare = malloc(merge_n * sizeof(*spare));
    if (spare != NULL) {
#pragma omp parallel
#pragma omp single
        sort(merge_items, spare, merge_n, 0);
    }
    free(spare);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        setup, merge_prepare, sample, merge_check, merge_units, merge_teardown,
    };
    return bench_main(argc, argv, &program);
}
