#!/usr/bin/env bash
# Each start of a persistent collective is recorded until it is complete, whoever carries it out: a kernel on each rank,
# messages, the MPI library on stand-ins, or alone. So the report says what a call that completes one waits for.
#   persistent_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (collectives) starts them.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# without those that wait for inactive requests, too
recorded_job 3 -- "$program" --gtest_filter='PersistentCollectives.*:-*any_order*:*librarys_error*' || fail "the job"
if ! grep -q ' OK \]' "$folder/output"; then
  echo "SKIPPED: this MPI has no persistent collectives"
  exit 77
fi
# shellcheck disable=SC2154
"$penstock" export --csv "$folder/csv" "$folder/recording" >>"$folder/output" || fail "the export"
# of each collective the ranks have made as many starts, numbered from 1 on
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  $column["start"] == "" { next }
  {
    name = $column["function"] " " $column["communicator"] " " $column["collective_number"]
    ++starts[name]
    if ($column["start"] + 0 > last[name]) last[name] = $column["start"] + 0
    if (!(name " " $column["rank"] in seen)) { ++ranks[name]; seen[name " " $column["rank"]] = 1 }
    ++all
  }
  END {
    if (!all) print "no start is recorded"
    for (name in starts)
      if (starts[name] != ranks[name] * last[name]) print name ": " starts[name] " starts by " ranks[name] " ranks, the last is number " last[name]
  }' "$folder/csv/nonblocking_collectives.csv" >"$folder/wrong"
[ ! -s "$folder/wrong" ] || fail "$(cat "$folder/wrong")"
grep -q '"mpi_function": "MPI_Allreduce_init"' <(sed -n '/"collectives"/,/"late_ranks"/p' "$folder/report") || fail "no sums of MPI_Allreduce_init"
! grep -qE '"MPI_Wait(all|any|some)?"' <(sed -n '/"unattributed": \[/,/\]/p' "$folder/report") || fail "waits for what is not recorded"
echo "passed"
