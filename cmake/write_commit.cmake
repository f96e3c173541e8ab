# Writes a header with the commit that is built, for `penstock --version`. In a source archive, git has written it into
# archived_commit.txt. Where it cannot be told (no git, no work tree, sources within another project's repository) the text is
# empty. The header keeps its time unless its text changes.
#   cmake -D SOURCE=… -D HEADER=… -P cmake/write_commit.cmake
cmake_minimum_required(VERSION 3.25)
find_program(git git)
set(commit "")
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/archived_commit.txt archived LIMIT_COUNT 1)
if(archived MATCHES "^[0-9a-f]+$")
  string(SUBSTRING ${archived} 0 12 commit)
elseif(git)
  # without optional locks: a build must not be in the way of a git command that somebody else gives
  execute_process(COMMAND ${git} --no-optional-locks -C ${SOURCE} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top STREQUAL source)
    execute_process(COMMAND ${git} --no-optional-locks -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
string(REPLACE "-dirty" " and changes" commit "${commit}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define PENSTOCK_COMMIT \"@commit@\"\n" @ONLY)
