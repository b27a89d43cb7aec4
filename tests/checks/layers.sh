#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# layers.sh SOURCE_DIR
#
# port < queue < core < api < par: no #include runs upward.
#  - In src every quoted include names its layer ("queue/deque.h") and exists.
#  - api files include no header of api but their own and api/internal.h.
#  - par uses the public headers and its own only, and for atomics
#    port/atomic.h and port/compiler.h.
#  - Public headers include public and standard headers only.
#  - Examples and benchmarks use public headers only; of the tests, only a unit
#    test (tests/test_*.c) and the model checks see internal headers.
#  - File names are unique, so that a name says which file.
set -eu
export LC_ALL=C
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# file:line:include-target, target with its quotes or angle brackets.
includes()
{
    for dir in "$@"; do
        [ ! -d "$dir" ] || find "$dir" -type f -name '*.[ch]' -exec awk '
            /^[ \t]*#[ \t]*include/ {
                sub(/^[ \t]*#[ \t]*include[ \t]*/, "")
                sub(/[">][^">]*$/, "&")
                match($0, /^("[^"]*"|<[^>]*>|.*)/)
                print FILENAME ":" FNR ":" substr($0, RSTART, RLENGTH)
            }' {} +
    done
}

includes src include examples bench tests > "$work/includes"
[ -s "$work/includes" ] || { echo "no includes found"; exit 1; }

awk -F: '
    function fail(why) { print $1 ":" $2 ": " $3 ": " why; bad = 1 }
    BEGIN {
        rank["port"] = 1; rank["queue"] = 2; rank["core"] = 3
        rank["api"] = 4; rank["par"] = 5
    }
    {
        quoted = $3 ~ /^"/
        public = $3 ~ /^<wsteal(\.h|\/)/
        path = substr($3, 2, length($3) - 2)
        split(path, to, "/")
        split($1, from, "/")
        area = from[1]
        base = from[split($1, from, "/")]
        sub(/\.[ch]$/, "", base)
    }
    path ~ /\.c$/ { fail("a source is not a header") }
    area == "include" && quoted { fail("public headers use <wsteal/...>") }
    area == "src" && quoted {
        mine = from[2]
        if (!(mine in rank)) {
            fail("the file is in no layer")
        } else if (!(to[1] in rank)) {
            fail("name the layer: port, queue, core, api or par")
        } else if (rank[to[1]] > rank[mine]) {
            fail("runs upward from " mine)
        } else if (mine == "par" && to[1] != "par" &&
                   path !~ /^port\/(atomic|compiler)\.h$/) {
            fail("par is written on the public API")
        } else if (mine == "api" && to[1] == "api" &&
                   to[2] != base ".h" && to[2] != "internal.h") {
            fail("api files do not include each other")
        }
        if (system("test -f \"src/" path "\"") != 0) {
            fail("no such file in src")
        }
    }
    (area == "examples" || area == "bench") && (to[1] in rank) {
        fail("public headers only")
    }
    area == "tests" && (to[1] in rank) &&
    $1 !~ /^tests\/(test_[^\/]*\.c|model\/.*|support\/.*)$/ {
        fail("public headers only")
    }
    public && system("test -f \"include/" path "\"") != 0 {
        fail("no such public header")
    }
    END { exit bad }
' "$work/includes" || touch "$work/bad"

# Programs of bench/<workload>/ and tests/consumer/ share names by design.
find src include examples tests -type f -name '*.[ch]' \
    ! -path 'tests/consumer/*' ! -path 'tests/fixtures/*' > "$work/files"
sed 's,.*/,,' "$work/files" | sort | uniq -d > "$work/twice"
while read -r name; do
    # src/queue/deque.h is the inside of include/wsteal/deque.h.
    if grep "/$name\$" "$work/files" | grep -v '^include/' | sed 's,.*/,,' |
        sort | uniq -d | grep -q .; then
        echo "more than one file is named $name:"
        grep "/$name\$" "$work/files"
        touch "$work/bad"
    fi
done < "$work/twice"

[ ! -e "$work/bad" ] || exit 1
echo "$(wc -l < "$work/includes") includes, $(wc -l < "$work/files") files"
