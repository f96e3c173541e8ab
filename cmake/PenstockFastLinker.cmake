# Programs below the including folder, which are not installed, are linked by lld where it is there: in a third of the time.
find_program(PENSTOCK_LLD ld.lld)
if(PENSTOCK_LLD)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
endif()
