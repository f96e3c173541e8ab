# Builds the page with npm's packages, which are fetched where they are not those of the lock file.
#   cmake -D SOURCE=viz -D PAGE=FILE -D WANTED=ON|AUTO|OFF [-D BUILT=FILE] -D NPM=… -D NODE=… -P build_page.cmake
# BUILT: the page as a source archive brings it.
cmake_minimum_required(VERSION 3.22)

# Leaves the page out, unless it must be there.
macro(leave_out why)
  if(WANTED STREQUAL "ON")
    message(FATAL_ERROR "The page of `penstock report --html` cannot be built: ${why}")
  endif()
  message("Penstock: `penstock report --html` is left out: ${why}. To try again, remove ${PAGE}")
  file(WRITE ${PAGE} "")
  return()
endmacro()

if(WANTED STREQUAL "OFF")
  file(WRITE ${PAGE} "")
  return()
endif()
if(BUILT)
  file(COPY_FILE ${BUILT} ${PAGE})
  return()
endif()
if(NOT NPM OR NOT NODE)
  leave_out("there is no npm here (Debian packages nodejs and npm)")
endif()
execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^v" "" node_version "${node_version}")
if(node_version VERSION_LESS 18)
  leave_out("Node ${node_version} is too old, it takes 18")
endif()

# Several build folders share the packages.
file(MAKE_DIRECTORY ${SOURCE}/src/generated)
file(LOCK ${SOURCE}/src/generated/lock GUARD PROCESS TIMEOUT 600)
set(installed ${SOURCE}/node_modules/.package-lock.json)
if(NOT EXISTS ${installed} OR ${SOURCE}/package-lock.json IS_NEWER_THAN ${installed})
  execute_process(
    # scripts of packages are of no use here, and are others' code
    COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failure OUTPUT_QUIET ERROR_VARIABLE words)
  if(failure)
    string(REGEX MATCH "[^\n]*\n?[^\n]*\n?[^\n]*" words "${words}")  # the first lines say why
    leave_out("npm cannot fetch its packages (${words})")
  endif()
  file(TOUCH ${installed})
endif()

cmake_path(GET PAGE PARENT_PATH folder)
execute_process(COMMAND ${NODE} tools/generate.mjs WORKING_DIRECTORY ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PENSTOCK_PAGE_FOLDER=${folder}/bundle ${NODE} node_modules/vite/bin/vite.js build --logLevel warn
  WORKING_DIRECTORY ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${folder}/bundle/page.html ${PAGE})
