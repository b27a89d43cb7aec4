/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wsteal-retry_is_empty.c: the mistake that deque.h warns of.
 */
#define _GNU_SOURCE

#include "drain.h"

int main(int argc, char **argv)
{
    return drain_main(argc, argv, WS_STEAL_RETRY);
}
