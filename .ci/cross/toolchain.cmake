# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Cross compilers of Debian, and an emulator for what they build:
#   -DWSTEAL_TRIPLE=aarch64-linux-gnu
# or musl on this machine's own processor: -DWSTEAL_TRIPLE=musl.
# run.sh beside this file puts cmocka into WSTEAL_SYSROOT.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WSTEAL_TRIPLE WSTEAL_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
if(WSTEAL_TRIPLE STREQUAL "musl")
    set(CMAKE_SYSTEM_PROCESSOR "${CMAKE_HOST_SYSTEM_PROCESSOR}")
    set(CMAKE_C_COMPILER musl-gcc)
else()
    string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${WSTEAL_TRIPLE}")
    set(CMAKE_C_COMPILER "${WSTEAL_TRIPLE}-gcc")
    # What the emulator is called, where that is not the name of the processor.
    set(emulated "${CMAKE_SYSTEM_PROCESSOR}")
    string(REPLACE "powerpc64le" "ppc64le" emulated "${emulated}")
    if(emulated STREQUAL "i686")
        # Old compilers aligned 64-bit atomics otherwise; nothing is shared.
        set(CMAKE_C_FLAGS_INIT -Wno-psabi)
    else()
        set(CMAKE_CROSSCOMPILING_EMULATOR
            "qemu-${emulated};-L;/usr/${WSTEAL_TRIPLE}")
    endif()
endif()

set(CMAKE_FIND_ROOT_PATH "${WSTEAL_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
