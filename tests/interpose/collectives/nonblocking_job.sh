#!/usr/bin/env bash
# Non-blocking collectives on device buffers go by messages once the ranks have met, and on a communicator that was made
# while they use a GPU from the first one on.
#   nonblocking_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (nonblocking) calls them.
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

# job FILTER: runs those tests, and leaves in `messages` how many went between the devices, which only collectives send
job() {
  rm -rf "$folder/recording"
  "$here/../../support/mpi_launch" "$family" 2 --preload "$library" PENSTOCK_RECORD=1 \
    PENSTOCK_OUTPUT="$folder/recording" \
    -- "$program" --gtest_filter="$1" >"$folder/output" 2>&1 || fail "the job"
  ! grep '^SKIPPED' "$folder/output" || exit 77
  messages=$("$penstock" report --json "$folder/recording" |
    awk '/"transport":/ { is_peer = /"peer"/ } /"messages":/ && is_peer { sum += $2; is_peer = 0 } END { print sum + 0 }')
}

job '*complete_in_any_order*'
[ "$messages" -gt 0 ] || fail "no message between the devices"

job '*by_messages_from_the_first_on*'
tests=$(grep -c ' OK \]' "$folder/output")
# one call each, in which each rank sends the other a block
[ "$messages" = $((2 * tests)) ] || fail "$messages messages between the devices in $tests tests"
