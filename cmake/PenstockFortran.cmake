# Finds a Fortran compiler, and for each family of MPI the modules and libraries that its own compiler wrapper names
# (Debian: mpifort.mpich; Red Hat: /usr/lib64/mpich/bin/mpifort). Defines for each family that has them
#   penstock_fortran_<family>       interface target
# Neither the preload library nor the tool needs any of it.
include_guard()
include(CheckLanguage)
if(NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # gfortran links no sanitizer of Clang's
  check_language(Fortran)
endif()
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
endif()
foreach(family IN LISTS PENSTOCK_MPI_FAMILIES)
  string(TOUPPER ${family} upper)
  find_program(PENSTOCK_${upper}_MPIFORT NAMES mpifort.${family})
  find_program(PENSTOCK_${upper}_MPIFORT NAMES mpifort PATHS /usr/lib64/${family}/bin NO_DEFAULT_PATH)
  if(NOT CMAKE_Fortran_COMPILER_LOADED OR NOT PENSTOCK_${upper}_MPIFORT)
    message(STATUS "Penstock: no Fortran for ${family}: its tests are skipped")
    continue()
  endif()
  execute_process(COMMAND ${PENSTOCK_${upper}_MPIFORT} -show OUTPUT_VARIABLE line
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(line)
  set(includes ${line})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(libraries ${line})
  list(FILTER libraries INCLUDE REGEX "^-[Ll]")
  add_library(penstock_fortran_${family} INTERFACE)
  target_include_directories(penstock_fortran_${family} INTERFACE ${includes})
  target_link_libraries(penstock_fortran_${family} INTERFACE ${libraries})
endforeach()
