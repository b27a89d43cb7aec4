# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Run after a test program is linked: asks it for its cases (--list) and writes
# a file that registers each of them with ctest.
include("${settings}")

execute_process(COMMAND ${emulator} "${program}" --list
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${program} --list: ${result}\n${output}${errors}")
endif()
string(REGEX MATCHALL "[^\n]+" names "${output}")
set(skipped "    SKIP_REGULAR_EXPRESSION \"SKIPPED . [1-9]\"\n")
if(whole)
    set(names all)
    set(skipped "")
endif()

string(REGEX REPLACE "^test_" "" module "${target}")
string(REPLACE ";" " " properties "${properties}")
set(text "")
foreach(name IN LISTS names)
    set(command "")
    foreach(word IN LISTS launcher emulator program)
        string(APPEND command " [==[${word}]==]")
    endforeach()
    if(NOT whole)
        string(APPEND command " [==[${name}]==]")
    endif()
    string(APPEND text
        "add_test([==[${module}.${name}]==]${command})\n"
        "set_tests_properties([==[${module}.${name}]==] PROPERTIES\n"
        "    LABELS \"${labels}\"\n"
        "    FAIL_REGULAR_EXPRESSION \"Running 0 test\"\n"
        "${skipped}"
        "    SKIP_RETURN_CODE 77\n"
        "    ${properties}\n)\n")
endforeach()
if(text STREQUAL "")
    message(FATAL_ERROR "${program} has no cases")
endif()
file(WRITE "${cases}" "${text}")
