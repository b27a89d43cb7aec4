/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * broadcasts.h: what the tests of broadcasts share: a record of who ran one.
 */
#ifndef WS_TESTS_SUPPORT_BROADCASTS_H
#define WS_TESTS_SUPPORT_BROADCASTS_H

#include "support/pools.h"

enum {
    SEVEN = 7,
    THREE = 3
};

typedef struct {
    ws_pool *pool;
    ws_pool *other;
    test_counter runs;
    test_counter indices; /* eight bits of a count for each of seven workers */
    test_counter fails;   /* bit set of the workers that fail */
    test_counter handled; /* calls of the error handler */
} bcast;

static inline int note(const ws_broadcast_ctx *ctx, void *arg)
{
    bcast *b = arg;
    WS_TEST_REQUIRE(ctx->index == (unsigned)ws_current_index());
    WS_TEST_REQUIRE(ctx->num_workers == ws_current_num_workers());
    if (ctx->index < SEVEN) {
        test_add(&b->indices, (uint64_t)1 << 8 * ctx->index);
    }
    test_add(&b->runs, 1);
    return test_get(&b->fails) >> ctx->index & 1 ? 10 + (int)ctx->index : 0;
}

/* Each of the seven so often. */
static inline uint64_t each(uint64_t times)
{
    return times * 0x01010101010101;
}

#endif
