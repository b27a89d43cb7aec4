/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * for.c: ws_for and ws_for_2d.
 *
 * Layer: par.
 */
#include "par/loop.h"

/* ---- one dimension --------------------------------------------------- */

typedef struct {
    ws_range_fn fn;
    void *arg;
} range_body;

static int call_range(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    const range_body *body = loop->owner;
    (void)acc;
    return body->fn(begin, end, body->arg);
}

static const wsi_loop_kind range_kind = {call_range, NULL, NULL, NULL};

int ws_for(size_t begin, size_t end, const ws_for_opts *opts, ws_range_fn body,
           void *arg)
{
    ws_for_opts o;
    range_body b = {body, arg};
    wsi_loop loop;
    if (wsi_opts_check(&o, opts) != WS_OK || body == NULL || begin > end) {
        return WS_EINVAL;
    }
    wsi_loop_init(&loop, &range_kind, 0, &b, &o);
    return wsi_loop_run(&loop, begin, end, NULL, &o);
}

/* ---- two dimensions -------------------------------------------------- */

typedef struct {
    ws_tiles tiles; /* with no 0 */
    size_t across;  /* tiles in a row of them */
    bool rows_only; /* an index is a row of tiles: they are too many */
    ws_tile_fn fn;
    void *arg;
} tile_body;

static size_t at_most(size_t value, size_t limit)
{
    return value < limit ? value : limit;
}

/* Tile (row, column) of tiles. */
static int call_tile(const tile_body *b, size_t row, size_t column)
{
    const ws_tiles *t = &b->tiles;
    size_t r = row * t->tile_rows;
    size_t c = column * t->tile_columns;
    return b->fn(r, r + at_most(t->tile_rows, t->rows - r), c,
                 c + at_most(t->tile_columns, t->columns - c), b->arg);
}

static int call_row(const tile_body *b, size_t row)
{
    int code = 0;
    for (size_t column = 0; code == 0 && column < b->across; column++) {
        code = call_tile(b, row, column);
    }
    return code;
}

static int call_tiles(wsi_loop *loop, size_t begin, size_t end, void *acc)
{
    const tile_body *b = loop->owner;
    int code = 0;
    (void)acc;
    for (size_t i = begin; code == 0 && i < end; i++) {
        code = b->rows_only ? call_row(b, i)
                            : call_tile(b, i / b->across, i % b->across);
    }
    return code;
}

static const wsi_loop_kind tile_kind = {call_tiles, NULL, NULL, NULL};

/* How many steps cover the length, and the step if it was 0. */
static size_t steps(size_t length, size_t *step)
{
    *step = *step != 0 ? at_most(*step, length) : length;
    return length == 0 ? 0 : (length - 1) / *step + 1;
}

int ws_for_2d(const ws_tiles *tiles, const ws_for_opts *opts, ws_tile_fn body,
              void *arg)
{
    ws_for_opts o;
    wsi_loop loop;
    if (wsi_opts_check(&o, opts) != WS_OK || tiles == NULL || body == NULL) {
        return WS_EINVAL;
    }
    tile_body b = {.tiles = *tiles, .fn = body, .arg = arg};
    size_t down = steps(b.tiles.rows, &b.tiles.tile_rows);
    b.across = steps(b.tiles.columns, &b.tiles.tile_columns);
    size_t n = down * b.across;
    if (b.across != 0 && down > SIZE_MAX / b.across) {
        b.rows_only = true;
        n = down;
    }
    wsi_loop_init(&loop, &tile_kind, 0, &b, &o);
    return wsi_loop_run(&loop, 0, n, NULL, &o);
}
