# penstock_embed_kernels(<target>): the target carries the kernels of kernels/kernels.cu, below the current folder. For
# NVIDIA GPUs nvcc makes a fat binary of CMAKE_CUDA_ARCHITECTURES that cuda/fat_binary.cpp takes in; the simulated GPU
# runs them as plain C++ by way of cuda/simulated_image.cpp.
function(penstock_embed_kernels target)
  if(PENSTOCK_GPU_IS_SIMULATED)
    target_sources(${target} PRIVATE cuda/simulated_image.cpp)
    return()
  endif()
  set(generate "")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(NOT architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: kernels need numbers, not \"${architecture}\"")
    endif()
    set(number ${CMAKE_MATCH_1})
    set(kind ${CMAKE_MATCH_2})
    if(NOT kind STREQUAL "-virtual")
      list(APPEND generate -gencode arch=compute_${number},code=sm_${number})
    endif()
    if(NOT kind STREQUAL "-real")
      list(APPEND generate -gencode arch=compute_${number},code=compute_${number})
    endif()
  endforeach()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/kernels/kernels.cu)
  set(fat_binary ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels.fatbin)
  add_custom_command(
    OUTPUT ${fat_binary}
    # results do not depend on what the compiler fuses
    COMMAND ${CMAKE_CUDA_COMPILER} -fatbin -std=c++20 --fmad=false -I${CMAKE_SOURCE_DIR} ${generate} -MD -MF ${fat_binary}.d
            -MT ${fat_binary} -o ${fat_binary} ${source}
    DEPENDS ${source}
    DEPFILE ${fat_binary}.d
    COMMENT "Compiling kernels to ${fat_binary}"
    VERBATIM)
  target_sources(${target} PRIVATE cuda/fat_binary.cpp)
  set_source_files_properties(
    cuda/fat_binary.cpp PROPERTIES OBJECT_DEPENDS ${fat_binary}
                                    COMPILE_DEFINITIONS "PENSTOCK_FAT_BINARY=\"${fat_binary}\"")
endfunction()
