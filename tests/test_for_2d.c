/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_for_2d.c: tiles that cover a rectangle.
 */
#include "support/pools.h"

enum {
    SIDE = 40
};

typedef struct {
    ws_tiles tiles;
    test_counter cells[SIDE][SIDE];
    test_counter calls;
} canvas;

static int paint(size_t r0, size_t r1, size_t c0, size_t c1, void *arg)
{
    canvas *c = arg;
    const ws_tiles *t = &c->tiles;
    WS_TEST_REQUIRE(r0 < r1 && r1 <= t->rows && c0 < c1 && c1 <= t->columns);
    WS_TEST_REQUIRE(t->tile_rows == 0 || r1 - r0 <= t->tile_rows);
    WS_TEST_REQUIRE(t->tile_columns == 0 || c1 - c0 <= t->tile_columns);
    test_add(&c->calls, 1);
    for (size_t r = r0; r < r1; r++) {
        for (size_t k = c0; k < c1; k++) {
            test_add(&c->cells[r][k], 1);
        }
    }
    return 0;
}

static size_t tiles_of(size_t length, size_t step)
{
    step = step == 0 || step > length ? length : step;
    return length == 0 ? 0 : (length + step - 1) / step;
}

static void check_canvas(canvas *c, const ws_for_opts *opts)
{
    const ws_tiles *t = &c->tiles;
    assert_int_equal(ws_for_2d(t, opts, paint, c), 0);
    assert_int_equal(test_get(&c->calls),
                     tiles_of(t->rows, t->tile_rows) *
                         tiles_of(t->columns, t->tile_columns));
    for (size_t r = 0; r < SIDE; r++) {
        for (size_t k = 0; k < SIDE; k++) {
            bool inside = r < t->rows && k < t->columns;
            assert_int_equal(test_get(&c->cells[r][k]), inside);
            test_set(&c->cells[r][k], 0);
        }
    }
    test_set(&c->calls, 0);
}

static int check_sizes(void *arg)
{
    static const size_t sides[] = {0, 1, 2, 7, SIDE};
    static const size_t steps[] = {0, 1, 3, 7, 100, SIZE_MAX};
    static canvas c;
    (void)arg;
    for (unsigned i = 0; i < 5 * 5 * 6 * 6; i++) {
        ws_for_opts o = WS_FOR_OPTS_INIT;
        o.max_grain = i % 2;
        o.flags = i % 3 == 0 ? WS_FOR_STATIC : 0;
        c.tiles = (ws_tiles){sides[i % 5], sides[i / 5 % 5], steps[i / 25 % 6],
                             steps[i / 150]};
        check_canvas(&c, &o);
        check_canvas(&c, NULL);
    }
    return 0;
}

static void check_in_pool(ws_pool *pool)
{
    assert_int_equal(ws_pool_install(pool, check_sizes, NULL), 0);
}

static void each_cell_is_covered_once(void **state)
{
    (void)state;
    test_in_each_pool(check_in_pool);
}

/* ---- more tiles than a size_t counts --------------------------------- */

static int stop_at_third(size_t r0, size_t r1, size_t c0, size_t c1, void *arg)
{
    test_counter *calls = arg;
    WS_TEST_REQUIRE(r1 == r0 + 1 && c1 == c0 + 1);
    return test_add(calls, 1) == 2 ? 5 : 0;
}

static void too_many_tiles_are_no_error(void **state)
{
    (void)state;
    const ws_tiles t = {SIZE_MAX, SIZE_MAX / 2, 1, 1};
    ws_for_opts o = WS_FOR_OPTS_INIT;
    test_counter calls = {0};
    o.min_grain = SIZE_MAX; /* on this thread */
    assert_int_equal(ws_for_2d(&t, &o, stop_at_third, &calls), 5);
    assert_int_equal(test_get(&calls), 3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_cell_is_covered_once),
    cmocka_unit_test(too_many_tiles_are_no_error),
};
WS_TEST_MAIN(tests)
