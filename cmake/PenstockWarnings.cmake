# One interface target that carries the project's compiler warnings and include root.
add_library(penstock_options INTERFACE)
target_include_directories(penstock_options INTERFACE ${CMAKE_SOURCE_DIR})
# Sources that are compiled as one see each other's names, and shadow some: there only names within a function count.
set(shadow_warning -Wshadow)
if(CMAKE_UNITY_BUILD)
  set(shadow_warning $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
target_compile_options(
  penstock_options
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            ${shadow_warning}
            -Wconversion
            -Wno-missing-field-initializers>)
# Those who develop it take warnings for errors. Who only builds it may have a compiler that knows more of them than ours.
set(warnings_are_errors OFF)
if(CMAKE_BUILD_TYPE STREQUAL Debug OR DEFINED ENV{CI})
  set(warnings_are_errors ON)
endif()
option(PENSTOCK_WERROR "Treat warnings as errors" ${warnings_are_errors})
if(PENSTOCK_WERROR)
  target_compile_options(penstock_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
