#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# run.sh c|cxx shared|static PREFIX LIBDIR C_COMPILER WORK_DIR
#
# Builds and runs the consumer through find_package(wsteal CONFIG).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
language=$1
kind=$2
prefix=$3
compiler=$5
work=$6

rm -rf "$work"
if [ "$language" = cxx ]; then
    CXX=${CXX:-c++}
    if ! command -v "$CXX" > /dev/null; then
        echo "no C++ compiler"
        exit 77
    fi
    set -- -DLANGUAGE=CXX "-DCMAKE_CXX_COMPILER=$CXX"
else
    set -- -DLANGUAGE=C "-DCMAKE_C_COMPILER=$compiler"
fi
cmake -S "$here" -B "$work" -G Ninja "$@" "-DLINK=$kind" \
    "-DCMAKE_PREFIX_PATH=$prefix"
# Another copy of the library in the system must not be what we test.
grep "^wsteal_DIR:PATH=$prefix/" "$work/CMakeCache.txt"
cmake --build "$work"
"$work/consumer"
