# Which GPU the build is for. `simulated` needs no CUDA toolkit: its headers and libraries are in
# tests/simulated_gpu. `cuda` takes the toolkit's. `auto`: cuda where a toolkit and a GPU are found.
#
# Defines
#   PENSTOCK_GPU_IS_SIMULATED   ON or OFF
#   penstock_gpu_headers        interface target: <cuda.h>, <cuda_runtime.h>, <cupti.h>
#   penstock_gpu_runtime        interface target for examples and tests that call the runtime API (cudart) or
#                               the driver API (cuda); defined here for cuda, in tests/simulated_gpu else
#   penstock_gpu_environment    list of NAME=value to run such programs with
set(PENSTOCK_GPU auto CACHE STRING "GPU that the build is for: auto, cuda or simulated")
set_property(CACHE PENSTOCK_GPU PROPERTY STRINGS auto cuda simulated)

set(gpu_kind ${PENSTOCK_GPU})
if(gpu_kind STREQUAL "auto")
  find_program(PENSTOCK_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(PENSTOCK_NVCC AND EXISTS /dev/nvidiactl)
    set(gpu_kind cuda)
  else()
    set(gpu_kind simulated)
  endif()
endif()
message(STATUS "Penstock: GPU is ${gpu_kind}")

add_library(penstock_gpu_headers INTERFACE)
if(gpu_kind STREQUAL "cuda")
  set(PENSTOCK_GPU_IS_SIMULATED OFF)
  if(NOT DEFINED CMAKE_CUDA_COMPILER)
    find_program(PENSTOCK_NVCC nvcc PATHS /usr/local/cuda/bin REQUIRED)
    set(CMAKE_CUDA_COMPILER ${PENSTOCK_NVCC})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc speaks C++20.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit REQUIRED)
  target_include_directories(penstock_gpu_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  add_library(penstock_gpu_runtime INTERFACE)
  target_link_libraries(penstock_gpu_runtime INTERFACE penstock_gpu_headers CUDA::cudart_static CUDA::cuda_driver)
  set(penstock_gpu_environment "")
else()
  set(PENSTOCK_GPU_IS_SIMULATED ON)
  target_include_directories(penstock_gpu_headers SYSTEM INTERFACE ${CMAKE_SOURCE_DIR}/tests/simulated_gpu/include)
  target_compile_definitions(penstock_gpu_headers INTERFACE PENSTOCK_SIMULATED_GPU=1)
  add_subdirectory(${CMAKE_SOURCE_DIR}/tests/simulated_gpu ${CMAKE_BINARY_DIR}/simulated_gpu)
  set(penstock_gpu_environment "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/simulated_gpu/lib:$ENV{LD_LIBRARY_PATH}")
endif()
