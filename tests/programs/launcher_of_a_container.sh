#!/usr/bin/env bash
# The launcher is the first process that there is, as in a container which is started with it: its ranks find each other.
#   launcher_of_a_container.sh FAMILY PROGRAM LIBRARY PENSTOCK
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../support/job.sh"
container=(unshare --pid --fork --mount-proc)
if ! "${container[@]}" true 2>/dev/null; then
  echo "SKIPPED: no process name spaces here"
  exit 77
fi
# shellcheck disable=SC2154  # job.sh
"${container[@]}" "$support/mpi_launch" "$family" 2 --preload "$library" PENSTOCK_RECORD=1 PENSTOCK_OUTPUT="$folder/recording" \
  -- "$program" >"$folder/output" 2>&1 || fail "the job"
"$penstock" report --json --whole-run "$folder/recording" >"$folder/report"
[ "$(messages_by peer)" -gt 0 ] || fail "no message went from device to device"
