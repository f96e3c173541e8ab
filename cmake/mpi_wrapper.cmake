# What a compiler wrapper of MPI knows: where its headers and libraries are, and which family it belongs to.

# penstock_folders_of_wrapper(<wrapper> <includes> <libraries>): sets two lists of folders. MPICH prints "g++ … -I… -L… -l…"
# for -show, Open MPI for --showme; both words are known to both.
function(penstock_folders_of_wrapper wrapper includes libraries)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "-I[^ ]+" found_includes "${line}")
  string(REGEX MATCHALL "-L[^ ]+" found_libraries "${line}")
  list(TRANSFORM found_includes REPLACE "^-I" "")
  list(TRANSFORM found_libraries REPLACE "^-L" "")
  set(${includes} ${found_includes} PARENT_SCOPE)
  set(${libraries} ${found_libraries} PARENT_SCOPE)
endfunction()

# penstock_family_of_wrapper(<wrapper> <variable>): sets it to mpich, openmpi, or nothing for an MPI of neither.
function(penstock_family_of_wrapper wrapper variable)
  set(family "")
  penstock_folders_of_wrapper(${wrapper} includes ignored)
  foreach(folder IN LISTS includes)
    if(EXISTS ${folder}/mpi.h)
      file(STRINGS ${folder}/mpi.h lines REGEX "^#define +(OMPI_MAJOR_VERSION|MPICH_VERSION) ")
      if(lines MATCHES OMPI_MAJOR_VERSION)
        set(family openmpi)
      elseif(lines MATCHES MPICH_VERSION)
        set(family mpich)
      endif()
      break()
    endif()
  endforeach()
  set(${variable} "${family}" PARENT_SCOPE)
endfunction()
