/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * uts.h: trees made by a splittable hash (Olivier et al., 2006, with a 64-bit
 * mixer in place of SHA-1): a node's number decides how many children it has.
 *
 * geometric: 0 to 8 children, 4 on average, down to depth `size`.
 * binomial: a root of 2^size children; every other node has 8 children with a
 * probability of just under 1/8, or none.
 */
#ifndef BENCH_UTS_UTS_H
#define BENCH_UTS_UTS_H

#include <string.h>

#include "../support/runner.h"

typedef struct {
    uint64_t number;
    uint64_t depth;
} uts_node;

static const uts_node uts_root = {42, 0};
static uint64_t uts_size;
static int uts_binomial;
static uint64_t uts_result; /* nodes */

static inline uint64_t uts_mix(uint64_t x)
{
    return bench_random(&x);
}

static inline unsigned uts_children(const uts_node *node)
{
    uint64_t dice = uts_mix(node->number) >> 32;
    if (!uts_binomial) {
        return node->depth >= uts_size ? 0 : (unsigned)(dice % 9);
    }
    if (node->depth == 0) {
        return 1u << uts_size;
    }
    return dice % 100000 < 12490 ? 8 : 0;
}

static inline uts_node uts_child(const uts_node *node, unsigned which)
{
    uts_node child;
    child.number = uts_mix(node->number + 0x632be59bd9b4e019u * (which + 1));
    child.depth = node->depth + 1;
    return child;
}

static int uts_setup(const bench_args *args)
{
    uts_size = args->size;
    uts_binomial = strcmp(args->point, "binomial") == 0;
    return 0;
}

static uint64_t uts_check(void)
{
    return uts_result;
}

static uint64_t uts_units(void)
{
    return uts_result;
}

#endif
