# One interface target that carries the project's compiler warnings and include root.
add_library(penstock_options INTERFACE)
target_include_directories(penstock_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(
  penstock_options
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wno-missing-field-initializers>)
option(PENSTOCK_WERROR "Treat warnings as errors" ON)
if(PENSTOCK_WERROR)
  target_compile_options(penstock_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
