#!/usr/bin/env bash
# Each start of a partitioned message is recorded as a message, in memory of any kind, whatever the partitions of both sides;
# those of device memory with the reason for which they are staged.
#   recorded_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (partitioned) sends them.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# three starts of a message of 720 ints, for each two of six kinds of memory
recorded_job 2 -- "$program" --gtest_filter='*of_every_kind*:*before_MPI_4' || fail "the job"
# shellcheck disable=SC2154
"$penstock" export --csv "$folder/csv" "$folder/recording" >>"$folder/output" || fail "the export"
grep -q '"unmatched_message_halves": 0$' "$folder/report" || fail "some have no other side"
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  $column["bytes"] == 2880 && $column["tag"] == 7 && $column["send_rank"] == 0 && $column["receive_rank"] == 1 {
    ++messages
    on_device = $column["send_buffer"] $column["receive_buffer"] !~ /^(pageable|pinned)(pageable|pinned)$/
    if (on_device && $column["transport"] != "staged") print "message " $1 " is not staged"
  }
  END { if (messages != 108) print messages + 0 " messages" }' "$folder/csv/messages.csv" >"$folder/wrong"
[ ! -s "$folder/wrong" ] || fail "$(cat "$folder/wrong")"
grep -q 'partitioned messages are always staged' "$folder/csv/transfers.csv" || fail "no reason"
echo "passed"
