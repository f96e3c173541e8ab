# Wrappers of MPI as they are where there is one MPI only, by stand-ins that print what the real ones do.
#   cmake -D SOURCE=… -D FOLDER=… -P mpi_wrapper_test.cmake
include(${SOURCE}/cmake/mpi_wrapper.cmake)
file(REMOVE_RECURSE ${FOLDER})

# NAME LINE-OF-ITS-HEADER FAMILY
function(expect_family name header family)
  file(WRITE ${FOLDER}/${name}/include/mpi.h "/* comment */\n#ifndef MPI_H\n${header}\n#endif\n")
  file(WRITE ${FOLDER}/${name}/mpicxx "#!/bin/sh\n[ \"$1\" = -show ] && echo g++ -O2 -I/none -I${FOLDER}/${name}/include -L${FOLDER}/${name}/lib -lmpi\n")
  file(CHMOD ${FOLDER}/${name}/mpicxx PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  penstock_family_of_wrapper(${FOLDER}/${name}/mpicxx found)
  if(NOT found STREQUAL family)
    message(FATAL_ERROR "${name}: its family is said to be \"${found}\"")
  endif()
  penstock_folders_of_wrapper(${FOLDER}/${name}/mpicxx includes libraries)
  if(NOT includes STREQUAL "/none;${FOLDER}/${name}/include" OR NOT libraries STREQUAL ${FOLDER}/${name}/lib)
    message(FATAL_ERROR "${name}: its folders are said to be ${includes} and ${libraries}")
  endif()
endfunction()

expect_family(upstream_mpich "#define MPICH_VERSION \"4.3.0\"" mpich)
expect_family(intel "#define I_MPI_VERSION \"2021.14\"\n#define MPICH_VERSION \"3.4a2\"" mpich)
expect_family(openmpi "#define OMPI_MAJOR_VERSION 5" openmpi)
expect_family(another "#define MPI_VERSION 3" "")

# a plain mpicxx that knows no -show must not end the search for those with a suffix
file(WRITE ${FOLDER}/fails/mpicxx "#!/bin/sh\nexit 1\n")
file(CHMOD ${FOLDER}/fails/mpicxx PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
penstock_family_of_wrapper(${FOLDER}/fails/mpicxx found)
if(NOT found STREQUAL "")
  message(FATAL_ERROR "a wrapper that fails is said to be of ${found}")
endif()
