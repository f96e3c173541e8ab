# MPI programs as tests: built once for each MPI family found, run by that family's mpiexec with Penstock
# preloaded into the ranks only.
#
#   penstock_add_mpi_program(NAME name SOURCES … [LIBRARIES …] [APART])
#     Targets <name>_mpich and <name>_openmpi: GPU programs (runtime API) with tests/support. APART: its sources name
#     things alike, and are not compiled together.
#
#   penstock_add_mpi_test(NAME name RANKS k (SOURCES … [LIBRARIES …] | PROGRAM name) [ARGS …] [ENVIRONMENT a=b …]
#                         [LABELS …] [TIMEOUT seconds] [PLAIN] [NODES n] [FAMILIES …] [PREPARES fixture]
#                         [NEEDS fixture] [FAULTS faults] [SAYS text] [GPUS n])
#     Tests <name>.mpich and <name>.openmpi. PLAIN: without the preload. NODES: as if on so many, for Penstock.
#     With FAULTS, or a transport forced, or penstock_tests_with_one_mpi set in the folder, and a simulated GPU: one of
#     them, which the name picks.
#     FAULTS: what the driver refuses to Penstock (tests/support/fault_table.hpp); `at_run_time`: what the program says.
#     GPUS: skipped where there are fewer; the simulated GPU has enough.
#     SAYS: what some rank must say; needed beside FAULTS, lest a test pass though its fault took no effect.
#     ENVIRONMENT is the ranks'. The word @FAMILY@ in ARGS becomes the family's name. PREPARES and NEEDS name a fixture, one for each family: the
#     test that prepares it runs before those that need it.
#
#   penstock_add_mpi_tests_with_faults(NAME name …)
#     Tests <name>_without_ipc and others, for each of what the driver may refuse; the rest as above.
#
#   penstock_no_peer_access
#     What to put into ENVIRONMENT for a test without peer access.
#
#   penstock_add_mpi_script(NAME name [SCRIPT file] PROGRAM program RANKS k)
#     A test for each MPI by a script of the folder, name.sh by default, that starts its jobs itself (support/job.sh):
#     SCRIPT family program preload-library penstock.
#
#   penstock_describe_mpi_test(name FAMILY family RANKS k [LABELS …] [TIMEOUT seconds])
#     What CTest must know of a test that starts an MPI job otherwise.
#
# A test that ends with 77 counts as skipped, not as passed, whatever it says; all its ranks must (tests/support/job_exit_code.hpp).
include_guard()
include(${CMAKE_CURRENT_LIST_DIR}/PenstockCompileTogether.cmake)

if(PENSTOCK_GPU_IS_SIMULATED)
  set(penstock_no_peer_access SIMULATED_GPU_PEER=0)
else()
  set(penstock_no_peer_access PENSTOCK_TRANSPORT=staged)
endif()

function(penstock_add_mpi_program)
  cmake_parse_arguments(PARSE_ARGV 0 program "APART" "NAME" "SOURCES;LIBRARIES")
  foreach(family IN LISTS PENSTOCK_MPI_FAMILIES)
    set(target ${program_NAME}_${family})
    add_executable(${target} ${program_SOURCES})
    target_link_libraries(${target} PRIVATE penstock_options penstock_test_support penstock_${family}
                                            ${program_LIBRARIES})
    if("GTest::gtest" IN_LIST program_LIBRARIES)
      penstock_precompile_gtest(${target})
    endif()
    if(NOT program_APART)
      penstock_compile_together(${target})
    endif()
  endforeach()
endfunction()

# Sets `variable` to one of a list, which the name picks. What the driver refuses, or which transport carries, concerns
# no MPI: where the GPU is simulated one is enough.
function(penstock_one_of variable name)
  if(NOT ARGN)
    set(${variable} "" PARENT_SCOPE)
    return()
  endif()
  string(MD5 hash ${name})
  string(SUBSTRING ${hash} 0 2 digits)
  list(LENGTH ARGN count)
  math(EXPR which "0x${digits} % ${count}")
  list(GET ARGN ${which} picked)
  set(${variable} ${picked} PARENT_SCOPE)
endfunction()

function(penstock_add_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "PLAIN" "NAME;RANKS;PROGRAM;TIMEOUT;NODES;PREPARES;NEEDS;FAULTS;SAYS;GPUS"
                        "SOURCES;LIBRARIES;ARGS;ENVIRONMENT;LABELS;FAMILIES")
  if(NOT test_PROGRAM)
    set(test_PROGRAM ${test_NAME})
    penstock_add_mpi_program(NAME ${test_NAME} SOURCES ${test_SOURCES} LIBRARIES ${test_LIBRARIES})
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 180)
  endif()
  if(NOT test_FAMILIES)
    set(test_FAMILIES ${PENSTOCK_MPI_FAMILIES})
    if(PENSTOCK_GPU_IS_SIMULATED AND NOT test_PREPARES
       AND (test_FAULTS OR penstock_tests_with_one_mpi OR test_ENVIRONMENT MATCHES "PENSTOCK_TRANSPORT="))
      penstock_one_of(test_FAMILIES ${test_NAME} ${PENSTOCK_MPI_FAMILIES})
    endif()
  endif()
  foreach(family IN LISTS test_FAMILIES)
    if(NOT family IN_LIST PENSTOCK_MPI_FAMILIES)
      continue()
    endif()
    set(preload "")
    if(NOT test_PLAIN)
      set(preload --preload $<TARGET_FILE:penstock_preload_${family}>)
    endif()
    set(faults "")
    if(test_FAULTS)
      string(APPEND preload ":$<TARGET_FILE:penstock_faulty_driver>")
      if(NOT test_FAULTS STREQUAL "at_run_time")
        if(NOT test_SAYS)
          message(FATAL_ERROR "${test_NAME}: FAULTS need SAYS")
        endif()
        set(faults DRIVER_FAULTS=${test_FAULTS})
      endif()
    endif()
    set(nodes "")
    if(test_NODES)
      set(nodes --nodes ${test_NODES})
    endif()
    set(says "")
    if(test_SAYS)
      set(says --says ${test_SAYS})
    endif()
    set(gpus "")
    if(test_GPUS AND NOT PENSTOCK_GPU_IS_SIMULATED)
      set(gpus --gpus ${test_GPUS})
    endif()
    string(REPLACE "@FAMILY@" "${family}" arguments "${test_ARGS}")
    add_test(NAME ${test_NAME}.${family}
             COMMAND ${CMAKE_SOURCE_DIR}/tests/support/mpi_launch ${family} ${test_RANKS} ${preload} ${nodes}
                     ${says} ${gpus} ${faults} ${test_ENVIRONMENT} -- $<TARGET_FILE:${test_PROGRAM}_${family}> ${arguments})
    penstock_describe_mpi_test(${test_NAME}.${family} FAMILY ${family} RANKS ${test_RANKS} TIMEOUT ${test_TIMEOUT}
                               LABELS ${test_LABELS})
    if(test_PREPARES)
      set_tests_properties(${test_NAME}.${family} PROPERTIES FIXTURES_SETUP ${test_PREPARES}.${family})
    endif()
    if(test_NEEDS)
      set_tests_properties(${test_NAME}.${family} PROPERTIES FIXTURES_REQUIRED ${test_NEEDS}.${family})
    endif()
  endforeach()
endfunction()

# To open another rank's memory, from the start or from some time on; to export it; to pin memory; to load kernels.
function(penstock_add_mpi_tests_with_faults)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME" "")
  set(without_ipc cuIpcOpenMemHandle_v2:101 "cuIpcOpenMemHandle failed (CUDA error 101)")
  set(losing_ipc cuIpcOpenMemHandle_v2:217@2 "cuIpcOpenMemHandle failed (CUDA error 217)")
  set(without_export cuIpcGetMemHandle:801 "the driver refused to export the sender's memory")
  set(without_pinned_memory cuMemHostRegister_v2:2 "host memory cannot be pinned")
  set(without_kernels cuLibraryLoadData:209 "CUDA kernels cannot be loaded: cuLibraryLoadData failed (CUDA error 209)")
  foreach(case without_ipc losing_ipc without_export without_pinned_memory without_kernels)
    list(GET ${case} 0 faults)
    list(GET ${case} 1 says)
    penstock_add_mpi_test(NAME ${test_NAME}_${case} FAULTS ${faults} SAYS ${says} ${test_UNPARSED_ARGUMENTS})
  endforeach()
endfunction()

function(penstock_add_mpi_script)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME;SCRIPT;PROGRAM;RANKS" "")
  if(NOT test_SCRIPT)
    set(test_SCRIPT ${test_NAME}.sh)
  endif()
  foreach(family IN LISTS PENSTOCK_MPI_FAMILIES)
    add_test(NAME ${test_NAME}.${family}
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${test_SCRIPT} ${family} $<TARGET_FILE:${test_PROGRAM}_${family}>
                     $<TARGET_FILE:penstock_preload_${family}> $<TARGET_FILE:penstock>)
    penstock_describe_mpi_test(${test_NAME}.${family} FAMILY ${family} RANKS ${test_RANKS})
  endforeach()
endfunction()

function(penstock_describe_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "FAMILY;RANKS;TIMEOUT" "LABELS")
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 180)
  endif()
  set(yielding "")
  if(PENSTOCK_GPU_IS_SIMULATED)
    set(gpu_label sim)
    set(yielding YIELDING_MPICH=$<TARGET_FILE:penstock_yielding_mpich>)
  else()
    set(gpu_label gpu)
  endif()
  string(TOUPPER ${test_FAMILY} upper)
  # The widest begin first. Else they are left for the end, where only one at a time fits.
  set_tests_properties(
    ${name}
    PROPERTIES LABELS "mpi;${gpu_label};${test_LABELS}"
               TIMEOUT ${test_TIMEOUT}
               PROCESSORS ${test_RANKS}
               COST ${test_RANKS}
               SKIP_RETURN_CODE 77
               ENVIRONMENT "MPIEXEC=${PENSTOCK_${upper}_MPIEXEC};${yielding};${penstock_gpu_environment}")
endfunction()
