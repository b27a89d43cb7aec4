/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "visited.h"

static uint32_t open_states[STATES + MOVES];

static void sample(void)
{
    size_t n_open = 1;
    open_states[0] = 0;
    visited[0] = 1;
    while (n_open > 0) {
        uint32_t next[MOVES];
        unsigned n = visited_next(open_states[--n_open], next);
        for (unsigned i = 0; i < n; i++) {
            visited[next[i] / 32] |= (uint32_t)1 << next[i] % 32;
            open_states[n_open++] = next[i];
        }
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        visited_setup, visited_prepare, sample,
        visited_check, levels_units,    NULL,
    };
    return bench_main(argc, argv, &program);
}
