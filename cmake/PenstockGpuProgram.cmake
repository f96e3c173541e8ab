# penstock_add_kernels(name sources…): a library of CUDA kernels, compiled once for the programs of all MPI families: by
# nvcc for a real GPU, and as plain C++ for the simulated one. Optimised even where the rest is not: the simulated GPU
# runs them.
function(penstock_add_kernels name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC penstock_options penstock_gpu_runtime)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  # CMake joins CUDA sources only from 3.31 on, and their constants share names.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  if(PENSTOCK_GPU_IS_SIMULATED)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)  # CMake adds -x c++
    target_compile_options(${name} PRIVATE -O2)
  endif()
endfunction()

# penstock_add_gpu_program(name sources…): an executable that uses a GPU. Its kernels, if any, are such a library, and
# must be found by name at run time on the simulated GPU, hence the exported symbols.
function(penstock_add_gpu_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE penstock_options penstock_gpu_runtime)
  if(PENSTOCK_GPU_IS_SIMULATED)
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  endif()
endfunction()
