#!/usr/bin/env bash
# Each start of a partitioned message is recorded as a message, in memory of any kind, whatever the partitions of both sides;
# those of device memory with the reason for which they are staged, or are not: then as copies between GPUs, with both sides' halves.
#   recorded_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (partitioned) sends them.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# three starts of a message of 720 ints, for each two of six kinds of memory, and one without gaps
recorded_job 2 -- "$program" --gtest_filter='*of_every_kind*:*before_MPI_4' || fail "the job"
# shellcheck disable=SC2154
"$penstock" export --csv "$folder/csv" "$folder/recording" >>"$folder/output" || fail "the export"
grep -q '"unmatched_message_halves": 0$' "$folder/report" || fail "some have no other side"
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  $column["bytes"] == 2880 && $column["tag"] == 7 && $column["send_rank"] == 0 && $column["receive_rank"] == 1 {
    ++messages
    on_device = $column["send_buffer"] $column["receive_buffer"] !~ /^(pageable|pinned)(pageable|pinned)$/
    # from memory that can be exported to any that belongs to a device, both without gaps
    may_be_direct = $column["send_buffer"] == "device" && $column["receive_buffer"] ~ /^(device|async pool|virtual memory)$/
    if (on_device && $column["transport"] != "staged" && !(may_be_direct && $column["transport"] == "peer"))
      print "message " $1 " came by " $column["transport"]
    if ($column["transport"] == "peer") ++direct
  }
  END {
    if (messages != 144) print messages + 0 " messages"
    if (direct != 3) print direct + 0 " are copied between GPUs"
  }' "$folder/csv/messages.csv" >"$folder/wrong"
[ ! -s "$folder/wrong" ] || fail "$(cat "$folder/wrong")"
grep -q 'its partitions do not lie in one piece of memory' "$folder/csv/transfers.csv" || fail "no reason"
grep -q "sender's memory is from an async pool and cannot be exported" "$folder/csv/transfers.csv" || fail "no reason of the sender's"
grep -q 'the receiver copies each partition once it is ready' "$folder/csv/transfers.csv" || fail "no reason for copies"

# who waits for a partition waits for the other side's work, and not while bytes move
recorded_job 2 -- "$program" --gtest_filter='*wait_for_their_last_partition' || fail "the job that waits"
python3 - "$folder/report" <<'PYTHON' >>"$folder/output" || fail "what the receiver waits for"
import json
import sys

report = json.load(open(sys.argv[1]))
waits = [site["by_cause_s"] for site in report["call_sites"] if site["mpi_function"] == "MPI_Wait"]
print(waits)
not_ready = sum(causes["gpu_not_ready"] for causes in waits)
others = sum(sum(causes.values()) for causes in waits) - not_ready
assert not_ready > 0, "the sender sleeps for 40 ms, twice"
assert others < not_ready, "two copies of 1,440 bytes"
PYTHON
echo "passed"
