# Unit tests: GoogleTest programs that start no MPI job, so that sanitizers can watch them.
#
#   penstock_add_unit_test(<target> SOURCES <file>... [LIBRARIES <target>...] [THREADS] [SUFFIX <text>]
#                          [ENVIRONMENT <name=value>...] [TIMEOUT <seconds>])
#     A program of unit tests. THREADS: worth running under ThreadSanitizer.
#
#   penstock_discover_tests(<target> LABELS <label>... [SUFFIX <text>] [ENVIRONMENT <name=value>...]
#                           [TIMEOUT <seconds>])
#     Each test of a GoogleTest program becomes a CTest. In a build for NVIDIA GPUs those of programs that use one
#     (that link penstock_gpu_runtime) are labelled `gpu` as well.
#
# The targets `unit_tests` and `thread_tests` build just the programs with those labels that start no MPI.
find_package(GTest REQUIRED)
include(GoogleTest)
if(NOT PENSTOCK_GPU_IS_SIMULATED)
  # Tests are listed when they are run: the build machine may have no driver for them to load.
  set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
endif()

add_custom_target(unit_tests)
add_custom_target(thread_tests)

function(penstock_add_unit_test target)
  cmake_parse_arguments(PARSE_ARGV 1 test "THREADS" "SUFFIX;TIMEOUT" "SOURCES;LIBRARIES;ENVIRONMENT")
  add_executable(${target} ${test_SOURCES})
  target_link_libraries(${target} PRIVATE penstock_options ${test_LIBRARIES} GTest::gtest GTest::gtest_main)
  set(labels unit)
  if(test_THREADS)
    list(APPEND labels threads)
  endif()
  penstock_discover_tests(${target} LABELS ${labels} SUFFIX "${test_SUFFIX}" TIMEOUT "${test_TIMEOUT}"
                          ENVIRONMENT ${test_ENVIRONMENT})
endfunction()

function(penstock_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "SUFFIX;TIMEOUT" "LABELS;ENVIRONMENT")
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if("penstock_gpu_runtime" IN_LIST libraries AND NOT PENSTOCK_GPU_IS_SIMULATED)
    list(APPEND test_LABELS gpu)
  endif()
  if(NOT "mpi" IN_LIST test_LABELS)
    foreach(label unit thread)
      if(test_LABELS MATCHES ${label})
        add_dependencies(${label}_tests ${target})
      endif()
    endforeach()
  endif()
  gtest_discover_tests(${target} TEST_SUFFIX "${test_SUFFIX}" DISCOVERY_TIMEOUT 60)
  # Not by gtest_discover_tests' PROPERTIES: on their way through it, lists lose all but their first element.
  set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake)
  file(WRITE ${properties_file} "\
foreach(test IN LISTS ${target}_TESTS)
  set_tests_properties(\"\${test}\" PROPERTIES
    LABELS \"${test_LABELS}\"
    TIMEOUT ${test_TIMEOUT}
    ENVIRONMENT \"${penstock_gpu_environment};${test_ENVIRONMENT}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()
