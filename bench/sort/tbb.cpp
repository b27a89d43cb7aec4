// SPDX-License-Identifier: MIT OR Apache-2.0
//
// tbb.cpp: oneTBB's and the standard library's sorts on the input of sort.h;
// see compare.sh.
//
//     tbb KIND N WORKERS SAMPLES [tbb | std | std_stable]
#include "sort.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

int main(int argc, char **argv)
{
    const struct sort_options o = sort_options_read(argc, argv, "tbb");
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                              o.workers);
    tbb::task_arena arena((int)o.workers);
    std::vector<uint64_t> input(o.n);
    sort_fill(o.kind, input.data(), o.n);
    for (int i = 0; i < o.samples; i++) {
        std::vector<uint64_t> v(input);
        const double begin = bench_now();
        if (!strcmp(o.how, "tbb")) {
            arena.execute([&] { tbb::parallel_sort(v.begin(), v.end()); });
        } else if (!strcmp(o.how, "std")) {
            std::sort(v.begin(), v.end());
        } else {
            std::stable_sort(v.begin(), v.end());
        }
        sort_sample(bench_now() - begin, v.data(), o.n);
    }
    return 0;
}
