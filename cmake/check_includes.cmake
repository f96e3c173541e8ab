# Includes go one way: each folder of the interposer, of the transports and of the analysis names here what it may include besides
# itself, and nothing that is named below it. A new arrow is a line of this file, for a reviewer to see.
#   cmake -D SOURCE=. -P cmake/check_includes.cmake
cmake_minimum_required(VERSION 3.22)
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

may_include(transports/kinds)
may_include(transports/host)
may_include(transports/memory transports/host)
may_include(transports/kernels transports/memory)
may_include(transports/cuda transports/host transports/memory transports/kernels)
may_include(transports/device_memory transports/host transports/memory transports/cuda)
may_include(transports/stream_order transports/host transports/memory transports/cuda transports/device_memory)
may_include(transports/tuning transports/host transports/cuda)
set(gpu transports/host transports/memory transports/cuda transports/device_memory transports/stream_order)
may_include(transports/copies ${gpu} transports/kernels)
may_include(transports/packing ${gpu} transports/kernels)
may_include(transports/regions ${gpu} transports/copies transports/packing)
may_include(transports/small ${gpu} transports/kernels transports/tuning transports/copies)
may_include(transports/reduction ${gpu} transports/kernels transports/small)
may_include(transports/one_shot ${gpu} transports/kernels transports/small transports/reduction)
may_include(transports/copy_selection ${gpu} transports/tuning transports/copies transports/small)
# What a transport is and which is taken stands at the root; each transport, with both halves, in a room above it.
may_include(transports ${gpu} transports/kinds transports/tuning transports/copies transports/regions transports/small)
may_include(transports/local transports transports/host transports/small transports/copy_selection)
may_include(transports/ipc transports transports/host transports/memory transports/cuda transports/device_memory
            transports/stream_order transports/copies transports/regions transports/small transports/copy_selection)
may_include(transports/staged ${gpu} transports transports/tuning transports/copies transports/regions transports/small
            transports/copy_selection transports/ipc)
may_include(transports/tune ${gpu} transports/tuning transports/regions transports transports/ipc transports/staged)

# Of the transports all below may include any folder but tune.
set(moving ${known})
list(REMOVE_ITEM moving transports/tune transports/kernels)
# Of the recorder the interposer includes the root, which has the interface and the trace format; its rooms are its own.
may_include(interpose/record transports/kinds)
set(before_record_rooms ${known})
may_include(interpose/record/file interpose/record transports/host)
may_include(interpose/record/python interpose/record)
may_include(interpose/record/call_paths interpose/record interpose/record/file interpose/record/python)
may_include(interpose/record/gpu interpose/record interpose/record/file transports/host)
may_include(interpose/record/run interpose/record interpose/record/file interpose/record/call_paths interpose/record/gpu
            transports/host)
set(record_rooms ${known})
list(REMOVE_ITEM record_rooms ${before_record_rooms})
may_include(interpose/binding interpose/record)
may_include(interpose/node ${moving} interpose/record)
may_include(interpose/calls ${moving} interpose/record interpose/binding interpose/node)
set(basis ${moving} interpose/record interpose/binding interpose/node interpose/calls)
may_include(interpose/datatypes ${basis})
may_include(interpose/progress ${basis})
may_include(interpose/messages ${basis} interpose/datatypes)
may_include(interpose/posted ${basis} interpose/progress)
may_include(interpose/network ${basis} interpose/progress interpose/messages)
may_include(interpose/protocol ${basis} interpose/datatypes interpose/progress interpose/messages interpose/posted
            interpose/network)
may_include(interpose/staging ${basis} interpose/datatypes interpose/progress)
set(below ${basis} interpose/datatypes interpose/progress interpose/messages interpose/posted interpose/network
    interpose/protocol interpose/staging)
may_include(interpose/windows/memory ${moving} interpose/progress interpose/staging)
# How another rank's memory is reached is the same for a window and for the buffer of a partitioned message.
may_include(interpose/partitioned ${below} interpose/windows/memory)
may_include(interpose/collectives/schedules ${below})
may_include(interpose/windows/separate ${basis} interpose/staging interpose/windows/memory)
# The operations that kernels know are in schedules; of collectives it knows nothing else.
may_include(interpose/windows ${below} interpose/collectives/schedules interpose/windows/memory interpose/windows/separate)
may_include(interpose/collectives/kernels ${below} interpose/collectives/schedules)
may_include(interpose/collectives/deferred ${below} interpose/collectives/schedules interpose/collectives/kernels)
may_include(interpose/collectives/agreement ${below} interpose/collectives/schedules interpose/collectives/deferred)
may_include(interpose/collectives/calls ${below} interpose/collectives/schedules interpose/collectives/kernels
            interpose/collectives/deferred interpose/collectives/agreement)
set(wrapped ${known})
list(REMOVE_ITEM wrapped ${record_rooms} interpose/windows/memory interpose/windows/separate)
may_include(interpose/wrappers ${wrapped})

# What reads a recording. Of the recorder it knows the trace format; only the command knows transports.
may_include(analysis/layout)
may_include(analysis/tables)
may_include(analysis/recording analysis/tables)
may_include(analysis/sharing analysis/recording)
may_include(analysis/joining analysis/tables analysis/recording analysis/sharing)
may_include(analysis/causes analysis/tables analysis/recording analysis/joining)
set(explained analysis/recording analysis/joining analysis/causes)
may_include(analysis/report analysis/layout ${explained})
may_include(analysis/report/conclusions analysis/layout analysis/tables analysis/joining analysis/report)
may_include(analysis/report/text analysis/layout analysis/report analysis/report/conclusions)
may_include(analysis/report/json analysis/report analysis/report/conclusions)
may_include(analysis/naming analysis/tables analysis/recording analysis/report)
may_include(analysis/replay ${explained} analysis/tables analysis/report)
may_include(analysis/changes ${explained} analysis/tables analysis/report analysis/replay)
may_include(analysis/figures ${explained} analysis/tables analysis/report analysis/naming analysis/replay analysis/changes)
may_include(analysis/comparison analysis/layout analysis/recording analysis/tables analysis/report analysis/report/conclusions
            analysis/report/json)
may_include(analysis/export/common analysis/recording analysis/joining analysis/naming)
may_include(analysis/export/otf2 analysis/recording analysis/report analysis/export/common)
may_include(analysis/export analysis/recording analysis/sharing analysis/report analysis/naming analysis/export/common
            analysis/export/otf2)
may_include(analysis/unfinished analysis/tables analysis/recording analysis/report analysis/naming)
may_include(analysis/pipeline ${explained} analysis/tables analysis/sharing analysis/report analysis/report/conclusions
            analysis/naming analysis/figures analysis/unfinished)
may_include(analysis/scaling analysis/layout analysis/tables analysis/report)
may_include(analysis/job_timeline analysis/tables analysis/joining analysis/causes analysis/report analysis/naming
            analysis/export/common analysis/pipeline)
may_include(analysis/cli/launch analysis/tables)
may_include(analysis/cli/options analysis/layout analysis/report analysis/report/conclusions analysis/comparison analysis/pipeline)
may_include(analysis/cli/manual analysis/layout analysis/joining analysis/causes analysis/report analysis/report/conclusions)
may_include(analysis/cli analysis/tables analysis/layout analysis/recording analysis/sharing analysis/report analysis/report/conclusions analysis/report/text
            analysis/report/json analysis/comparison analysis/export/common analysis/export analysis/unfinished
            analysis/pipeline analysis/scaling analysis/job_timeline analysis/cli/launch analysis/cli/manual analysis/cli/options)

file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/interpose/*.cpp ${SOURCE}/interpose/*.hpp
     ${SOURCE}/interpose/*.def ${SOURCE}/transports/*.cpp ${SOURCE}/transports/*.hpp ${SOURCE}/transports/*.cu
     ${SOURCE}/transports/*.cuh ${SOURCE}/transports/*.def
     ${SOURCE}/analysis/*.cpp ${SOURCE}/analysis/*.hpp)
set(checked 0)
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH folder)
  if(NOT folder IN_LIST known)
    message(SEND_ERROR "${source}: its folder is not named in cmake/check_includes.cmake")
    continue()
  endif()
  set(trees "interpose|transports")
  if(folder MATCHES "^analysis/")
    set(trees "analysis")
  endif()
  file(STRINGS ${SOURCE}/${source} lines REGEX "^#include \"(${trees})/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)/[^/\"]+\".*" "\\1" included "${line}")
    math(EXPR checked "${checked} + 1")
    if(NOT included IN_LIST allowed_${folder})
      message(SEND_ERROR "${source}: ${folder} must not include ${included}\n  ${line}")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(SEND_ERROR "no include was found in ${SOURCE}")
endif()
message(STATUS "${checked} includes go one way")
