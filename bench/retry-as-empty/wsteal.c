/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE

#include "drain.h"

int main(int argc, char **argv)
{
    return drain_main(argc, argv, WS_STEAL_EMPTY);
}
