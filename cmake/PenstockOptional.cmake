# Libraries that may be missing. Each switches one thing off, and that is said three times: here, by `penstock --version` and
# `penstock info`, and by the command that is asked for it. The page of `penstock report --html` may be missing, too: viz/CMakeLists.txt.
#   PENSTOCK_WITHOUT            libraries to build without though they are there: libdw, libelf, protozero, otf2, hwloc
#   PENSTOCK_HAS_<LIBRARY>      ON or OFF
#   PkgConfig::PENSTOCK_<LIBRARY>, or for protozero PENSTOCK_PROTOZERO, its folder of headers
set(PENSTOCK_WITHOUT "" CACHE STRING "Optional libraries to leave out, a list of: libdw libelf protozero otf2 hwloc")
find_package(PkgConfig)

# penstock_have(<library> <whether it was found> <what there is not without it>)
function(penstock_have library found loss)
  string(TOUPPER ${library} upper)
  if(found AND NOT library IN_LIST PENSTOCK_WITHOUT)
    set(PENSTOCK_HAS_${upper} ON PARENT_SCOPE)
  else()
    set(PENSTOCK_HAS_${upper} OFF PARENT_SCOPE)
    message(STATUS "Penstock: no ${library}: ${loss}")
  endif()
endfunction()

if(PkgConfig_FOUND)
  pkg_check_modules(PENSTOCK_LIBDW QUIET IMPORTED_TARGET libdw)
  pkg_check_modules(PENSTOCK_LIBELF QUIET IMPORTED_TARGET libelf)
  pkg_check_modules(PENSTOCK_OTF2 QUIET IMPORTED_TARGET otf2)
  pkg_check_modules(PENSTOCK_HWLOC QUIET IMPORTED_TARGET hwloc)
else()
  message(STATUS "Penstock: no pkg-config, which finds libdw, libelf, otf2 and hwloc")
endif()
find_path(PENSTOCK_PROTOZERO protozero/pbf_writer.hpp)

penstock_have(libelf "${PENSTOCK_LIBELF_FOUND}" "`penstock run` does not see which MPI a program needs, and goes by the launcher or --mpi")
if(PENSTOCK_HAS_LIBELF)
  penstock_have(libdw "${PENSTOCK_LIBDW_FOUND}" "call sites are named without file and line")
else()
  penstock_have(libdw "${PENSTOCK_LIBDW_FOUND}" "call sites are addresses, without function, file and line")
endif()
penstock_have(protozero "${PENSTOCK_PROTOZERO}" "no `penstock export --perfetto`")
penstock_have(otf2 "${PENSTOCK_OTF2_FOUND}" "no `penstock export --otf2`")
penstock_have(hwloc "${PENSTOCK_HWLOC_FOUND}" "examples/gmh is not built")
