/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "levels.h"

static void sample(void)
{
    for (uint64_t found = 1; found > 0;) {
        level_open(found);
        found = level_step(0, PERMS);
    }
}

int main(int argc, char **argv)
{
    static const bench_program program = {
        levels_setup, level_begin, sample, levels_check, levels_units, NULL,
    };
    return bench_main(argc, argv, &program);
}
