# Programs below the including folder, which are not installed, are linked by lld where it is there: in a third of the
# time. GCC that compiles for another processor does not look for it where it is.
find_program(PENSTOCK_LLD ld.lld)
if(PENSTOCK_LLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
endif()
