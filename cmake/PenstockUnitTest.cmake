# Unit tests: GoogleTest programs that start no MPI job, so that sanitizers can watch them.
#
#   penstock_add_unit_test(<target> SOURCES <file>... [LIBRARIES <target>...] [THREADS] [COMMAND_LINE]
#                          [ENVIRONMENT <name=value>...] [TIMEOUT <seconds>] [SHARDS <n>] [APART])
#     A program of unit tests. THREADS: worth running under ThreadSanitizer. COMMAND_LINE: only reads a command line;
#     sanitizers leave it out, as what they would watch is CLI11, which takes long to compile. APART: its sources name
#     things alike, and are not compiled together.
#
#   penstock_run_unit_tests(<target> LABELS <label>... [ENVIRONMENT <name=value>...] [TIMEOUT <seconds>] [SHARDS <n>])
#     A GoogleTest program becomes a CTest of its name, or SHARDS of them that share its tests: a process for each
#     single test would cost more than the tests do, above all under sanitizers and on GPUs. In a build for NVIDIA GPUs
#     those of programs that use one (that link penstock_gpu_runtime) are labelled `gpu` as well, and are skipped where
#     there is no driver.
#
# The targets `unit_tests` and `thread_tests` build just the programs with those labels that start no MPI.
include(${CMAKE_CURRENT_LIST_DIR}/PenstockCompileTogether.cmake)
find_package(GTest REQUIRED)

add_custom_target(unit_tests)
add_custom_target(thread_tests)

function(penstock_add_unit_test target)
  cmake_parse_arguments(PARSE_ARGV 1 test "THREADS;COMMAND_LINE;APART" "TIMEOUT;SHARDS" "SOURCES;LIBRARIES;ENVIRONMENT")
  add_executable(${target} ${test_SOURCES})
  # Unit tests of these folders use no GPU.
  if(PENSTOCK_ONLY_GPU_PARTS AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/(examples|benchmarks)$")
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(${target} PRIVATE penstock_options ${test_LIBRARIES} GTest::gtest GTest::gtest_main)
  penstock_precompile_gtest(${target})
  if(NOT test_APART)
    penstock_compile_together(${target})
  endif()
  set(labels unit)
  if(test_COMMAND_LINE)
    set(labels command_line)
  endif()
  if(test_THREADS)
    list(APPEND labels threads)
  endif()
  set(how_run)
  foreach(option TIMEOUT SHARDS)
    if(test_${option})
      list(APPEND how_run ${option} ${test_${option}})
    endif()
  endforeach()
  penstock_run_unit_tests(${target} LABELS ${labels} ${how_run} ENVIRONMENT ${test_ENVIRONMENT})
endfunction()

function(penstock_run_unit_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT;SHARDS" "LABELS;ENVIRONMENT")
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 600)
  endif()
  set(launcher ${CMAKE_CROSSCOMPILING_EMULATOR})
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if("penstock_gpu_runtime" IN_LIST libraries AND NOT PENSTOCK_GPU_IS_SIMULATED)
    list(APPEND test_LABELS gpu)
    set(launcher ${CMAKE_SOURCE_DIR}/tests/support/with_gpu)
  endif()
  if(NOT "mpi" IN_LIST test_LABELS)
    foreach(label unit thread)
      if(test_LABELS MATCHES ${label})
        add_dependencies(${label}_tests ${target})
      endif()
    endforeach()
  endif()
  set(names ${target})
  if(test_SHARDS)
    list(TRANSFORM names APPEND .1)
    foreach(shard RANGE 2 ${test_SHARDS})
      list(APPEND names ${target}.${shard})
    endforeach()
  endif()
  set(index 0)
  foreach(name IN LISTS names)
    add_test(NAME ${name} COMMAND ${launcher} $<TARGET_FILE:${target}>)
    set(environment ${penstock_gpu_environment} ${test_ENVIRONMENT})
    if(test_SHARDS)
      list(APPEND environment GTEST_TOTAL_SHARDS=${test_SHARDS} GTEST_SHARD_INDEX=${index})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${test_TIMEOUT} SKIP_RETURN_CODE 77
                                            ENVIRONMENT "${environment}")
    math(EXPR index "${index} + 1")
  endforeach()
endfunction()
