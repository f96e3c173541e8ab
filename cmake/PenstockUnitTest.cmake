# Unit tests: GoogleTest programs that start no MPI job, so that sanitizers can watch them.
#
#   penstock_add_unit_test(<target> [THREADS] SOURCES <file>... [LIBRARIES <target>...])
#
# Every test of the program is a CTest of its own, labelled `unit`; THREADS labels it `threads` too, for those
# that are worth running under ThreadSanitizer. The targets `unit_tests` and `thread_tests` build just those
# programs.
find_package(GTest REQUIRED)
include(GoogleTest)

add_custom_target(unit_tests)
add_custom_target(thread_tests)

function(penstock_add_unit_test target)
  cmake_parse_arguments(PARSE_ARGV 1 test "THREADS" "" "SOURCES;LIBRARIES")
  add_executable(${target} ${test_SOURCES})
  target_link_libraries(${target} PRIVATE penstock_options ${test_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_dependencies(unit_tests ${target})
  set(labels unit)
  if(test_THREADS)
    add_dependencies(thread_tests ${target})
    list(APPEND labels threads)
  endif()
  # A list needs its semicolon escaped on the way through gtest_discover_tests.
  list(JOIN labels "\\;" labels)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${labels}" TIMEOUT 120
                                                                ENVIRONMENT "${penstock_gpu_environment}")
endfunction()
