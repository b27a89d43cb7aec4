#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# run.sh c|cxx shared|static PREFIX LIBDIR C_COMPILER WORK_DIR
#
# Builds and runs the consumer with the flags that pkg-config gives.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
language=$1
kind=$2
libdir=$3/$4
compiler=$5
work=$6

PKG_CONFIG=${PKG_CONFIG:-pkg-config}
if ! command -v "$PKG_CONFIG" > /dev/null; then
    echo "no pkg-config"
    exit 77
fi
rm -rf "$work"
mkdir -p "$work"
if [ "$language" = cxx ]; then
    compiler=${CXX:-c++}
    if ! command -v "$compiler" > /dev/null; then
        echo "no C++ compiler"
        exit 77
    fi
    cp "$here/../consumer.c" "$work/consumer.cpp"
    set -- -std=c++17 "$work/consumer.cpp"
else
    set -- -std=c11 "$here/../consumer.c"
fi

export PKG_CONFIG_PATH="$libdir/pkgconfig"
"$PKG_CONFIG" --print-errors --exists wsteal
cflags=$("$PKG_CONFIG" --cflags wsteal)
if [ "$kind" = static ]; then
    libs="-static $("$PKG_CONFIG" --static --libs wsteal)"
    case $libs in
    *-pthread*) ;;
    *)
        echo "wsteal.pc: static linking needs -pthread"
        exit 1
        ;;
    esac
else
    libs=$("$PKG_CONFIG" --libs wsteal)
    export LD_LIBRARY_PATH="$libdir"
fi

# pkg-config prints words to be split.
# shellcheck disable=SC2086
"$compiler" -Wall -Wextra -Wpedantic -Werror $cflags -o "$work/consumer" \
    "$@" $libs
"$work/consumer"
