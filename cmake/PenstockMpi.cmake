# Finds MPICH and Open MPI side by side by their suffixed wrappers (Debian: mpicxx.mpich, mpicxx.openmpi), since
# the plain names may be either. Defines for each family found
#   penstock_<family>               interface target: its <mpi.h>, and its library
#   penstock_<family>_headers       the <mpi.h> only (for the preload library, which links no MPI)
#   PENSTOCK_<FAMILY>_MPIEXEC       its mpiexec
# and PENSTOCK_MPI_FAMILIES, the list of those found. For another processor the headers are those of this machine (what
# differs between 64-bit Linux systems is not in them), and there is no library: programs that call MPI do not link.
set(PENSTOCK_MPI "mpich;openmpi" CACHE STRING "MPIs to look for and build for")
set(PENSTOCK_MPI_FAMILIES "")
foreach(family IN LISTS PENSTOCK_MPI)
  string(TOUPPER ${family} upper)
  find_program(PENSTOCK_${upper}_MPICXX NAMES mpicxx.${family})
  find_program(PENSTOCK_${upper}_MPIEXEC NAMES mpiexec.${family})
  if(NOT PENSTOCK_${upper}_MPICXX)
    message(STATUS "Penstock: ${family} not found (mpicxx.${family})")
    continue()
  endif()
  # MPICH prints "g++ … -I… -L… -l…" for -show, Open MPI for --showme; both words are known to both
  execute_process(COMMAND ${PENSTOCK_${upper}_MPICXX} -show OUTPUT_VARIABLE line
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "-I[^ ]+" includes "${line}")
  string(REGEX MATCHALL "-L[^ ]+" folders "${line}")
  list(TRANSFORM includes REPLACE "^-I" "")
  list(TRANSFORM folders REPLACE "^-L" "")
  if(family STREQUAL "mpich")
    set(library_name mpich)
  else()
    set(library_name mpi)
  endif()
  if(CMAKE_CROSSCOMPILING)
    set(PENSTOCK_${upper}_LIBRARY "")
  else()
    find_library(PENSTOCK_${upper}_LIBRARY ${library_name} PATHS ${folders} NO_DEFAULT_PATH REQUIRED)
  endif()
  add_library(penstock_${family}_headers INTERFACE)
  target_include_directories(penstock_${family}_headers SYSTEM INTERFACE ${includes})
  # no C++ bindings of MPI-2: they would bring their own library
  target_compile_definitions(penstock_${family}_headers INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  add_library(penstock_${family} INTERFACE)
  target_link_libraries(penstock_${family} INTERFACE penstock_${family}_headers ${PENSTOCK_${upper}_LIBRARY})
  list(APPEND PENSTOCK_MPI_FAMILIES ${family})
endforeach()
if(NOT PENSTOCK_MPI_FAMILIES)
  message(FATAL_ERROR "Penstock: neither MPICH nor Open MPI found; ./bootstrap installs both")
endif()
