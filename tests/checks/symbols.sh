#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# symbols.sh SOURCE_DIR SHARED_LIBRARY STATIC_LIBRARY
#
# The exported symbols are exactly those of symbols.txt, which are exactly the
# functions that the public headers declare; and every global symbol of the
# static library starts with ws_ or wsi_.  To accept a change of the headers:
#
#     sh tests/checks/symbols.sh --print . > tests/checks/symbols.txt
set -eu
export LC_ALL=C

declared()
{
    awk -f "$1/tests/checks/public_symbols.awk" "$1"/include/*.h \
        "$1"/include/wsteal/*.h | cut -f 2 | sort
}

if [ "$1" = "--print" ]; then
    declared "$2"
    exit 0
fi

source_dir=$1
shared=$2
static=$3
NM=${NM:-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# Symbols that a compiler, a linker or a sanitizer adds.
added='^(_init|_fini|_edata|_end|__bss_start|_*(asan|odr_asan|tsan|ubsan|sancov|gcov|llvm).*)$'

compare()
{
    if ! diff "$1" "$2" > "$work/diff"; then
        echo "$3"
        grep '^[<>]' "$work/diff"
        bad=1
    fi
}

sort "$source_dir/tests/checks/symbols.txt" > "$work/list"
declared "$source_dir" > "$work/declared"
"$NM" -D --defined-only "$shared" > "$work/nm"
awk '{ sub(/@.*/, "", $NF); print $NF }' "$work/nm" | grep -Ev "$added" |
    sort > "$work/exported" || true
[ -s "$work/list" ] || { echo "symbols.txt is empty"; exit 1; }

compare "$work/list" "$work/declared" \
    "symbols.txt (<) and the headers' WS_API functions (>) differ:"
compare "$work/list" "$work/exported" \
    "symbols.txt (<) and what the shared library exports (>) differ:"

"$NM" -g --defined-only "$static" > "$work/nm"
awk 'NF == 3 { print $3 }' "$work/nm" | grep -Ev "$added" |
    sort -u > "$work/global" || true
[ -s "$work/global" ] || { echo "the static library is empty"; exit 1; }
if grep -Ev '^wsi?_' "$work/global"; then
    echo "These global symbols start with neither ws_ nor wsi_."
    bad=1
fi
# ws_ is for the public names only.
grep '^ws_' "$work/global" > "$work/public" || true
compare "$work/list" "$work/public" \
    "symbols.txt (<) and the ws_ symbols of the static library (>) differ:"

[ "$bad" -eq 0 ] && echo "$(wc -l < "$work/list") exported symbols"
exit "$bad"
