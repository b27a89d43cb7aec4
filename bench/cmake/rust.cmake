# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The peers in Rust: all rayon*.rs and crossbeam*.rs become modules of one
# program, built from the crates that Debian packages (librust-rayon-dev,
# librust-crossbeam-deque-dev), without a network.  So do all chili*.rs where
# BENCH_CHILI_ROOT says where that crate is; it is linked as it was built.

find_program(BENCH_CARGO cargo)
set(BENCH_CRATES /usr/share/cargo/registry CACHE PATH
    "Where the crates rayon and crossbeam-deque are")
set(BENCH_CHILI_ROOT "" CACHE PATH
    "The directory of the crate chili, with target/release/libchili.rlib")

function(bench_rust)
    file(GLOB rayon "${BENCH_CRATES}/rayon-1*")
    file(GLOB crossbeam "${BENCH_CRATES}/crossbeam-deque-0*")
    if(NOT BENCH_CARGO OR NOT rayon OR NOT crossbeam)
        return()
    endif()
    set(project "${CMAKE_CURRENT_BINARY_DIR}/rust")
    set(program "${project}/target/release/bench-rust")
    set(patterns "*/rayon*.rs" "*/crossbeam*.rs")
    set(extern "")
    set(library "")
    set(chili "${BENCH_CHILI_ROOT}/target/release/libchili.rlib")
    if(BENCH_CHILI_ROOT AND EXISTS "${chili}")
        list(APPEND patterns "*/chili*.rs")
        set(extern -- --extern "chili=${chili}")
        set(library "${chili}")
    elseif(BENCH_CHILI_ROOT)
        message(STATUS "No ${chili}: chili is left out")
    endif()
    file(GLOB sources CONFIGURE_DEPENDS
        RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" ${patterns})
    set(modules "#[path = \"${CMAKE_CURRENT_SOURCE_DIR}/support/runner.rs\"]\n")
    string(APPEND modules "mod runner;\n")
    set(arms "")
    foreach(source IN LISTS sources)
        get_filename_component(workload "${source}" DIRECTORY)
        get_filename_component(impl "${source}" NAME_WE)
        if(NOT workload IN_LIST workloads)
            continue()
        endif()
        string(MAKE_C_IDENTIFIER "${workload}_${impl}" module)
        string(APPEND modules
            "#[path = \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"]\n"
            "mod ${module};\n")
        string(APPEND arms
            "        \"${workload}/${impl}\" => ${module}::new,\n")
        bench_announce(${workload} ${impl} "${program} ${workload}/${impl}")
    endforeach()
    set(BENCH_MODULES "${modules}")
    set(BENCH_ARMS "${arms}")
    configure_file(cmake/main.rs.in "${project}/src/main.rs" @ONLY)
    configure_file(cmake/Cargo.toml.in "${project}/Cargo.toml" @ONLY)
    configure_file(cmake/cargo_config.toml.in "${project}/.cargo/config.toml"
        @ONLY)
    # With what they share.
    file(GLOB sources CONFIGURE_DEPENDS "*/*.rs")
    add_custom_command(OUTPUT "${program}"
        COMMAND "${BENCH_CARGO}" rustc --quiet --release --offline ${extern}
        DEPENDS ${sources} ${library} "${project}/src/main.rs"
            "${project}/Cargo.toml"
        WORKING_DIRECTORY "${project}"
        COMMENT "Building the peers in Rust"
        VERBATIM)
    add_custom_target(bench_rust_peers ALL DEPENDS "${program}")
endfunction()
