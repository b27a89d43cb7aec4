/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include "team.h"

int main(int argc, char **argv)
{
    return team_main(argc, argv);
}
