# Unit tests: GoogleTest programs that start no MPI job, so that sanitizers can watch them.
#
#   penstock_add_unit_test(<target> [THREADS] SOURCES <file>... [LIBRARIES <target>...])
#
# Every test of the program is a CTest of its own, labelled `unit`; THREADS labels it `threads` too, for those
# that are worth running under ThreadSanitizer. In a build for NVIDIA GPUs they are labelled `gpu` as well. The
# targets `unit_tests` and `thread_tests` build just those programs.
find_package(GTest REQUIRED)
include(GoogleTest)
if(NOT PENSTOCK_GPU_IS_SIMULATED)
  # Tests are listed when they are run: the build machine may have no driver for them to load.
  set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
endif()

add_custom_target(unit_tests)
add_custom_target(thread_tests)

function(penstock_add_unit_test target)
  cmake_parse_arguments(PARSE_ARGV 1 test "THREADS" "" "SOURCES;LIBRARIES")
  add_executable(${target} ${test_SOURCES})
  target_link_libraries(${target} PRIVATE penstock_options ${test_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_dependencies(unit_tests ${target})
  set(label unit)
  if(test_THREADS)
    add_dependencies(thread_tests ${target})
    string(APPEND label -threads)
  endif()
  if(NOT PENSTOCK_GPU_IS_SIMULATED)
    string(APPEND label -gpu)
  endif()
  # One word, because gtest_discover_tests loses all but the first of a list; `ctest -L` takes a regular
  # expression, so that it answers to each part.
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label} TIMEOUT 120
                                                                ENVIRONMENT "${penstock_gpu_environment}")
endfunction()
