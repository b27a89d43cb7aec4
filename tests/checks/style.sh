#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# style.sh SOURCE_DIR
#
# What can be checked without a compiler: see the message of each rule below.
set -eu
export LC_ALL=C
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list()
{
    for dir in "$@"; do
        [ ! -d "$dir" ] || find "$dir" -type f -name '*.[ch]' \
            ! -path 'tests/fixtures/*'
    done | sort
}

# rule MESSAGE: standard input lists the violations.  (It runs in a subshell.)
rule()
{
    cat > "$work/found"
    if [ -s "$work/found" ]; then
        cat "$work/found"
        echo "  ^ $1"
        touch "$work/bad"
    fi
}

# The same lines with comments and strings blanked: name:line:text.
code()
{
    awk '
        FNR == 1 { inside = 0 }
        {
            text = $0
            out = ""
            while (text != "") {
                if (inside) {
                    if (!(at = index(text, "*/"))) {
                        break
                    }
                    text = substr(text, at + 2)
                    inside = 0
                } else if (match(text, /\/\*|\/\/|"([^"\\]|\\.)*"/)) {
                    out = out substr(text, 1, RSTART - 1) " "
                    token = substr(text, RSTART, RLENGTH)
                    text = substr(text, RSTART + RLENGTH)
                    if (token == "/*") {
                        inside = 1
                    } else if (token == "//") {
                        break
                    }
                } else {
                    out = out text
                    break
                }
            }
            print FILENAME ":" FNR ":" out
        }' "$@"
}

list include src tests examples bench > "$work/sources"
[ -s "$work/sources" ] || { echo "no sources found"; exit 1; }
find .ci tests examples bench src -type f \
    \( -name '*.sh' -o -name '*.cmake' -o -name '*.awk' -o \
    -name CMakeLists.txt -o -path '.ci/*' \) ! -path 'tests/fixtures/*' \
    > "$work/scripts"
echo CMakeLists.txt >> "$work/scripts"
list include src > "$work/library"
list src > "$work/internal"
list tests > "$work/tests"

# No file name holds a space, so lists of names can be split by the shell.
# shellcheck disable=SC2046
{
    awk 'FNR > 500 { over[FILENAME] = FNR }
        END { for (name in over) print name ": " over[name] " lines" }' \
        $(cat "$work/sources" "$work/scripts") |
        rule "a file has at most 500 lines"

    awk 'FNR <= 2 && /SPDX-License-Identifier: MIT OR Apache-2.0/ {
            has[FILENAME] = 1
        }
        FNR == 1 { names[FILENAME] = 1 }
        END { for (name in names) if (!(name in has)) print name }' \
        $(cat "$work/sources" "$work/scripts") |
        rule "the first lines hold the SPDX line"

    awk 'length($0) > 80 || /\t/ || /[ \t]$/ { print FILENAME ":" FNR ": " $0 }' \
        $(cat "$work/sources") |
        rule "at most 80 columns, no tab, no blank at the end of a line"

    code $(cat "$work/library") |
        grep 'include *<stdatomic' | grep -v '^src/port/atomic\.h:' |
        rule "stdatomic.h belongs to src/port/atomic.h alone"

    code $(list include) | grep -w '_Atomic' |
        rule "no _Atomic in a public header: C++ reads them"

    code $(cat "$work/internal") |
        grep -E '(^|[^_[:alnum:].>])(exit|_exit|_Exit|quick_exit|abort|[fvs]?printf|vfprintf|puts|fputs|perror)[[:space:]]*\(' |
        rule "the library neither ends the program nor prints"

    code $(cat "$work/tests") |
        grep -E '(^|[^_[:alnum:]])u?sleep[[:space:]]*\(' |
        rule "no sleep() in a test: wait for the event itself"
}

# The partner of an atomic access stands beside it: on its lines, or within the
# three lines above.
atomics='wsi_(u32|u64|ptr)_(load|store|exchange|cas|fetch)[a-z_]*[ \t]*\('
# shellcheck disable=SC2046
awk -v pattern="$atomics" '
    function report() { if (open) print where; open = 0 }
    FNR == 1 { report(); inside = 0; last = -9 }
    {
        commented = inside || /\/\*|\/\//
        text = $0
        if (inside) {
            if (!sub(/^.*\*\//, "", text)) {
                last = FNR
                next
            }
            inside = 0
        }
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", text)
        sub(/\/\/.*/, "", text)
        if (sub(/\/\*.*/, "", text)) {
            inside = 1
        }
        if (commented) {
            last = FNR
            open = 0
        }
        if (text ~ pattern) {
            if (FNR - last > 3) {
                report()
                where = FILENAME ":" FNR ": " $0
                open = 1
            }
        }
        # The statement ends here: a comment on its last line was in time.
        if (text ~ /[;{}]/) {
            report()
        }
    }
    END { report() }
' $(grep -v '^src/port/atomic\.h$' "$work/internal") /dev/null |
    rule "an atomic access says which access it pairs with"

[ ! -e "$work/bad" ] || exit 1
echo "$(wc -l < "$work/sources") sources"
