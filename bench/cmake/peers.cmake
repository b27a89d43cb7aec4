# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The peers in C and C++.  For each that is found: BENCH_WITH_<name>, and a
# target bench_peer_<name> to link to.  OpenMP is compiled twice, by GCC for its
# libgomp and by clang for LLVM's libomp, each with its own library.

set(BENCH_PEERS tbb pthreadpool)

include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    set(CMAKE_CXX_STANDARD_REQUIRED ON)
    # All programs are compiled alike.
    set(CMAKE_CXX_FLAGS_${BENCH_BUILD_TYPE}
        "${CMAKE_C_FLAGS_${BENCH_BUILD_TYPE}}")
endif()

# A target that brings a library in without its warnings.
function(bench_peer name)
    add_library(bench_peer_${name} INTERFACE)
    target_link_libraries(bench_peer_${name} INTERFACE ${ARGN})
    set(BENCH_WITH_${name} ON PARENT_SCOPE)
endfunction()

# ---- oneTBB --------------------------------------------------------------

if(CMAKE_CXX_COMPILER)
    find_package(TBB QUIET)
    if(TBB_FOUND)
        bench_peer(tbb TBB::tbb)
    endif()
endif()

# ---- pthreadpool ---------------------------------------------------------

find_path(PTHREADPOOL_INCLUDE pthreadpool.h)
find_library(PTHREADPOOL_LIBRARY pthreadpool)
if(PTHREADPOOL_INCLUDE AND PTHREADPOOL_LIBRARY)
    bench_peer(pthreadpool "${PTHREADPOOL_LIBRARY}")
    target_include_directories(bench_peer_pthreadpool SYSTEM INTERFACE
        "${PTHREADPOOL_INCLUDE}")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/optional_peers.cmake")

# ---- OpenMP --------------------------------------------------------------

find_program(BENCH_GCC gcc)
find_program(BENCH_CLANG clang)
separate_arguments(bench_flags UNIX_COMMAND
    "${CMAKE_C_FLAGS_${BENCH_BUILD_TYPE}}")

file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/openmp")

# Whether the compiler can build and link an OpenMP program.
function(bench_try_openmp compiler result)
    set(probe "${CMAKE_CURRENT_BINARY_DIR}/openmp/probe")
    file(WRITE "${probe}.c"
        "#include <omp.h>\nint main(void) { return omp_get_level(); }\n")
    execute_process(
        COMMAND "${compiler}" -fopenmp "${probe}.c" -o "${probe}"
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(${result} ON PARENT_SCOPE)
    endif()
endfunction()

if(BENCH_GCC)
    bench_try_openmp("${BENCH_GCC}" BENCH_WITH_libgomp)
endif()
if(BENCH_CLANG)
    bench_try_openmp("${BENCH_CLANG}" BENCH_WITH_libomp)
endif()

# bench/<workload>/<source> with one compiler.
function(bench_openmp_with compiler workload source impl)
    set(target bench_${workload}_${impl})
    set(program "${CMAKE_CURRENT_BINARY_DIR}/openmp/${target}")
    set(from "${CMAKE_CURRENT_SOURCE_DIR}/${workload}/${source}")
    set(runner "${CMAKE_CURRENT_SOURCE_DIR}/support/runner.c")
    # The headers are those of the file that is compiled last.
    add_custom_command(OUTPUT "${program}"
        COMMAND "${compiler}" -std=c11 ${bench_flags} -fopenmp "${runner}"
            "${from}" -MD -MT "${program}" -MF "${program}.d"
            -o "${program}" -lm
        DEPENDS "${from}" "${runner}" support/runner.h
        DEPFILE "${program}.d"
        COMMENT "Building ${target}"
        VERBATIM)
    add_custom_target(${target} ALL DEPENDS "${program}")
    bench_announce(${workload} ${impl} "${program}")
endfunction()

function(bench_openmp workload source)
    get_filename_component(variant "${source}" NAME_WE)
    string(REPLACE "openmp" "" variant "${variant}")
    if(BENCH_WITH_libgomp)
        bench_openmp_with("${BENCH_GCC}" ${workload} ${source}
            libgomp${variant})
    endif()
    if(BENCH_WITH_libomp)
        bench_openmp_with("${BENCH_CLANG}" ${workload} ${source}
            libomp${variant})
    endif()
endfunction()
