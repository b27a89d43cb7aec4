/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * trees.h: trees that grow while they are walked, and a spliter that walks
 * them and counts its own lives, for the tests of spliters.
 */
#ifndef WS_TESTS_SUPPORT_TREES_H
#define WS_TESTS_SUPPORT_TREES_H

#include "support/pools.h"

/* ---- trees ----------------------------------------------------------- */

typedef enum {
    CHAIN, /* of `n` nodes */
    COMB,  /* a chain with a chain of 3 at each node */
    CHAIN_THEN_BUSH,
    STAR,
    LATE, /* a root with `n` leaves that takes its time */
    RANDOM,
    BUSH, /* binary, `n` deep */
    KINDS = BUSH
} kind;

typedef struct node {
    struct node *next; /* older */
    kind kind;
    uint32_t n;
    uint64_t seed;
} node;

static const uint32_t sizes[] = {3000, 1000, 1000, 3000, 2000, 12};

static inline void push(node **list, kind k, uint32_t n, uint64_t seed)
{
    node *new = malloc(sizeof(*new));
    WS_TEST_REQUIRE(new != NULL);
    *new = (node){*list, k, n, seed};
    *list = new;
}

static inline void push_random(node **list, const node *parent)
{
    uint64_t state = parent->seed;
    const uint64_t children = ws_test_random(&state) % 4;
    for (uint64_t i = 0; parent->n > 0 && i < children; i++) {
        push(list, RANDOM, parent->n - 1, ws_test_random(&state) | 1);
    }
}

/* Returns how many were pushed. */
static inline size_t push_children(node **list, const node *parent)
{
    const uint32_t n = parent->n;
    const node *before = *list;
    size_t count = 0;
    if (parent->kind == RANDOM) {
        push_random(list, parent);
    } else if (parent->kind == STAR || parent->kind == LATE) {
        for (uint32_t i = 0; i < n; i++) {
            push(list, CHAIN, 1, i);
        }
    } else if (parent->kind == BUSH) {
        for (int i = 0; i < 2 && n > 0; i++) {
            push(list, BUSH, n - 1, 0);
        }
    } else if (n > 1) {
        push(list, parent->kind, n - 1, 0);
        if (parent->kind == COMB) {
            push(list, CHAIN, 3, 0);
        }
    } else if (parent->kind == CHAIN_THEN_BUSH) {
        push(list, BUSH, 9, 0);
    }
    for (const node *i = *list; i != before; i = i->next) {
        count++;
    }
    return count;
}

/* ---- walking --------------------------------------------------------- */

typedef struct {
    ws_pool *pool;
    kind kind;
    uint64_t seed;
    size_t min_units;
    size_t max_units;
    bool large;
    /* What the hook does at a unit; 0 or a code. */
    int (*hook)(void *walk, const node *n, uint64_t index);
    uint64_t at; /* for the hook */
    ws_token *token;
    test_counter units;
    test_counter made;
    test_counter dropped;
    test_counter others; /* units elsewhere than on the worker of the first */
    test_counter first;  /* its index + 1 */
    test_counter phase;  /* for the hook */
    ws_spliter_stats stats;
    int code;
} walk;

typedef struct {
    walk *w;
    node *stack;
    size_t count;
    uint64_t alive; /* found at the drop */
} front;

typedef struct {
    front front;
    char more[300];
} large_front;

#define ALIVE 0x5eed5eed5eed5eed

static inline size_t front_size(const void *it)
{
    return ((const front *)it)->count;
}

static inline int front_split(void *from_it, void *to_it)
{
    front *from = from_it;
    const size_t give = from->count / 2;
    if (give == 0) {
        return 0;
    }
    node **at = &from->stack;
    for (size_t i = from->count; i > give; i--) {
        at = &(*at)->next;
    }
    *(front *)to_it = (front){from->w, *at, give, ALIVE};
    *at = NULL;
    from->count -= give;
    test_add(&from->w->made, 1);
    return 1;
}

static inline void note_worker(walk *w)
{
    const uint64_t here = (uint64_t)ws_current_index() + 1;
    uint64_t none = 0;
    /* acq_rel: the test's own counter */
    if (!wsi_u64_cas_acq_rel(&w->first, &none, here) && none != here) {
        test_add(&w->others, 1);
    }
}

static inline int front_advance(void *it, size_t units, void *arg)
{
    front *f = it;
    walk *w = arg;
    WS_TEST_REQUIRE(w == f->w && f->alive == ALIVE);
    WS_TEST_REQUIRE(units >= 1);
    WS_TEST_REQUIRE(w->max_units == 0 || units <= w->max_units);
    int code = 0;
    for (; code == 0 && units > 0 && f->count > 0; units--) {
        node *n = f->stack;
        f->stack = n->next;
        f->count += push_children(&f->stack, n) - 1;
        note_worker(w);
        const uint64_t index = test_add(&w->units, 1);
        code = w->hook != NULL ? w->hook(w, n, index) : 0;
        free(n);
    }
    return code;
}

static inline void front_drop(void *it)
{
    front *f = it;
    WS_TEST_REQUIRE(f->alive == ALIVE);
    f->alive = 0;
    while (f->stack != NULL) {
        node *n = f->stack;
        f->stack = n->next;
        free(n);
    }
    test_add(&f->w->dropped, 1);
}

static const ws_spliter_ops small_ops = {sizeof(front), front_size, front_split,
                                         front_advance, front_drop};
static const ws_spliter_ops large_ops = {
    sizeof(large_front), front_size, front_split, front_advance, front_drop};

static inline front root_of(walk *w)
{
    front f = {w, NULL, 1, ALIVE};
    push(&f.stack, w->kind, sizes[w->kind], w->seed | 1);
    return f;
}

static inline uint64_t count_serially(walk *w)
{
    front f = root_of(w);
    uint64_t count = 0;
    while (f.stack != NULL) {
        node *n = f.stack;
        f.stack = n->next;
        push_children(&f.stack, n);
        free(n);
        count++;
    }
    return count;
}

/* Runs it, and checks that all spliters were dropped once. */
static inline int run(void *arg)
{
    walk *w = arg;
    ws_spliter_options options = WS_SPLITER_OPTIONS_INIT;
    large_front large;
    large.front = root_of(w);
    front small = large.front;
    options.pool = w->pool;
    options.arg = w;
    options.min_units = w->min_units;
    options.max_units = w->max_units;
    options.stats = &w->stats;
    test_set(&w->made, 1);
    w->code = w->large ? ws_spliter_run(&large_ops, &large, &options)
                       : ws_spliter_run(&small_ops, &small, &options);
    WS_TEST_REQUIRE(test_get(&w->made) == test_get(&w->dropped));
    WS_TEST_REQUIRE(w->stats.splits == test_get(&w->made) - 1);
    WS_TEST_REQUIRE(w->stats.splits_tried >= w->stats.splits);
    return w->code;
}

static inline void check_count(walk *w)
{
    const uint64_t expected = count_serially(w);
    WS_TEST_REQUIRE(run(w) == 0);
    WS_TEST_REQUIRE(test_get(&w->units) == expected);
    WS_TEST_REQUIRE(w->stats.blocks >= 1 && w->stats.blocks <= expected);
}

#endif
