# Sets `commit` to the first twelve digits of the commit of SOURCE, with "-dirty" behind them if there are changes, and
# `commit_time` to its time in seconds since 1970. In a source archive, git has written both into archived_commit.txt. Where they
# cannot be told (no git, no work tree, sources within another project's repository) they are empty.
set(commit "")
set(commit_time "")
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/archived_commit.txt archived LIMIT_COUNT 1)
find_program(git git)
if(archived MATCHES "^([0-9a-f]+) ([0-9]+)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
  set(commit_time ${CMAKE_MATCH_2})
elseif(git)
  # without optional locks: a build must not be in the way of a git command that somebody else gives
  set(in_source ${git} --no-optional-locks -C ${SOURCE})
  execute_process(COMMAND ${in_source} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top STREQUAL source)
    execute_process(COMMAND ${in_source} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${in_source} log -1 --format=%ct
                    OUTPUT_VARIABLE commit_time OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
