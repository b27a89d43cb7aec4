# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Peers in C and C++ that Debian 12 does not package: looked for as installed
# copies in CMAKE_PREFIX_PATH, left out where there is none.  The versions are
# those whose interface the files here use; the options silence what a macro of
# the peer becomes in them.

list(APPEND BENCH_PEERS lace parlay libfork taskflow dispatch)

find_package(lace 1.4 QUIET CONFIG)
if(lace_FOUND)
    bench_peer(lace lace::lace)
    target_compile_options(bench_peer_lace INTERFACE
        -Wno-conversion -Wno-atomic-implicit-seq-cst)
endif()

# libdispatch installs no package for CMake.
find_path(DISPATCH_INCLUDE dispatch/dispatch.h)
find_library(DISPATCH_LIBRARY dispatch)
find_library(DISPATCH_BLOCKS_LIBRARY BlocksRuntime)
if(DISPATCH_INCLUDE AND DISPATCH_LIBRARY AND DISPATCH_BLOCKS_LIBRARY)
    bench_peer(dispatch "${DISPATCH_LIBRARY}" "${DISPATCH_BLOCKS_LIBRARY}")
    target_include_directories(bench_peer_dispatch SYSTEM INTERFACE
        "${DISPATCH_INCLUDE}")
    target_compile_options(bench_peer_dispatch INTERFACE
        -Wno-nullability-extension)
endif()

if(NOT CMAKE_CXX_COMPILER)
    return()
endif()

find_package(Parlay 2 QUIET CONFIG)
if(Parlay_FOUND)
    bench_peer(parlay Parlay::parlay)
endif()

find_package(Taskflow 4.1 QUIET CONFIG)
if(Taskflow_FOUND AND cxx_std_20 IN_LIST CMAKE_CXX_COMPILE_FEATURES)
    bench_peer(taskflow Taskflow::Taskflow)
    target_compile_features(bench_peer_taskflow INTERFACE cxx_std_20)
endif()

# Of C++23 it needs more than some compilers have that know the option.
find_package(libfork 3 QUIET CONFIG)
if(libfork_FOUND)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES libfork::libfork)
    check_cxx_source_compiles("#include <libfork/core.hpp>\nint main() {}"
        BENCH_LIBFORK_COMPILES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(BENCH_LIBFORK_COMPILES)
        bench_peer(libfork libfork::libfork)
    endif()
endif()
