#!/usr/bin/env bash
# Several processes of a launcher make one report: what they print, and how they end.
#   shared_report.sh FAMILY PENSTOCK SCALE_BENCHMARK
set -uo pipefail
family=$1 penstock=$2 generator=$3
support=$(dirname "$0")/../support
# shellcheck source=tests/support/expect.sh
. "$support/expect.sh"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

# RANKS ARGUMENT...: the report by so many processes; its exit code is the launcher's
shared() {
  local ranks=$1
  shift
  timeout 100 "$support/mpi_launch" "$family" "$ranks" -- "$penstock" report "$@"
}
code_of() {
  "$@" >"$room/out" 2>"$room/err"
  echo $?
}
is() { [ "$1" = "$2" ]; }

"$generator" write "$room/job" --ranks 10 --events 1000 >"$room/out" || exit 1
"$penstock" report "$room/job" --json >"$room/alone.json" || exit 1

shared 3 "$room/job" --json >"$room/together.json"
expect 'three processes end well' is $? 0
expect 'and print what one does, once' cmp "$room/alone.json" "$room/together.json"
shared 2 "$room/job" --json --jobs 2 >"$room/together.json"
expect 'so do two of two threads' cmp "$room/alone.json" "$room/together.json"

"$penstock" report "$room/job" --json --rank 7 >"$room/alone-7.json" || exit 1
shared 3 "$room/job" --json --rank 7 >"$room/together-7.json"
expect 'and so it is of one rank, which another process has read' cmp "$room/alone-7.json" "$room/together-7.json"
shared 3 "$room/job/rank-2.penstock" --json >"$room/together-2.json"
"$penstock" report "$room/job/rank-2.penstock" --json >"$room/alone-2.json"
expect 'and of fewer ranks than processes' cmp "$room/alone-2.json" "$room/together-2.json"
if "$penstock" report "$room/job" --html "$room/alone.html" 2>"$room/err"; then
  shared 3 "$room/job" --html "$room/together.html"
  expect 'and the page' cmp "$room/alone.html" "$room/together.html"
else
  expect 'without a page only as the build has none' grep -q 'this build has no page' "$room/err"
fi

expect 'a condition that holds is the exit code of all' is "$(code_of shared 3 "$room/job" --fail-if 'exposed > 0%')" 3
expect 'a folder that is not there is an error' is "$(code_of shared 3 "$room/nothing")" 1
expect 'which is said once' is "$(grep -c 'no such file or directory' "$room/err")" 1

# one process of a job makes a report, and the others have something else to do
cat >"$room/first" <<'SCRIPT'
#!/bin/sh
[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || exit 0
exec "$@"
SCRIPT
chmod +x "$room/first"
timeout 100 "$support/mpi_launch" "$family" 2 -- "$room/first" "$penstock" report "$room/job" --json --alone >"$room/first.json"
expect 'one that is told so makes it alone' cmp "$room/alone.json" "$room/first.json"

# one process is killed when it has begun: the others must not wait for ever
cat >"$room/dies" <<'SCRIPT'
#!/bin/sh
[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && kill -KILL $$
exec "$@"
SCRIPT
chmod +x "$room/dies"
timeout 100 "$support/mpi_launch" "$family" 3 -- "$room/dies" "$penstock" report "$room/job" >"$room/out" 2>"$room/err"
status=$?
expect 'a job of which a process is killed fails' test "$status" -ne 0
expect 'and does so soon' test "$status" -ne 124

exit "$failures"
