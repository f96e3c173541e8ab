# Writes a header with the commit that is built, for `penstock --version`; an empty text if it cannot be told. The header keeps
# its time unless its text changes.
#   cmake -D SOURCE=… -D HEADER=… -P cmake/write_commit.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/find_commit.cmake)
string(REPLACE "-dirty" " and changes" commit "${commit}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define PENSTOCK_COMMIT \"@commit@\"\n" @ONLY)
