/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "queens.h"

static uint64_t count(const queens_board *b)
{
    uint64_t sum = 0;
    if (b->columns == queens_full) {
        return 1;
    }
    for (uint32_t open = queens_free(b); open != 0; open &= open - 1) {
        queens_board next = queens_place(b, open & -open);
        sum += count(&next);
    }
    return sum;
}

static void sample(void)
{
    const queens_board empty = {0, 0, 0};
    queens_result = count(&empty);
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        queens_setup, NULL, sample, queens_check, queens_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
