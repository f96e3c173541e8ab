# Toolchain file: from x86_64 to aarch64 (Grace Hopper) by Debian's cross compiler. Libraries come from a folder that
# cmake/aarch64_libraries fills, headers from there or, where they are the same for every processor, from this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(aarch64_root ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/debian ABSOLUTE)
set(aarch64_libraries ${aarch64_root}/usr/lib/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${aarch64_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)  # header-only ones (CLI11, nlohmann-json) are this machine's
set(ENV{PKG_CONFIG_LIBDIR} ${aarch64_libraries}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${aarch64_root})
# what those libraries need in turn
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${aarch64_libraries}:${aarch64_root}/lib/aarch64-linux-gnu")

find_program(PENSTOCK_QEMU_AARCH64 qemu-aarch64)
if(PENSTOCK_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PENSTOCK_QEMU_AARCH64} -L /usr/aarch64-linux-gnu
                                    -E LD_LIBRARY_PATH=${aarch64_libraries}:${aarch64_root}/lib/aarch64-linux-gnu)
endif()
