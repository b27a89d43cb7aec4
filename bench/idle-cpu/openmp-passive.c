/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include "../support/passive.h"
#include "team.h"

int main(int argc, char **argv)
{
    bench_passive(argv);
    return team_main(argc, argv);
}
