/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * mandelbrot.c [-j WORKERS] [-s] -o OUT WIDTH HEIGHT [X Y SPAN]: writes a
 * picture of the Mandelbrot set (PGM, 8 bits of grey) around X + iY, SPAN wide.
 * Shows ws_for_2d(): tiles that cost from nothing to a million steps, no grain,
 * and progress on the terminal from a counter that the tiles share.
 *
 * The picture is the same with any number of workers.
 */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"
#include <stdatomic.h>
#include <string.h>

enum {
    TILE = 16,
    STEPS_MAX = 4096,
    SIDE_MAX = 32768
};

struct picture {
    unsigned char *grey;
    size_t width, height;
    double x, y, step; /* the corner, and the size of a pixel */
    size_t tiles;
    int show; /* progress, standard error is a terminal */
    atomic_size_t done;
    atomic_int shown; /* per cent */
};

/* 0: it never leaves. */
static unsigned steps(double x, double y)
{
    double a = 0;
    double b = 0;
    for (unsigned n = 1; n <= STEPS_MAX; n++) {
        const double aa = a * a;
        const double bb = b * b;
        if (aa + bb > 4) {
            return n;
        }
        b = 2 * a * b + y;
        a = aa - bb + x;
    }
    return 0;
}

static void show_progress(struct picture *p)
{
    const size_t done =
        atomic_fetch_add_explicit(&p->done, 1, memory_order_relaxed) + 1;
    const int percent = (int)(done * 100 / p->tiles);
    int shown = atomic_load_explicit(&p->shown, memory_order_relaxed);
    /* Who moves the number prints it. */
    if (p->show && percent > shown &&
        atomic_compare_exchange_strong_explicit(&p->shown, &shown, percent,
                                                memory_order_relaxed,
                                                memory_order_relaxed)) {
        fprintf(stderr, "\r%3d %%", percent);
    }
}

static int paint(size_t r0, size_t r1, size_t c0, size_t c1, void *arg)
{
    struct picture *p = arg;
    for (size_t r = r0; r < r1; r++) {
        unsigned char *row = p->grey + r * p->width;
        const double y = p->y + (double)r * p->step;
        for (size_t c = c0; c < c1; c++) {
            const unsigned n = steps(p->x + (double)c * p->step, y);
            row[c] = n == 0 ? 0 : (unsigned char)(255 - n * 7 % 224);
        }
    }
    show_progress(p);
    return 0;
}

static int paint_all(void *arg)
{
    struct picture *p = arg;
    const ws_tiles tiles = {p->height, p->width, TILE, TILE};
    return ws_for_2d(&tiles, NULL, paint, p);
}

static size_t side(const char *text)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    return end == text || *end != '\0' || n == 0 || n > SIDE_MAX ? 0 : n;
}

int main(int argc, char **argv)
{
    const char *usage = "mandelbrot [-j WORKERS] [-s] [-o OUT] WIDTH HEIGHT"
                        " [X Y SPAN]";
    const struct tool tool = tool_start(argc, argv, "j:so:", usage);
    const char *const *p = (const char *const *)tool.paths;
    struct picture picture = {.width = side(p[0])};
    double place[3] = {-0.75, 0, 3}; /* all of it */
    int given = 0;
    picture.height = p[1] != NULL ? side(p[1]) : 0;
    while (given < 3 && p[1] != NULL && p[2 + given] != NULL) {
        place[given] = strtod(p[2 + given], NULL);
        given++;
    }
    if (picture.width == 0 || picture.height == 0 || !(place[2] > 0) ||
        (given != 0 && given != 3)) {
        fprintf(stderr, "usage: %s\n", usage);
        return 2;
    }
    picture.step = place[2] / (double)picture.width;
    picture.x = place[0] - place[2] / 2;
    picture.y = place[1] - picture.step * (double)picture.height / 2;
    picture.grey = tool_need(malloc(picture.width * picture.height));
    picture.tiles =
        ((picture.width - 1) / TILE + 1) * ((picture.height - 1) / TILE + 1);
    picture.show = isatty(STDERR_FILENO);
    const double begin = tool_now();
    const int code = ws_pool_install(tool.pool, paint_all, &picture);
    if (picture.show) {
        fputs("\r      \r", stderr);
    }
    if (tool.stats) {
        fprintf(stderr, "paint_s=%.3f ", tool_now() - begin);
    }
    tool_open_output(&tool);
    printf("P5\n%zu %zu\n255\n", picture.width, picture.height);
    fwrite(picture.grey, 1, picture.width * picture.height, stdout);
    free(picture.grey);
    tool_finish(&tool);
    return code;
}
