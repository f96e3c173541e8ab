#!/usr/bin/env bash
# Kernels that Penstock launches for collectives are recorded as its own: they hide no communication.
#   own_kernels_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (reductions) makes reductions of all forms.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# are_its_own KERNEL [NAME=value …]: in a job that launches some whose names begin so
are_its_own() {
  local kernel=$1
  shift
  recorded_job 2 "$@" -- "$program" --gtest_filter="Reductions/4.*" || fail "the job: $*"
  # shellcheck disable=SC2154
  "$penstock" export --force --csv "$folder/tables" "$folder/recording" >>"$folder/output" 2>&1 || fail "the export"
  awk -F, -v kernel="$kernel" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
    index($column["name"], "penstock_") == 1 && $column["issued_by_penstock"] != 1 { others[$column["name"]]++ }
    index($column["name"], kernel) == 1 { ++seen }
    END {
      for (name in others) print others[name] " times " name " was taken for the program'"'"'s"
      if (!seen) print "no kernel " kernel
    }' "$folder/tables/gpu_activities.csv" >"$folder/wrong"
  [ ! -s "$folder/wrong" ] || fail "$(cat "$folder/wrong")"
}

# one kernel on each rank carries a reduction out only where each has a GPU of its own
if ! command -v nvidia-smi >/dev/null || [ "$(nvidia-smi -L | wc -l)" -gt 1 ]; then
  are_its_own penstock_one_shot
fi
are_its_own penstock_reduce PENSTOCK_TUNING=fused_to=0
echo "passed"
