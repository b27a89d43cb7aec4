#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# snippets.sh SOURCE_DIR STATIC_LIBRARY COMPILER [FLAG...]
#
# Every complete program in README.md (a block marked c) and in the public
# headers (@code) compiles without a warning, runs, and ends with 0.
set -eu
source_dir=$1
library=$2
compiler=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each block becomes $work/README.1.c, $work/wsteal.h.1.c, ...
awk -v out="$work/README" '
    /^```c$/ { on = 1; count++; next }
    /^```$/ { on = 0 }
    on { print > (out "." count ".c") }' "$source_dir/README.md"
for header in "$source_dir"/include/*.h "$source_dir"/include/wsteal/*.h; do
    awk -v out="$work/${header##*/}" '
        /^ \* @code$/ { on = 1; count++; next }
        /^ \* @endcode$/ { on = 0 }
        on { sub(/^ \* ?/, ""); print > (out "." count ".c") }' "$header"
done

for name in README wsteal.h; do
    if ! grep -q 'int main' "$work/$name".*.c 2> /dev/null; then
        echo "$name: no program found"
        exit 1
    fi
done
for file in "$work"/*.c; do
    grep -q "int main" "$file" || continue
    echo "== ${file##*/}"
    "$compiler" -std=c11 -Wall -Wextra -Werror "$@" \
        -I "$source_dir/include" -o "$work/program" "$file" \
        "$library" -pthread
    "$work/program"
done
