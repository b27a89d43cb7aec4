/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef BENCH_WAKE_LATENCY_TBB_LEAF_HPP
#define BENCH_WAKE_LATENCY_TBB_LEAF_HPP

#include <tbb/task_group.h>

#include "wake.h"

/* To be called inside the arena. */
static void tbb_busy_then_leaf()
{
    std::uint64_t until = bench_now_ns() + WAKE_BUSY_NS;
    while (bench_now_ns() < until) {
        tbb::task_group group;
        group.run([] {});
        group.wait();
    }
    tbb::task_group group;
    group.run(wake_note);
    wake_leaf();
    group.wait();
}

#endif
