# Includes go one way: each folder of the interposer and of the transports names here what it may include besides
# itself, and nothing that is named below it. A new arrow is a line of this file, for a reviewer to see.
#   cmake -D SOURCE=. -P cmake/check_includes.cmake
cmake_minimum_required(VERSION 3.25)
file(REAL_PATH "${SOURCE}" SOURCE)
set(known "")

# may_include(<folder> <folder>…): the folders named must have been named before.
macro(may_include folder)
  foreach(other ${ARGN})
    if(NOT other IN_LIST known)
      message(SEND_ERROR "${folder} may include ${other}, which is not named above it")
    endif()
  endforeach()
  list(APPEND known ${folder})
  set(allowed_${folder} ${folder} ${ARGN})
endmacro()

may_include(transports/host)
may_include(transports/memory transports/host)
may_include(transports/kernels)
may_include(transports/cuda transports/host transports/memory transports/kernels)
may_include(transports/tuning transports/host transports/cuda)
may_include(transports/copies transports/host transports/memory transports/cuda)
may_include(transports/regions transports/host transports/memory transports/cuda transports/copies)
may_include(transports/small transports/host transports/memory transports/kernels transports/cuda transports/tuning
            transports/copies)
may_include(transports transports/host transports/memory transports/cuda transports/tuning transports/copies
            transports/regions transports/small)
may_include(transports/tune transports/host transports/memory transports/cuda transports/tuning transports/regions
            transports)

# Of the transports all below may include any folder but tune.
set(moving ${known})
list(REMOVE_ITEM moving transports/tune transports/kernels)
may_include(interpose/record transports/host)
may_include(interpose/binding interpose/record)
may_include(interpose/node ${moving} interpose/record)
may_include(interpose/calls ${moving} interpose/record interpose/binding interpose/node)
set(basis ${moving} interpose/record interpose/binding interpose/node interpose/calls)
may_include(interpose/datatypes ${basis})
may_include(interpose/progress ${basis})
may_include(interpose/messages ${basis} interpose/datatypes)
may_include(interpose/network ${basis} interpose/progress interpose/messages)
may_include(interpose/protocol ${basis} interpose/datatypes interpose/progress interpose/messages interpose/network)
may_include(interpose/staging ${basis} interpose/datatypes interpose/progress)
may_include(interpose/collectives ${basis} interpose/progress interpose/network interpose/staging)
may_include(interpose/wrappers ${known})

# Folders with one header for all others.
set(entry_transports/small small_copies.hpp)

file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/interpose/*.cpp ${SOURCE}/interpose/*.hpp
     ${SOURCE}/interpose/*.def ${SOURCE}/transports/*.cpp ${SOURCE}/transports/*.hpp ${SOURCE}/transports/*.cu)
set(checked 0)
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH folder)
  if(NOT folder IN_LIST known)
    message(SEND_ERROR "${source}: its folder is not named in cmake/check_includes.cmake")
    continue()
  endif()
  file(STRINGS ${SOURCE}/${source} lines REGEX "^#include \"(interpose|transports)/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)/[^/\"]+\".*" "\\1" included "${line}")
    math(EXPR checked "${checked} + 1")
    string(REGEX REPLACE "^#include \"[^\"]+/([^/\"]+)\".*" "\\1" header "${line}")
    if(DEFINED entry_${included} AND NOT included STREQUAL folder AND NOT header STREQUAL "${entry_${included}}")
      message(SEND_ERROR "${source}: of ${included} others include ${entry_${included}} only\n  ${line}")
    endif()
    if(NOT included IN_LIST allowed_${folder})
      message(SEND_ERROR "${source}: ${folder} must not include ${included}\n  ${line}")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(SEND_ERROR "no include was found in ${SOURCE}")
endif()
message(STATUS "${checked} includes go one way")
