#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# check.sh NAME BINDIR SRCDIR WORKDIR: checks what the example NAME prints
# against the system's own tools.  ctest runs it once for each example.
# Exit code 0 = as expected.
set -u
export LC_ALL=C
name=$1
bin=$2
src=$3
work=$4
failures=0

fail()
{
    echo "FAILED: $*" | cut -c 1-500 >&2
    failures=$((failures + 1))
}

# expect CODE COMMAND...: the command ends with this code.
expect()
{
    expected=$1
    shift
    "$@" > "$work/stdout" 2> "$work/stderr"
    code=$?
    [ "$code" -eq "$expected" ] || {
        fail "exit code $code, not $expected: $*"
        head -n 20 "$work/stdout" "$work/stderr" >&2
    }
}

# expect_text TEXT COMMAND...: it ends with 0 and prints exactly this line.
expect_text()
{
    text=$1
    shift
    expect 0 "$@"
    [ "$(cat "$work/stdout")" = "$text" ] ||
        fail "printed '$(cat "$work/stdout")', not '$text': $*"
}

# generate LINES: text of random words, the same each time.
generate()
{
    awk -v lines="$1" '
    function random(n) {
        state = (state * 16807) % 2147483647
        return state % n
    }
    BEGIN {
        state = 42
        while (lines-- > 0) {
            line = ""
            for (n = random(8); n > 0; n--) {
                line = line substr("abcdefghijklmnop", 1 + random(9), \
                                   1 + random(8)) (random(9) ? " " : "")
            }
            print line
        }
    }'
}

make_inputs()
{
    mkdir -p "$work/in/sub directory/deep"
    cd "$work/in" || exit 1
    : > empty
    printf '\n' > newline
    printf 'b\na\nc' > no-newline
    printf 'a\000b\na\na\000\n\na\000\000\nab\n\000\n' > nul
    printf 'abcdefgh\nabcdefg\nabcdefghi\nabcdefgh\000\nabcdefgha\n' > prefix
    printf '\377\n\200a\n\177\n\001\n \001 \001 a\001\n\303\251\n' > bytes
    awk 'BEGIN { for (i = 0; i < 20000; i++) print i % 7 }' > duplicates
    awk 'BEGIN { for (s = "x"; length(s) < 300000;) { s = s s; print s } }' \
        > long
    awk 'BEGIN { for (i = 100000; i < 130000; i++) print i }' > ascending
    awk 'BEGIN { for (i = 130000; i > 100000; i--) print i }' > descending
    generate 100000 > random
    cp "$bin/$name" "sub directory/binary"
    head -c 3000000 /dev/zero > "sub directory/deep/zeros"
    awk 'BEGIN { for (s = "0123456789"; length(s) < 2500000;) s = s s
                 printf "%s", s }' > "sub directory/deep/one word"
    # A word begins at each border between two pieces of a file.
    awk 'BEGIN { for (s = "a\n"; length(s) < 2500000;) s = s s
                 printf "%s", s }' > "sub directory/deep/short words"
    # The project's own files; a copy, since a build may be at work there.
    mkdir -p own
    for directory in include src tests examples bench; do
        [ ! -d "$src/$directory" ] || cp -RP "$src/$directory" own/
    done
}

check_fib()
{
    expect_text 'fib(0) = 0' "$bin/fib" 0
    expect_text 'fib(1) = 1' "$bin/fib" 1
    expect_text 'fib(25) = 75025' "$bin/fib" 25
    expect_text 'fib(30) = 832040' "$bin/fib"
    WSTEAL_NUM_THREADS=1 expect_text 'fib(20) = 6765' "$bin/fib" 20
    WSTEAL_NUM_THREADS=5 expect_text 'fib(20) = 6765' "$bin/fib" 20
    expect 2 "$bin/fib" many
    expect 2 "$bin/fib" 61
}

# check_sort FILE...: with 1 worker, as many as CPUs, and more.
check_sort()
{
    sort -- "$@" > "$work/expected"
    for workers in 1 0 5; do
        expect 0 "$bin/ws-sort" -j "$workers" -o "$work/actual" -- "$@"
        cmp "$work/expected" "$work/actual" ||
            fail "ws-sort -j $workers differs from sort: $*"
    done
}

check_ws_sort()
{
    make_inputs
    for file in *; do
        [ -d "$file" ] || check_sort "$file"
    done
    check_sort "sub directory/binary"
    check_sort no-newline empty nul no-newline long random bytes
    list=$(find own -type f)
    IFS='
'
    set -f
    # shellcheck disable=SC2086 # one word for each line of the list
    check_sort $list
    set +f
    unset IFS
    sort random > "$work/expected"
    expect 0 "$bin/ws-sort" -s -o random random
    cmp "$work/expected" random || fail 'OUT is one of the files'
    grep -q 'sort_s=.*w0_jobs=.*workers=.*steals=' "$work/stderr" ||
        fail "ws-sort -s prints: $(cat "$work/stderr")"
    expect 2 "$bin/ws-sort"
    expect 2 "$bin/ws-sort" -j none random
    expect 2 "$bin/ws-sort" -j 100000 random
    expect 2 "$bin/ws-sort" random missing
    expect 2 "$bin/ws-sort" .
}

# What wc says of each file, summed up.
count()
{
    find "$@" -type f -exec sh -c 'for f; do wc < "$f"; done' sh {} + |
        awk '{ lines += $1; words += $2; bytes += $3 }
             END { printf "%d %.0f %.0f %.0f\n", NR, lines, words, bytes }'
}

check_wc()
{
    expected_counts=$(count "$@")
    for workers in 1 0 5; do
        expect_text "$expected_counts" \
            "$bin/ws-wc" ${posix:+"$posix"} -j "$workers" "$@"
    done
}

check_ws_wc()
{
    make_inputs
    ln -s . loop
    ln -s random link
    ln -s nowhere dangling
    mkfifo fifo
    : > 'new
line'
    # Words without a printable byte: see ws-wc.c.
    posix=
    [ "$(($(printf '\001' | wc -w)))" -eq 0 ] || posix=-p
    printf '\001 a \377\n' > "$work/word"
    expect_text '1 1 1 6' "$bin/ws-wc" "$work/word"
    expect_text '1 1 3 6' "$bin/ws-wc" -p "$work/word"
    check_wc .
    check_wc . "sub directory" empty long random loop fifo
    check_wc loop/ "sub directory/deep"
    check_wc own
    # An error has a code, and the rest is counted all the same.
    expect 1 "$bin/ws-wc" ${posix:+"$posix"} missing .
    [ "$(cat "$work/stdout")" = "$(count .)" ] || fail 'counts after an error'
    grep -q missing "$work/stderr" || fail 'the error is not reported'
    expect 2 "$bin/ws-wc"
}

# Greys in a PGM picture: how many are 0, and how many there are.
greys()
{
    tail -c "$2" "$1" | od -An -v -tu1 |
        awk '{ for (i = 1; i <= NF; i++) { n++; zero += $i == 0 } }
             END { print zero, n }'
}

check_mandelbrot()
{
    expect 0 "$bin/mandelbrot" -j 1 -o "$work/expected" 300 200
    [ "$(head -n 2 "$work/expected" | tail -n 1)" = '300 200' ] ||
        fail 'the picture has no size'
    # 1.5066 is the area of the set, 9 / 1.5 that of the picture.
    greys "$work/expected" 60000 | awk '{ area = $1 / $2 * 6
        exit !($2 == 60000 && area > 1.48 && area < 1.55) }' ||
        fail "the area is wrong: $(greys "$work/expected" 60000)"
    for workers in 0 2 5; do
        expect 0 "$bin/mandelbrot" -s -j "$workers" -o "$work/actual" 300 200
        cmp "$work/expected" "$work/actual" ||
            fail "the picture differs with -j $workers"
        grep -q 'paint_s=.*workers=' "$work/stderr" || fail 'no statistics'
    done
    expect 0 "$bin/mandelbrot" -o "$work/actual" -- 1 1 -0.7436 0.1318 0.001
    expect 2 "$bin/mandelbrot" 0 10
    expect 2 "$bin/mandelbrot" 10
    expect 2 "$bin/mandelbrot" 10 10 0
}

check_foreign()
{
    expect 0 "$bin/foreign"
    grep -q '400 sums, 400 detached jobs, 0 failures' "$work/stdout" ||
        fail "foreign printed: $(cat "$work/stdout")"
    WSTEAL_NUM_THREADS=1 expect 0 "$bin/foreign"
    WSTEAL_NUM_THREADS=5 expect 0 "$bin/foreign"
}

check_cube2x2()
{
    printf '%s\n' ' 0        1' ' 1        9' ' 2       54' ' 3      321' \
        ' 4     1847' ' 5     9992' ' 6    50136' ' 7   227536' \
        ' 8   870072' ' 9  1887748' '10   623800' '11     2644' \
        > "$work/expected"
    for how in '--workers 2' '--workers 1 --runs 2' '--workers 5' --serial; do
        # shellcheck disable=SC2086 # several arguments
        expect 0 "$bin/cube2x2" $how
        cmp "$work/expected" "$work/stdout" || fail "cube2x2 $how"
    done
    for how in '--search --workers 2' '--search --workers 5' \
        '--search --serial' '--per-state --workers 2'; do
        # shellcheck disable=SC2086
        expect_text '3674160 states' "$bin/cube2x2" $how
    done
    expect 2 "$bin/cube2x2" --workers
}

check_grep_tree()
{
    make_inputs
    # As in a tree, no link is followed.
    ln -s . loop
    ln -s random link
    mkfifo fifo
    printf 'no such word as xyzzy\nxyzzy' > "sub directory/xyzzy"
    for string in abc xyzzy int 'a b' 0123456789 x; do
        grep -rnaF -e "$string" . | sort > "$work/expected"
        for how in '' '-j 1' '-j 5' -u; do
            # shellcheck disable=SC2086
            expect 0 "$bin/grep-tree" $how "$string" .
            sort "$work/stdout" > "$work/sorted"
            cmp "$work/expected" "$work/sorted" ||
                fail "grep-tree $how '$string' differs from grep"
        done
        expect 0 "$bin/grep-tree" -q "$string" .
        [ ! -s "$work/stdout" ] || fail 'grep-tree -q prints'
    done
    "$bin/grep-tree" int own > "$work/first"
    expect 0 "$bin/grep-tree" -j 5 int own
    cmp "$work/first" "$work/stdout" || fail 'the order differs'
    expect 1 "$bin/grep-tree" 'no such''  word' .
    expect 2 "$bin/grep-tree" xyzzy . missing
    grep -q missing "$work/stderr" || fail 'the error is not reported'
    expect 2 "$bin/grep-tree" xyzzy
}

# Components by repeated lowering of labels.
components_by_awk()
{
    awk '{
        if (!($1 in label)) label[$1] = $1
        if (!($2 in label)) label[$2] = $2
        from[NR] = $1; to[NR] = $2
    }
    END {
        for (changed = 1; changed;) {
            changed = 0
            for (i = 1; i <= NR; i++) {
                a = label[from[i]]; b = label[to[i]]
                if (a < b) { label[to[i]] = a; changed = 1 }
                if (b < a) { label[from[i]] = b; changed = 1 }
            }
        }
        for (v in label) { size[label[v]]++; vertices++ }
        for (l in size) { count[size[l]]++; n++ }
        printf "%d vertices, %d edges, %d components\n", vertices, NR, n
        fflush()
        for (s in count) print count[s] " of size " s | "sort -k 4,4nr"
    }' "$1"
}

check_components()
{
    cd "$work" || exit 1
    for graph in '10 3 1' '100 60 2' '2000 1200 3' '5000 9000 4'; do
        # shellcheck disable=SC2086
        "$bin/components" --random $graph --print > edges
        components_by_awk edges > expected
        for workers in 1 2 5; do
            # shellcheck disable=SC2086
            expect 0 "$bin/components" -j "$workers" --random $graph
            cmp expected stdout || fail "components --random $graph"
            expect 0 "$bin/components" -j "$workers" edges
            cmp expected stdout || fail "components, from a file, $graph"
        done
    done
    printf '# chain\n1 2\n\n2 3\n 7 7 \n' > edges
    printf '%s\n' '4 vertices, 3 edges, 2 components' '1 of size 3' \
        '1 of size 1' > expected
    expect 0 "$bin/components" edges
    cmp expected stdout || fail 'components of a small file'
    "$bin/components" - < edges | cmp - expected || fail 'standard input'
    : > edges
    expect_text '0 vertices, 0 edges, 0 components' "$bin/components" edges
    printf '1 x\n' > edges
    expect 2 "$bin/components" edges
    expect 2 "$bin/components" missing
    expect 2 "$bin/components" --random 0 1 1
    "$bin/components" -j 1 --random 1000000 1000000 5 > expected
    expect 0 "$bin/components" -j 5 --random 1000000 1000000 5
    cmp expected stdout || fail 'a large graph differs between runs'
}

# check_round_trip FILE...: packed and unpacked by 1 worker, as many as CPUs,
# and more; what is packed does not depend on that.
check_round_trip()
{
    for file in "$@"; do
        expect 0 "$bin/compress-pipe" -j 1 -o "$work/expected" "$file"
        for workers in 1 0 5; do
            expect 0 "$bin/compress-pipe" -j "$workers" -o "$work/packed" \
                "$file"
            cmp "$work/expected" "$work/packed" ||
                fail "compress-pipe -j $workers packs $file differently"
            expect 0 "$bin/compress-pipe" -j "$workers" -d \
                -o "$work/actual" "$work/packed"
            cmp "$file" "$work/actual" ||
                fail "compress-pipe -j $workers does not give $file back"
        done
    done
}

check_compress_pipe()
{
    make_inputs
    for file in * "sub directory"/* "sub directory/deep"/*; do
        [ -d "$file" ] || check_round_trip "$file"
    done
    # The project's own files, which can be packed.
    find own -type f -exec cat {} + > sources
    check_round_trip sources
    [ "$(wc -c < "$work/packed")" -lt "$(($(wc -c < sources) / 2))" ] ||
        fail "$(wc -c < sources) bytes of text are packed to" \
            "$(wc -c < "$work/packed")"
    expect 0 "$bin/compress-pipe" -s -o "$work/packed" sources
    grep -q 'pipe_s=.*in=.*out=.*w0_jobs=.*steals=' "$work/stderr" ||
        fail "compress-pipe -s prints: $(cat "$work/stderr")"
    # Damaged: cut, and with bytes that are others.
    for bytes in 0 3 5 20 1000 300000; do
        head -c "$bytes" "$work/packed" > part
        expect 1 "$bin/compress-pipe" -d -o "$work/actual" part
    done
    for at in 1 5 9 17 1000 300000; do
        { head -c "$at" "$work/packed" && printf '\245\132' &&
            tail -c "+$((at + 3))" "$work/packed"; } > changed
        cmp -s "$work/packed" changed ||
            expect 1 "$bin/compress-pipe" -d -o "$work/actual" changed
    done
    expect 1 "$bin/compress-pipe" -d -o "$work/actual" sources
    expect 2 "$bin/compress-pipe"
    expect 2 "$bin/compress-pipe" missing
    expect 2 "$bin/compress-pipe" -j none sources
}

rm -rf "$work/in"
mkdir -p "$work" || exit 1
# Absolute, since some checks change the directory.
bin=$(cd "$bin" && pwd) && src=$(cd "$src" && pwd) &&
    work=$(cd "$work" && pwd) || exit 1
case $name in
fib) check_fib ;;
ws-sort) check_ws_sort ;;
ws-wc) check_ws_wc ;;
foreign) check_foreign ;;
mandelbrot) check_mandelbrot ;;
cube2x2) check_cube2x2 ;;
grep-tree) check_grep_tree ;;
components) check_components ;;
compress-pipe) check_compress_pipe ;;
*) fail "no check for the example '$name'" ;;
esac
[ "$failures" -eq 0 ] || exit 1
echo "$name: ok"
