#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# static.sh SOURCE_DIR
#
# gcc's analyzer, cppcheck and clang-tidy have nothing to say about src/.  A
# tool that is not installed is left out; without any the check is skipped (77).
# With WS_TEST_SCALE=deep clang's analyzer runs as well, which takes minutes.
set -eu
cd "$1"
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ran=''

has()
{
    if command -v "$1" > /dev/null; then
        ran="$ran $1"
        return 0
    fi
    return 1
}

# A planted fault that each of them must see.
cat > "$work/planted.c" << 'END'
#include <stdlib.h>
int *planted(int n);
int *planted(int n)
{
    int *p = malloc(sizeof(*p) * 4);
    if (p == NULL) {
        return NULL;
    }
    free(p);
    p[0] = n;
    return p;
}
END

if has gcc; then
    for file in src/*/*.c; do
        gcc -std=c11 -O2 -Wall -Wextra -fanalyzer -Iinclude -Isrc -c "$file" \
            -o /dev/null 2>> "$work/gcc"
    done
    if [ -s "$work/gcc" ]; then
        cat "$work/gcc"
        exit 1
    fi
    if gcc -std=c11 -O2 -fanalyzer -Werror -c "$work/planted.c" -o /dev/null \
        2> /dev/null; then
        echo "gcc -fanalyzer does not see the planted fault"
        exit 1
    fi
fi

if has cppcheck; then
    set -- --enable=warning,performance,portability --inline-suppr --std=c11 \
        --error-exitcode=1 --suppress=missingInclude \
        --suppress=toomanyconfigs --quiet
    cppcheck "$@" -Iinclude -Isrc src
    if cppcheck "$@" "$work/planted.c" 2> /dev/null; then
        echo "cppcheck does not see the planted fault"
        exit 1
    fi
fi

if has clang-tidy; then
    quick='-clang-analyzer-*'
    [ "${WS_TEST_SCALE:-}" != deep ] || quick=''
    cp .clang-tidy "$work"
    for file in src/*/*.c; do
        # It counts warnings of system headers on the standard error.
        clang-tidy --quiet --checks="$quick" "$file" -- -std=c11 -Iinclude \
            -Isrc 2> /dev/null
    done
    if clang-tidy --quiet "$work/planted.c" -- -std=c11 > /dev/null 2>&1; then
        echo "clang-tidy does not see the planted fault"
        exit 1
    fi
fi

[ -n "$ran" ] || exit 77
echo "nothing found by$ran"
