#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# compare.sh BUILD_DIR [SAMPLES [N [KIND...]]]
#
# Sorts the same numbers with this library, with rayon and with oneTBB, in
# turns: one process of each for each sample, so that all see the same machine.
# Prints the medians, and the median of the ratios to ours of the same turn.
#
# BUILD_DIR has bench/bench_sort_wsteal (preset gcc).  Peers that are not
# installed are left out: apt-get install rustc cargo librust-rayon-dev
# libtbb-dev g++.  SORT_WORKERS: workers, 2 if not set.
set -eu
export LC_ALL=C
build=$1
samples=${2:-7}
n=${3:-10000000}
[ $# -lt 3 ] || shift
[ $# -lt 2 ] || shift
shift
kinds=${*:-random}
workers=${SORT_WORKERS:-2}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

registry=/usr/share/cargo/registry
if command -v cargo > /dev/null && [ -d "$registry/rayon-1.6.1" ]; then
    mkdir -p "$work/rayon/src" "$work/rayon/.cargo"
    cp "$here/rayon.rs" "$work/rayon/src/main.rs"
    cat > "$work/rayon/Cargo.toml" << END
[package]
name = "rayon-sort"
version = "0.1.0"
edition = "2018"
[dependencies]
rayon = "=1.6.1"
[profile.release]
opt-level = 3
END
    cat > "$work/rayon/.cargo/config.toml" << END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$registry"
END
    (cd "$work/rayon" && cargo build --quiet --release --offline -j 1) &&
        mv "$work/rayon/target/release/rayon-sort" "$work/rayon-sort"
fi
if echo '#include <tbb/parallel_sort.h>' |
    c++ -std=c++17 -E -x c++ - > /dev/null 2>&1; then
    c++ -std=c++17 -O2 "$here/tbb.cpp" -o "$work/tbb" -ltbb
fi

wsteal=$build/bench/bench_sort_wsteal
unstable="wsteal:unstable rayon:unstable tbb:tbb"
stable="wsteal:stable rayon:stable tbb:std_stable"
compare="wsteal:compare wsteal:compare_stable wsteal:qsort"

# turn KIND HOW: prints the milliseconds of one sample.
turn()
{
    case $2 in
    wsteal:*) "$wsteal" "$1" "$n" "$workers" 1 "${2#*:}" ;;
    rayon:*) "$work/rayon-sort" "$1" "$n" "$workers" 1 "${2#*:}" ;;
    tbb:*) "$work/tbb" "$1" "$n" "$workers" 1 "${2#*:}" ;;
    esac
}

echo "n $n, $workers workers, $samples samples, ms"
for kind in $kinds; do
    for group in "$unstable" "$stable" "$compare"; do
        i=0
        while [ "$i" -lt "$samples" ]; do
            for how in $group; do
                case $how in
                rayon:*) [ -x "$work/rayon-sort" ] || continue ;;
                tbb:*) [ -x "$work/tbb" ] || continue ;;
                esac
                time=$(turn "$kind" "$how")
                echo "$i $how $time"
            done
            i=$((i + 1))
        done > "$work/samples"
        # The first of a group is what the others are compared with.
        for how in $group; do
            awk -v how="$how" '
                NR == 1 { first = $2 }
                $2 == first { base = $3 }
                $2 == how { print $3, $3 / base }' "$work/samples" \
                > "$work/one"
            [ -s "$work/one" ] || continue
            middle=$(($(wc -l < "$work/one") / 2 + 1))
            printf '%-10s %-24s median %9.2f  min %9.2f  ratio %5.2f\n' \
                "$kind" "$how" \
                "$(cut -d ' ' -f 1 "$work/one" | sort -n | sed -n "${middle}p")" \
                "$(cut -d ' ' -f 1 "$work/one" | sort -n | sed -n 1p)" \
                "$(cut -d ' ' -f 2 "$work/one" | sort -n | sed -n "${middle}p")"
        done
    done
done
