#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# run.sh ARCH [CTEST_ARGUMENT...]
#
# Builds the library and its unit tests for another architecture, with Debian's
# cross compilers, and runs them under qemu-user (i386 and musl: natively).
#
# ARCH: aarch64 armhf riscv64 ppc64el s390x i386 musl.  Installs what it needs
# (Debian).  cmocka is built from Debian's source package, since it is not
# packaged for all of them.  What is built is in build/cross/ARCH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
arch=${1:?which architecture?}
shift
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

case $arch in
aarch64 | riscv64 | s390x) triple=$arch-linux-gnu ;;
armhf) triple=arm-linux-gnueabihf ;;
ppc64el) triple=powerpc64le-linux-gnu ;;
i386) triple=i686-linux-gnu ;;
musl) triple=musl ;;
*)
    echo "run.sh: no such architecture: $arch" >&2
    exit 2
    ;;
esac
case $arch in
musl) packages=musl-tools compiler=musl-gcc ;;
ppc64el) packages="gcc-powerpc64le-linux-gnu qemu-user" compiler=$triple-gcc ;;
i386) packages=gcc-i686-linux-gnu compiler=$triple-gcc ;;
*) packages="gcc-$triple qemu-user" compiler=$triple-gcc ;;
esac

as_root()
{
    if [ "$(id -u)" -ne 0 ]; then
        sudo "$@"
    else
        "$@"
    fi
}

# ---- compilers and cmocka --------------------------------------------------

# shellcheck disable=SC2086
command -v "$compiler" > /dev/null ||
    as_root apt-get install -y --no-install-recommends \
        $packages dpkg-dev ninja-build
if [ "$arch" != musl ] && [ ! -e "/usr/$triple/include/stdlib.h" ]; then
    as_root apt-get install -y --no-install-recommends \
        "libc6-dev-$(dpkg-architecture -t"$triple" -qDEB_TARGET_ARCH)-cross"
fi
# What runs a 32-bit program here.
if [ "$arch" = i386 ] && [ ! -e /lib/ld-linux.so.2 ]; then
    as_root apt-get install -y --no-install-recommends libc6-i386 lib32gcc-s1
fi

work=$root/build/cross
sysroot=$work/$arch/sysroot
mkdir -p "$work/source/lists" "$sysroot/include" "$sysroot/lib"

# The same mirrors as this machine's, asked for sources.
fetch_cmocka()
{
    cd "$work/source"
    [ ! -d cmocka ] || return 0
    cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources \
        2> /dev/null | sed 's/^Types: deb$/Types: deb-src/' > debian.sources
    grep -q deb-src debian.sources ||
        sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > debian.sources
    case $(head -n 1 debian.sources) in
    "deb-src "*) mv debian.sources sources.list && list=sources.list ;;
    *) list=debian.sources ;;
    esac
    set -- -o "Dir::Etc::sourcelist=$PWD/$list" -o Dir::Etc::sourceparts=- \
        -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root
    apt-get "$@" -qq update
    apt-get "$@" -qq source --download-only cmocka
    mkdir -p cmocka.part
    tar -xf cmocka_*.orig.tar.?z -C cmocka.part --strip-components=1
    mv cmocka.part cmocka
}

build_cmocka()
{
    from=$work/source/cmocka
    "$compiler" -O1 -g -c "$from/src/cmocka.c" -I"$from/include" \
        -DHAVE_STDINT_H -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_TIME_H \
        -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_GETTIME_REALTIME \
        -DHAVE_GCC_THREAD_LOCAL_STORAGE -D_GNU_SOURCE \
        -o "$sysroot/lib/cmocka.o"
    ar rcs "$sysroot/lib/libcmocka.a" "$sysroot/lib/cmocka.o"
    cp "$from"/include/cmocka*.h "$sysroot/include"
}

if [ ! -e "$sysroot/lib/libcmocka.a" ]; then
    (fetch_cmocka)
    build_cmocka
fi

# ---- the library -----------------------------------------------------------

cmake -S "$root" -B "$work/$arch/build" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
    -DWSTEAL_TRIPLE="$triple" -DWSTEAL_SYSROOT="$sysroot" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g" \
    -DWSTEAL_WERROR=ON -DWSTEAL_BUILD_BENCH=OFF -DWSTEAL_BUILD_EXAMPLES=OFF
cmake --build "$work/$arch/build"
export WS_TEST_SCALE="${WS_TEST_SCALE:-slow}"
# qemu-user forks only the calling thread's half of itself, keeps signals for
# its own use, and does not deliver a fault on an alternative stack.
emulator='^fork[.]child_makes_its_own_pools$'
emulator=$emulator'|^handlers[.]stack_overflow_crash$'
emulator=$emulator'|^port_signals[.](only_synchronous|mask_does)'
case $arch in
i386 | musl) emulator='^$' ;;
esac
ctest --test-dir "$work/$arch/build" --output-on-failure --no-tests=error \
    -j 2 -L unit -E "$emulator" "$@"
