# What `cmake --install` puts where, and the .deb that CPack makes of it (`cpack --config build/CPackConfig.cmake`):
#   bin/penstock   lib/…/penstock/libpenstock_<family>.so   include/penstock/{mpi-ext.h, device.cuh}   share/doc/penstock
#   share/penstock/python   share/man   completions of bash, zsh and fish in share/
#   share/pkgconfig, share/cmake/Penstock   share/modulefiles/penstock: for Lmod
# Include it before the targets are made: PENSTOCK_LIBRARIES_FROM_COMMAND is where the command looks.
include(GNUInstallDirs)
set(penstock_library_folder ${CMAKE_INSTALL_LIBDIR}/penstock)  # its own: nobody links them
file(RELATIVE_PATH PENSTOCK_LIBRARIES_FROM_COMMAND ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBDIR}/penstock)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # installs what was built, without tests and examples

install(FILES include/penstock/mpi-ext.h include/penstock/device.cuh DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock)
# Who uses it from the sources leaves a folder of bytecode there, which would be installed, empty.
install(DIRECTORY python/penstock DESTINATION ${CMAKE_INSTALL_DATADIR}/penstock/python
        FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# penstock_install_manual(<folder>): what `penstock man --write` wrote there. zsh looks in site-functions, but Debian's, of what
# lies in /usr, in vendor-completions.
function(penstock_install_manual folder)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL PATTERN zsh EXCLUDE)
  install(CODE "
    set(zsh site-functions)
    if(CMAKE_INSTALL_PREFIX MATCHES \"/usr/?$\" AND EXISTS /etc/debian_version)
      set(zsh vendor-completions)
    endif()
    file(INSTALL \"${folder}/zsh/site-functions/\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${zsh}\" OPTIONAL)")
endfunction()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "moves GPU buffers over stock MPI and shows exposed communication")
# What other tools read of an installation. Each finds the prefix from where it lies itself.
set(tools_folder ${CMAKE_BINARY_DIR}/package)
string(REGEX REPLACE "[^/]+" ".." prefix_from_share ${CMAKE_INSTALL_DATADIR})
string(REGEX MATCHALL "[^/]+" levels ${CMAKE_INSTALL_DATADIR}/modulefiles/penstock/file)
list(LENGTH levels levels_below_prefix)
configure_file(cmake/package/penstock.pc.in ${tools_folder}/penstock.pc @ONLY)
configure_file(cmake/package/PenstockConfig.cmake.in ${tools_folder}/PenstockConfig.cmake @ONLY)
configure_file(cmake/package/modulefile.lua.in ${tools_folder}/${PROJECT_VERSION}.lua @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${tools_folder}/PenstockConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${tools_folder}/penstock.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES ${tools_folder}/PenstockConfig.cmake ${tools_folder}/PenstockConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/Penstock)
install(FILES ${tools_folder}/${PROJECT_VERSION}.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/penstock)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME penstock)
set(CPACK_PACKAGE_CONTACT "The Penstock authors")
set(CPACK_PACKAGE_DESCRIPTION
    "A library that is preloaded under an MPI+CUDA program: it moves GPU buffers between ranks over an MPI that knows
nothing about GPUs, and records where communication is not hidden behind GPU compute. `penstock run` starts a program
under it, `penstock report` prints what was found.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "mpich | openmpi-bin")  # the program brings its MPI
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)  # CPack would ask this machine; cmake/aarch64.cmake is the only other
endif()
# Kernels for the simulated GPU are of no use on a real one: sorts before, so that a package for GPUs replaces it.
set(penstock_version ${PROJECT_VERSION})
if(PENSTOCK_GPU_IS_SIMULATED)
  string(APPEND penstock_version ~simulated)
endif()
set(CPACK_DEBIAN_PACKAGE_VERSION ${penstock_version})
# The same package whenever and wherever it is built.
configure_file(cmake/package/time_of_package.cmake.in ${tools_folder}/time_of_package.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${tools_folder}/time_of_package.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package/readable_folders.cmake)
include(CPack)
