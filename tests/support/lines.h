/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * lines.h: what the tests of pipelines share: a line of stages that checks, at
 * each call, who may be called now and what it finds.
 *
 * Each item is a record with plain fields, so that the thread sanitizer sees
 * whether stages hand over what they wrote.
 */
#ifndef WS_TESTS_SUPPORT_LINES_H
#define WS_TESTS_SUPPORT_LINES_H

#include "support/pools.h"

enum {
    STAGES = 48,
    ITEMS = 400,
    SLOTS = 128,
    NOWHERE = -1
};

typedef struct line line;

typedef struct {
    line *of;
    size_t index;
    uint64_t calls; /* plain: of serial stages */
    uint64_t least; /* the number must not be below; of ordered stages */
    test_counter inside;
} line_stage;

typedef struct {
    size_t passed; /* stages */
    unsigned disposed;
} line_item;

struct line {
    size_t n_stages;
    size_t max_in_flight;
    uint64_t total;
    /* What happens, where and when; NOWHERE = not. */
    int fail_stage;
    int fail_number;
    bool fail_disposes;
    int filter_stage; /* takes out each item with an odd number */
    /* Called in each stage, unless NULL; its code is the stage's. */
    int (*hook)(line *l, size_t stage, uint64_t number);
    void *user;
    /* What happened. */
    test_counter made;
    test_counter ended; /* at the end of the line, or taken out */
    test_counter dropped;
    test_counter in_flight;
    test_counter passed[STAGES];
    test_counter slot_used[SLOTS];
    test_counter hooks[4]; /* for hooks to meet on */
    line_item items[ITEMS];
    line_stage args[STAGES];
    ws_stage stages[STAGES];
};

static inline void line_dispose(line *l, line_item *i, size_t slot)
{
    i->disposed++;
    WS_TEST_REQUIRE(i->disposed == 1);
    WS_TEST_REQUIRE(test_add(&l->in_flight, UINT64_MAX) >= 1);
    if (slot < SLOTS) {
        test_set(&l->slot_used[slot], 0);
    }
}

static inline bool line_source(line *l, ws_pipeline_item *item)
{
    WS_TEST_REQUIRE(item->data == NULL);
    WS_TEST_REQUIRE(item->number == l->args[0].calls - 1);
    WS_TEST_REQUIRE(item->slot < l->max_in_flight);
    WS_TEST_REQUIRE(item->number <= l->total);
    if (item->number == l->total) {
        return false;
    }
    item->data = &l->items[item->number];
    test_add(&l->made, 1);
    WS_TEST_REQUIRE(test_add(&l->in_flight, 1) < l->max_in_flight);
    /* Dropped ones do not say that their slot is free. */
    WS_TEST_REQUIRE(test_get(&l->slot_used[item->slot]) == 0);
    test_set(&l->slot_used[item->slot], 1);
    return true;
}

static inline bool line_fails(const line *l, size_t s, uint64_t number)
{
    return (int)s == l->fail_stage && (int)number == l->fail_number;
}

static inline int line_work(line_stage *stage, ws_pipeline_item *item)
{
    line *l = stage->of;
    const size_t s = stage->index;
    if (s == 0 && line_fails(l, s, item->number)) {
        return 50;
    }
    if (s == 0 && !line_source(l, item)) {
        return 0;
    }
    line_item *i = item->data;
    WS_TEST_REQUIRE(i == &l->items[item->number]);
    WS_TEST_REQUIRE(i->passed == s && i->disposed == 0);
    int code = l->hook != NULL ? l->hook(l, s, item->number) : 0;
    if (line_fails(l, s, item->number)) {
        if (l->fail_disposes) {
            line_dispose(l, i, item->slot);
            test_add(&l->dropped, 1);
            item->data = NULL;
        }
        return 50 + (int)s;
    }
    if (code != 0) {
        return code;
    }
    i->passed++;
    test_add(&l->passed[s], 1);
    if (s + 1 == l->n_stages) {
        line_dispose(l, i, item->slot);
        test_add(&l->ended, 1);
    } else if ((int)s == l->filter_stage && item->number % 2 != 0) {
        line_dispose(l, i, item->slot);
        test_add(&l->ended, 1);
        item->data = NULL;
    }
    return 0;
}

static inline int line_call(ws_pipeline_item *item, void *arg)
{
    line_stage *stage = arg;
    const unsigned kind = stage->of->stages[stage->index].kind;
    if (kind != WS_STAGE_PARALLEL) {
        WS_TEST_REQUIRE(test_add(&stage->inside, 1) == 0);
        stage->calls++;
    }
    if (kind == WS_STAGE_SERIAL) {
        WS_TEST_REQUIRE(item->number >= stage->least);
        stage->least = item->number + 1;
    }
    int code = line_work(stage, item);
    if (kind != WS_STAGE_PARALLEL) {
        WS_TEST_REQUIRE(test_add(&stage->inside, UINT64_MAX) == 1);
    }
    return code;
}

static inline void line_drop(void *data, void *arg)
{
    const line_stage *stage = arg;
    line_item *i = data;
    WS_TEST_REQUIRE(i->passed == stage->index + 1);
    line_dispose(stage->of, i, SLOTS);
    test_add(&stage->of->dropped, 1);
}

/* A line without stages. */
static inline void line_init(line *l, size_t max_in_flight, uint64_t total)
{
    memset(l, 0, sizeof(*l));
    l->max_in_flight = max_in_flight;
    l->total = total;
    l->fail_stage = NOWHERE;
    l->fail_number = NOWHERE;
    l->filter_stage = NOWHERE;
}

static inline void line_add(line *l, unsigned kind)
{
    const size_t s = l->n_stages++;
    l->args[s].of = l;
    l->args[s].index = s;
    l->stages[s] = (ws_stage){kind, line_call, &l->args[s], line_drop};
}

/* One of S, P, U for each stage. */
static inline void line_make(line *l, const char *kinds, size_t max_in_flight,
                             uint64_t total)
{
    line_init(l, max_in_flight, total);
    for (; *kinds != '\0'; kinds++) {
        line_add(l, *kinds == 'S'   ? WS_STAGE_SERIAL
                    : *kinds == 'P' ? WS_STAGE_PARALLEL
                                    : WS_STAGE_SERIAL_UNORDERED);
    }
}

static inline int line_run_here(void *arg)
{
    line *l = arg;
    return ws_pipeline(l->n_stages, l->stages, l->max_in_flight);
}

static inline int line_run(ws_pool *pool, line *l)
{
    return ws_pool_install(pool, line_run_here, l);
}

/* Every item passed every stage, but what was taken out. */
static inline void line_check_all(const line *l)
{
    const size_t filter =
        l->filter_stage == NOWHERE ? STAGES : (size_t)l->filter_stage;
    WS_TEST_REQUIRE(test_get(&l->made) == l->total);
    WS_TEST_REQUIRE(test_get(&l->ended) == l->total);
    WS_TEST_REQUIRE(test_get(&l->in_flight) == 0);
    WS_TEST_REQUIRE(test_get(&l->dropped) == 0);
    for (size_t s = 0; s < l->n_stages; s++) {
        WS_TEST_REQUIRE(test_get(&l->passed[s]) ==
                        (s <= filter ? l->total : (l->total + 1) / 2));
    }
    WS_TEST_REQUIRE(l->args[0].calls == l->total + 1);
}

/* Every item that was made ended, or was disposed of once. */
static inline void line_check_stopped(const line *l)
{
    const uint64_t made = test_get(&l->made);
    WS_TEST_REQUIRE(test_get(&l->in_flight) == 0);
    WS_TEST_REQUIRE(test_get(&l->ended) + test_get(&l->dropped) == made);
    for (uint64_t n = 0; n < l->total; n++) {
        WS_TEST_REQUIRE(l->items[n].disposed == (n < made ? 1 : 0));
    }
}

#endif
