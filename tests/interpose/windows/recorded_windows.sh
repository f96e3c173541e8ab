#!/usr/bin/env bash
# Fences are joined as collectives are, so that who is late to them is told; what is put is told with its bytes.
#   recorded_windows.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (windows) puts ten times a mebibyte from each rank to the other. Rank 1 comes 20 ms late to each fence, or to open its
# memory.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# check OWNER: what the report says of the fences, and the records of the puts
check() {
  python3 - "$folder/report" "$folder/csv" "$1" <<'PYTHON' >>"$folder/output" || fail "the windows are $1"
import csv
import json
import sys

report = json.load(open(sys.argv[1]))
owner = sys.argv[3]
fences = [site for site in report["call_sites"] if site["mpi_function"] == "MPI_Win_fence"]
waits = {cause: sum(site["by_cause_s"][cause] for site in fences) for cause in fences[0]["by_cause_s"]}
print("fences", waits)
assert waits["wait_at_collective"] >= 0.15, "rank 0 waits ten times for 20 ms"
assert waits["unattributed"] == 0, "all waits have a cause"
late = [row for row in report["latecomers"] if row["rank"] == 1 and "MPI_Win_fence" in json.dumps(row)]
assert late, "rank 1 is late"

calls = list(csv.DictReader(open(f"{sys.argv[2]}/mpi_calls.csv")))
puts = [call for call in calls if call["function"] == "MPI_Put"]
assert sorted((call["rank"], call["peer_rank"], call["bytes"]) for call in puts) == \
    sorted([("0", "1", "1048576"), ("1", "0", "1048576")] * 10), puts
if owner == "ours":
    rows = [row for row in report["transports"] if row["reason"].startswith("one-sided")]
    assert [(row["transport"], row["parts"], row["part_bytes"]) for row in rows] == [("peer", 20, 20 << 20)], rows
PYTHON
}

# check_waits: what the report says of calls that wait for some members
check_waits() {
  python3 - "$folder/report" <<'PYTHON' >>"$folder/output" || fail "waits for some members"
import json
import sys

report = json.load(open(sys.argv[1]))
for function in ["MPI_Win_start", "MPI_Win_wait", "MPI_Win_lock"]:
    sites = [site for site in report["call_sites"] if site["mpi_function"] == function]
    waits_s = sum(site["by_cause_s"]["wait_at_window"] for site in sites)
    print(function, waits_s)
    assert waits_s >= 0.15, f"rank 0 waits ten times for 20 ms in {function}"
waits_s = [row["by_cause_s"]["wait_at_window"] for row in report["peers"] if row["rank"] == 1]
assert waits_s and waits_s[0] >= 0.5, f"all for rank 1: {waits_s}"
assert report["counted"]["by_cause_s"]["unattributed"] < 0.05, report["counted"]["by_cause_s"]
PYTHON
}

# check_advice: what the report says of a rank that is in host code before it opens its window
check_advice() {
  python3 - "$folder/report" <<'PYTHON' >>"$folder/output" || fail "advice on a window that is opened late"
import json
import sys

report = json.load(open(sys.argv[1]))
late = [row for row in report["latecomers"] if (row["rank"], row["mpi_function"]) == (1, "MPI_Win_post")]
print("latecomers", late)
assert len(late) == 1 and late[0]["times"] == 10, "rank 0 waits ten times for rank 1"
assert late[0]["in_host_code_s"] >= 0.15, "rank 1 is ten times for 20 ms in host code"
print("advice", report["advice"])
# behind start-up, which takes longest where the GPU is real
advice = [row for row in report["advice"] if row["kind"] == "host_code" and "wait for rank 1" in row["text"]]
assert advice, "its host code is advised"
# the first of the ten times lies behind another call, and so is another advice
share = advice[0]["saves_s"] / report["counted"]["ranks"] / late[0]["late_s"]
assert 0.75 <= share <= 1.1, f"saves nine tenths of what others waited for: {share}"
PYTHON
}

recorded_job 2 -- "$program" --gtest_filter=RecordedWindows.that_wait_for_some_members
check_waits
recorded_job 2 -- "$program" --gtest_filter=RecordedWindows.that_are_opened_late
check_advice
for owner in ours the_librarys; do
  code=0
  (recorded_job 2 -- "$program" --gtest_filter="RecordedWindows.are_$owner") || code=$?
  if [ $code = 77 ] && [ "$owner" = the_librarys ]; then continue; fi # this MPI makes none here
  [ $code = 0 ] || exit $code
  # shellcheck disable=SC2154
  "$penstock" export --csv "$folder/csv" "$folder/recording" >>"$folder/output" || fail "the export"
  check "$owner"
  rm -rf "$folder/csv"
done
echo "passed"
