# Programs of tests are of few sources, and their folders compile each on its own. Programs of many are compiled eight
# sources at a time, in the builds that compile up to 24 sources of a library as one: half the time.
#
#   penstock_compile_together(<program>)
#     From four sources on. What one source keeps to itself must not have another's name.
include_guard()

function(penstock_compile_together program)
  get_target_property(sources ${program} SOURCES)
  list(LENGTH sources count)
  if(count GREATER_EQUAL 4)
    set_target_properties(${program} PROPERTIES UNITY_BUILD "$CACHE{CMAKE_UNITY_BUILD}" UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
