#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# demo.sh BINDIR SRCDIR WORKDIR: ws-sort and ws-wc at work on the project's own
# files and on a generated text of 50 MB, with 1 worker and with all.  Compares
# each result with the system's sort and wc, and prints a table.  A row is the
# fastest of RUNS runs (default 3): "work" is the time of the parallel part,
# "total" the time with reading and writing.  DEMO_BYTES sets another size.
# Exit code 0 = all results are right.
set -eu
export LC_ALL=C
bin=$(cd "$1" && pwd)
src=$(cd "$2" && pwd)
mkdir -p "$3"
work=$(cd "$3" && pwd)
runs=${RUNS:-3}
bytes=${DEMO_BYTES:-50000000}
wrong=0

# Random words of 1 to 12 letters in lines of about 60 bytes; the random numbers
# are our own, so that every awk makes the same text.
generate()
{
    awk -v bytes="$bytes" '
    function random(n) {
        state = (state * 16807) % 2147483647
        return state % n
    }
    BEGIN {
        state = 42
        letters = "abcdefghijklmnopqrstuvwxyz"
        for (i = 0; i < 4096; i++) {
            word[i] = ""
            for (n = 1 + random(12); n > 0; n--) {
                word[i] = word[i] substr(letters, 1 + random(26), 1)
            }
        }
        while (bytes > 0) {
            line = word[random(4096)]
            for (n = 3 + random(10); n > 0; n--) {
                line = line " " word[random(4096)]
            }
            print line
            bytes -= length(line) + 1
        }
    }'
}

# What find and wc say of a directory: files, lines, words, bytes.
count()
{
    find "$1" -type f -exec sh -c 'for f; do wc < "$f"; done' sh {} + |
        awk '{ lines += $1; words += $2; bytes += $3 }
             END { printf "%d %.0f %.0f %.0f\n", NR, lines, words, bytes }'
}

# measure PROGRAM INPUT EXPECTED ARGUMENT...: each run adds its statistics to
# a file.  Runs with 1 worker and with all take turns, so that both see the same
# moods of the machine.
measure()
{
    program=$1
    input=$2
    expected=$3
    shift 3
    run=0
    while [ "$run" -lt "$runs" ]; do
        run=$((run + 1))
        for workers in 1 0; do
            check=ok
            "$bin/$program" -s -j "$workers" -o "$work/actual" "$@" \
                2> "$work/stderr" || check=FAILED
            cmp "$expected" "$work/actual" || check=WRONG
            if [ "$check" != ok ]; then
                wrong=$((wrong + 1))
                cat "$work/stderr" >&2
            fi
            echo "program=$program input=$input check=$check" \
                "$(tail -n 1 "$work/stderr")" >> "$work/statistics"
        done
    done
}

# One row for each program, input and number of workers.
print_table()
{
    awk '
    {
        split("", v)
        for (i = 1; i <= NF; i++) {
            at = index($i, "=")
            v[substr($i, 1, at - 1)] = substr($i, at + 1)
        }
        key = v["program"] " " v["input"] " " v["workers"]
        part = "sort_s" in v ? v["sort_s"] : v["walk_s"]
        total = part + v["read_s"] + v["write_s"]
        if (!(key in best)) {
            order[++rows] = key
            check[key] = v["check"]
        } else if (v["check"] != "ok") {
            check[key] = v["check"]
        }
        if (!(key in best) || part < best[key]) {
            best[key] = part
            all[key] = total
            jobs[key] = v["jobs"]
            steals[key] = ""
            for (i = 0; i < v["workers"]; i++) {
                steals[key] = steals[key] (i ? " " : "") v["w" i "_steals"]
            }
        }
    }
    END {
        format = "%-8s %-9s %7s %9s %9s %8s %7s  %-5s  %s\n"
        printf format, "program", "input", "workers", "work", "total", \
            "speed-up", "jobs", "check", "steals of each worker"
        for (i = 1; i <= rows; i++) {
            split(order[i], name, " ")
            one = best[name[1] " " name[2] " 1"]
            printf format, name[1], name[2], name[3], \
                sprintf("%.2f ms", 1000 * best[order[i]]), \
                sprintf("%.2f ms", 1000 * all[order[i]]), \
                (best[order[i]] > 0 ? sprintf("%.2f", one / best[order[i]]) \
                                    : "-"), \
                jobs[order[i]], check[order[i]], steals[order[i]]
        }
    }' "$work/statistics"
}

# Only what this script has made.
rm -rf "$work/own" "$work/generated"
rm -f "$work/statistics"
mkdir -p "$work/own" "$work/generated"
for directory in include src tests examples bench; do
    [ ! -d "$src/$directory" ] || cp -RP "$src/$directory" "$work/own/"
done
echo "generating $bytes bytes of text ..."
generate > "$work/generated/text"

# A word without a printable byte is not one for some versions of wc.
posix=
[ "$(($(printf '\001' | wc -w)))" -eq 0 ] || posix=-p

for input in own generated; do
    echo "running the system's sort and wc on $input ..."
    list=$(find "$work/$input" -type f)
    count "$work/$input" > "$work/count"
    # One word for each line of the list.
    IFS='
'
    set -f
    # shellcheck disable=SC2086
    set -- $list
    set +f
    unset IFS
    sort -- "$@" > "$work/sorted"
    measure ws-sort "$input" "$work/sorted" -- "$@"
    measure ws-wc "$input" "$work/count" ${posix:+"$posix"} -- "$work/$input"
done
echo
print_table
[ "$wrong" -eq 0 ] || exit 1
