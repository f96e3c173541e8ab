#!/usr/bin/env bash
# Non-blocking collectives on device buffers go by messages once the ranks have met.
#   nonblocking_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (nonblocking) calls them after blocking ones.
set -euo pipefail
family=$1 program=$2 library=$3 penstock=$4
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $*"
  sed 's/^/    /' "$folder/output"
  exit 1
}
"$here/../../support/mpi_launch" "$family" 2 --preload "$library" PENSTOCK_RECORD=1 \
  PENSTOCK_OUTPUT="$folder/recording" \
  -- "$program" --gtest_filter='*complete_in_any_order*' >"$folder/output" 2>&1 || fail "the job"
! grep '^SKIPPED' "$folder/output" || exit 77
"$penstock" report --json "$folder/recording" | grep -o '"transport": *"[a-z]*"' >"$folder/transports"
# between two devices only they send anything
grep -q peer "$folder/transports" || fail "no message between the devices"
