# Headers that most sources of a target include anyway are parsed once for each target: a third of the build's time.
# Every source still includes what it uses; a build with CMAKE_DISABLE_PRECOMPILE_HEADERS=ON (aarch64's) checks that.
#
#   penstock_precompile(<target> [<header>...])
#     The standard library's, and these. Worth its two seconds from about five sources on.
#
#   penstock_precompile_gtest(<program>)
#     The same for a GoogleTest program, of headers that all of them share.
#
#   penstock_precompile_benchmark(<program>)
#     The same for a program of tests/benchmarks.
#
#   penstock_precompile_command_line(<program>)
#     The same for a program that reads its command line and prints JSON.
function(penstock_precompile target)
  target_precompile_headers(
    ${target} PRIVATE ${ARGN} <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <functional>
    <memory> <mutex> <new> <optional> <span> <string> <string_view> <type_traits> <utility> <vector>)
endfunction()

# Headers that several programs share are those of a program of no lines, `headers`: position-independent programs and
# libraries cannot share precompiled headers.
function(penstock_share_precompiled program headers)
  cmake_parse_arguments(PARSE_ARGV 2 shared "" "" "LIBRARIES;HEADERS")
  # Programs of other optimisation cannot use them: GCC compares its options with those of the headers.
  get_directory_property(options COMPILE_OPTIONS)
  if(options MATCHES "-Og")
    string(APPEND headers _debugged)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/no_lines.cpp CONTENT "int main() {}\n")
    add_executable(${headers} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/no_lines.cpp)
    target_link_libraries(${headers} PRIVATE penstock_options ${shared_LIBRARIES})
    penstock_precompile(${headers} ${shared_HEADERS})
  endif()
  target_precompile_headers(${program} REUSE_FROM ${headers})
endfunction()

function(penstock_precompile_gtest program)
  penstock_share_precompiled(${program} penstock_gtest_headers LIBRARIES GTest::gtest HEADERS <gtest/gtest.h>)
endfunction()

function(penstock_precompile_benchmark program)
  penstock_share_precompiled(${program} penstock_benchmark_headers LIBRARIES CLI11::CLI11 benchmark::benchmark
                             HEADERS <CLI/CLI.hpp> <benchmark/benchmark.h>)
endfunction()

function(penstock_precompile_command_line program)
  penstock_share_precompiled(${program} penstock_command_line_headers LIBRARIES CLI11::CLI11 nlohmann_json::nlohmann_json
                             HEADERS <CLI/CLI.hpp> <nlohmann/json.hpp>)
endfunction()
