/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * litmus.c: does the mini-loom itself tell right from wrong?
 *
 * Small programs with a known verdict, in litmus_orders.c and litmus_faults.c.
 * Each checks that a certain outcome does not occur; the table says whether it
 * does, that is, whether the search must find it.  A checker that reports too
 * little is as wrong as one that reports too much.
 *
 * usage: litmus [part of a name]
 */
#include <stdio.h>
#include <string.h>

#include "litmus.h"

int x;
int y;
int r1;
int r2;
int r3;
int r4;
int data;
uint8_t bytes[4];
int *pointer;

void run(thread_fn a, thread_fn b, thread_fn c, thread_fn d)
{
    const thread_fn function[] = {a, b, c, d};
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        if (function[i] != NULL) {
            pthread_create(&thread[i], NULL, function[i], NULL);
        }
    }
    for (int i = 0; i < 4; i++) {
        if (function[i] != NULL) {
            pthread_join(thread[i], NULL);
        }
    }
}

static const char *const verdicts[] = {"absent", "found", "error"};

/* Both searches; true when both have the right verdict. */
static bool check(const litmus *l, loom_search search)
{
    loom_options options = LOOM_OPTIONS_INIT;
    loom_result r;
    options.search = search;
    options.seqcst = l->seqcst;
    if (search == LOOM_RAND) {
        options.runs = l->verdict == LOOM_PASS ? 3000 : 300000;
        options.bound = -1;
    }
    loom_explore(&options, l->body, &r);
    const bool right =
        r.verdict == l->verdict &&
        (l->what == NULL || strstr(r.what, l->what) != NULL) &&
        (r.verdict != LOOM_PASS || search == LOOM_RAND || r.exhausted);
    printf("%-4s %-4s %-34s %-6s %7ld runs %.2fs%s%s\n", right ? "ok" : "BAD",
           search == LOOM_DFS ? "dfs" : "rand", l->name, verdicts[r.verdict],
           r.runs, r.seconds, r.what[0] != '\0' ? "  " : "", r.what);
    return right;
}

static void check_all(const litmus *list, const char *filter, unsigned *done,
                      unsigned *bad)
{
    for (; list->name != NULL; list++) {
        if (strstr(list->name, filter) != NULL) {
            *bad += !check(list, LOOM_DFS);
            *bad += !check(list, LOOM_RAND);
            ++*done;
        }
    }
}

int main(int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : "";
    unsigned done = 0;
    unsigned bad = 0;
    check_all(litmus_orders, filter, &done, &bad);
    check_all(litmus_faults, filter, &done, &bad);
    printf("%u cases, %u wrong verdicts\n", done, bad);
    return bad > 0 || done == 0;
}
