# penstock_add_gpu_program(name sources…): an executable whose .cu sources are compiled by nvcc for a real GPU, and
# as plain C++ for the simulated one. Kernels' names must be found at run time there, hence the exported symbols.
function(penstock_add_gpu_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE penstock_options penstock_gpu_runtime)
  if(NOT PENSTOCK_GPU_IS_SIMULATED)
    return()
  endif()
  set(kernel_sources ${ARGN})
  list(FILTER kernel_sources INCLUDE REGEX "\\.cu$")
  if(kernel_sources)
    set_source_files_properties(${kernel_sources} PROPERTIES LANGUAGE CXX)  # CMake adds -x c++
  endif()
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
endfunction()
