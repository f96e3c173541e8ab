# Headers that most sources of a target include anyway are parsed once for each target: a third of the build's time.
# Every source still includes what it uses; a build with CMAKE_DISABLE_PRECOMPILE_HEADERS=ON (aarch64's) checks that.
#
#   penstock_precompile(<target> [<header>...])
#     The standard library's, and these. Worth its two seconds from about five sources on.
#
#   penstock_precompile_gtest(<program>)
#     The same for a GoogleTest program, of headers that all of them share.
function(penstock_precompile target)
  target_precompile_headers(
    ${target} PRIVATE ${ARGN} <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <functional>
    <memory> <mutex> <new> <optional> <span> <string> <string_view> <type_traits> <utility> <vector>)
endfunction()

function(penstock_precompile_gtest program)
  if(NOT TARGET penstock_gtest_headers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/no_tests.cpp CONTENT "int main() {}\n")
    # a program, as position-independent programs and libraries cannot share precompiled headers
    add_executable(penstock_gtest_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/no_tests.cpp)
    target_link_libraries(penstock_gtest_headers PRIVATE penstock_options GTest::gtest)
    penstock_precompile(penstock_gtest_headers <gtest/gtest.h>)
  endif()
  target_precompile_headers(${program} REUSE_FROM penstock_gtest_headers)
endfunction()
