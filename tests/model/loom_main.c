/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loom_main.c: main() of a model test program: command line and report.
 *
 * Exit status: 0 = as expected, 1 = not as expected (a bug was found, or with
 * --expect-bug none was), 2 = usage, or a limit of the simulator.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom.h"

enum {
    MAX_REPLAY = 1 << 15,
    MAX_ARGS = 16
};

static const char usage_text[] =
    "usage: %s [dfs|rand] [options]\n"
    "  --runs N             at most N runs (default 10000000)\n"
    "  --seconds S          at most about S seconds\n"
    "  --bound B            preemptions per run, -1 = no bound (default: dfs "
    "2,\n"
    "                       rand -1)\n"
    "  --lag N              stale reads per run, -1 = no bound (default -1)\n"
    "  --seed S             of a random search (default 1)\n"
    "  --fences asym|seqcst fence mode of the library (default asym)\n"
    "  --steps N            a run of more steps is a livelock (default 20000)\n"
    "  --stale N            reads of one stale store by a thread (default 3)\n"
    "  --spurious N         futex waits per run that may end early (default "
    "0)\n"
    "  --arg N              value for the test's loom_arg(); repeatable\n"
    "  --expect-bug         succeed exactly when a bug is found\n"
    "  --trace              print the operations of the failing run\n"
    "  --replay LIST        repeat one run and print its operations\n";

typedef struct {
    loom_options options;
    bool expect_bug;
    bool trace;
    bool replay;
    int choices[MAX_REPLAY];
    long args[MAX_ARGS];
    unsigned arg_count;
} command_line;

/* Allocated, since globals are restored before each run: the fewer the
 * faster. */
static command_line *cl;

_Noreturn static void usage(const char *program)
{
    fprintf(stderr, usage_text, program);
    exit(2);
}

/* ---- parsing ------------------------------------------------------------- */

static bool parse_long(const char *text, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 0);
    return errno == 0 && end != text && *end == '\0';
}

/* "0:5,1,2" is 0 five times, 1, 2; "-" is the empty list. */
static bool parse_list(const char *text)
{
    int n = 0;
    if (strcmp(text, "-") == 0) {
        text += 1;
    }
    while (*text != '\0') {
        char *end;
        const long value = strtol(text, &end, 10);
        long times = 1;
        if (end == text) {
            return false;
        }
        if (*end == ':') {
            text = end + 1;
            times = strtol(text, &end, 10);
        }
        for (; times > 0; times--) {
            if (n == MAX_REPLAY) {
                return false;
            }
            cl->choices[n++] = (int)value;
        }
        if (*end == ',') {
            end++;
        } else if (*end != '\0') {
            return false;
        }
        text = end;
    }
    cl->options.replay = cl->choices;
    cl->options.replay_length = n;
    cl->options.runs = 1;
    cl->options.trace = true;
    cl->replay = true;
    return true;
}

static bool parse_fences(const char *text)
{
    cl->options.seqcst = strcmp(text, "seqcst") == 0;
    return cl->options.seqcst || strcmp(text, "asym") == 0;
}

static bool parse_number(const char *name, const char *text)
{
    loom_options *o = &cl->options;
    long n;
    if (!parse_long(text, &n)) {
        return false;
    }
    if (strcmp(name, "--runs") == 0) {
        o->runs = n;
        return n > 0;
    }
    if (strcmp(name, "--seconds") == 0) {
        o->seconds = (double)n;
        return n > 0;
    }
    if (strcmp(name, "--bound") == 0) {
        o->bound = (int)n;
        return n >= -1 && n <= 1000;
    }
    if (strcmp(name, "--lag") == 0) {
        o->lag = (int)n;
        return n >= -1 && n <= 1000;
    }
    if (strcmp(name, "--seed") == 0) {
        o->seed = (uint64_t)n;
        return true;
    }
    if (strcmp(name, "--steps") == 0) {
        o->steps = (int)n;
        return n > 0 && n <= 1000000;
    }
    if (strcmp(name, "--stale") == 0) {
        o->stale_reads = (int)n;
        return n >= 0 && n <= 1000;
    }
    if (strcmp(name, "--spurious") == 0) {
        o->spurious = (int)n;
        return n >= 0 && n <= 1000;
    }
    if (strcmp(name, "--arg") == 0 && cl->arg_count < MAX_ARGS) {
        cl->args[cl->arg_count++] = n;
        return true;
    }
    return false;
}

static bool parse_option(const char *name, const char *value)
{
    if (strcmp(name, "--fences") == 0) {
        return parse_fences(value);
    }
    if (strcmp(name, "--replay") == 0) {
        return parse_list(value);
    }
    return parse_number(name, value);
}

static void parse(int argc, char **argv)
{
    bool bound_given = false;
    cl->options = (loom_options)LOOM_OPTIONS_INIT;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "dfs") == 0) {
            cl->options.search = LOOM_DFS;
        } else if (strcmp(name, "rand") == 0) {
            cl->options.search = LOOM_RAND;
        } else if (strcmp(name, "--expect-bug") == 0) {
            cl->expect_bug = true;
        } else if (strcmp(name, "--trace") == 0) {
            cl->trace = true;
        } else {
            bound_given = bound_given || strcmp(name, "--bound") == 0;
            if (i + 1 == argc || !parse_option(name, argv[i + 1])) {
                usage(argv[0]);
            }
            i++;
        }
    }
    if (cl->options.search == LOOM_RAND && !bound_given) {
        cl->options.bound = -1;
    }
}

/* ---- report -------------------------------------------------------------- */

/* The choices of the failing run; trailing zeros need not be said. */
static void print_choices(const int *choice, int count)
{
    while (count > 0 && choice[count - 1] == 0) {
        count--;
    }
    if (count == 0) {
        printf("-");
    }
    for (int i = 0; i < count;) {
        int n = 1;
        while (i + n < count && choice[i + n] == choice[i]) {
            n++;
        }
        printf(n > 1 ? "%s%d:%d" : "%s%d", i > 0 ? "," : "", choice[i], n);
        i += n;
    }
}

static void print_replay(const char *program, const loom_result *result)
{
    const loom_options *o = &cl->options;
    const loom_options d = LOOM_OPTIONS_INIT;
    printf("  replay: %s --fences %s --bound %d", program,
           o->seqcst ? "seqcst" : "asym", o->bound);
    if (o->lag != d.lag) {
        printf(" --lag %d", o->lag);
    }
    if (o->steps != d.steps) {
        printf(" --steps %d", o->steps);
    }
    if (o->stale_reads != d.stale_reads) {
        printf(" --stale %d", o->stale_reads);
    }
    if (o->spurious != d.spurious) {
        printf(" --spurious %d", o->spurious);
    }
    for (unsigned i = 0; i < cl->arg_count; i++) {
        printf(" --arg %ld", cl->args[i]);
    }
    printf(" --replay ");
    print_choices(result->choices, result->choice_count);
    printf("\n");
}

static void print_place(const char *label, const loom_place *place)
{
    char text[256];
    if (place->site[0] != 0) {
        loom_describe(place, text, sizeof text);
        printf("  %s: %s\n", label, text);
    }
}

static int report(const char *program, const loom_result *r)
{
    switch (r->verdict) {
    case LOOM_PASS:
        printf("PASS runs=%ld (%s) %.2fs%s\n", r->runs,
               r->exhausted ? "exhausted" : "bounded", r->seconds,
               cl->expect_bug ? ", but a bug was expected" : "");
        return cl->expect_bug ? 1 : 0;
    case LOOM_FOUND:
        printf("FOUND %s runs=%ld %.2fs%s\n", r->what, r->runs, r->seconds,
               cl->expect_bug ? ", as expected" : "");
        if (!cl->replay) {
            print_replay(program, r);
        }
        print_place("place", &r->where);
        print_place("conflicts with", &r->conflict);
        return cl->expect_bug ? 0 : 1;
    default:
        printf("ERROR %s runs=%ld %.2fs\n", r->what, r->runs, r->seconds);
        return 2;
    }
}

/* Repeats the failing run with its trace. */
static void trace_again(const loom_result *r)
{
    loom_options options = cl->options;
    loom_result again;
    options.replay = cl->choices;
    options.replay_length = r->choice_count;
    options.trace = true;
    memcpy(cl->choices, r->choices,
           (size_t)r->choice_count * sizeof cl->choices[0]);
    loom_explore(&options, model_main, &again);
    loom_print_trace();
}

int main(int argc, char **argv)
{
    loom_result result;
    cl = calloc(1, sizeof *cl);
    if (cl == NULL) {
        perror(argv[0]);
        return 2;
    }
    parse(argc, argv);
    loom_set_args(cl->args, cl->arg_count);
    loom_explore(&cl->options, model_main, &result);
    const int status = report(argv[0], &result);
    if (cl->replay) {
        loom_print_trace();
    } else if (cl->trace && result.verdict == LOOM_FOUND) {
        trace_again(&result);
    }
    return status;
}
