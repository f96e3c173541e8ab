#!/usr/bin/env bash
# Packing and unpacking between buffers of one GPU is recorded as a copy there, all else as staged.
#   recorded_packing.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (staged_calls) packs elements in memory of each kind into memory of each kind, and unpacks them.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

recorded_job 2 -- "$program" --gtest_filter=Packing.takes_device_memory_of_every_kind || fail "the job"
# shellcheck disable=SC2154
"$penstock" export --csv "$folder/csv" "$folder/recording" >>"$folder/output" || fail "the export"
python3 - "$folder/csv/transfers.csv" <<'PYTHON' >>"$folder/output" || fail "what was packed"
import collections
import csv
import sys

kinds = collections.Counter()
for row in csv.DictReader(open(sys.argv[1])):
    of_device = all(row[side] in ("device", "async pool", "virtual memory") for side in ("source", "destination"))
    assert (row["transport"] == "local") == of_device, row
    assert row["transport"] in ("local", "staged"), row
    kinds[row["transport"]] += 1
print(kinds)
# two ranks, nine pairs of three kinds, both ways
assert kinds["local"] == 36 and kinds["staged"] > 36, kinds
PYTHON
echo "passed"
