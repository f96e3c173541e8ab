#!/usr/bin/env bash
# What Penstock adds to a call on host memory, in nanoseconds of CPU time: the same benchmark without the preload
# library, with it, and with it recording, by turns; of each the least of the rounds, which other load disturbs least.
#   tests/benchmarks/host_message_cost.sh [BUILD_FOLDER] [FAMILY]      build and mpich by default
set -euo pipefail
build=$(cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../../build}" && pwd)
family=${2:-mpich}
rounds=5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build/simulated_gpu/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# CONFIGURATION CUDA NAME=VALUE…: one line a benchmark: cuda configuration name nanoseconds
measure() {
  local configuration=$1 cuda=$2
  shift 2
  env PENSTOCK_BENCHMARK_CUDA="$cuda" "$@" "$build/benchmarks/host_message_benchmark_$family" \
    --benchmark_repetitions=5 --benchmark_report_aggregates_only=true --benchmark_min_time=0.05 \
    --benchmark_format=csv 2>"$work/errors" |
    awk -F, -v prefix="$cuda $configuration" '/_median/ {gsub(/"|_median/, "", $1); print prefix, $1, $4}' >>"$work/figures"
  rm -rf "$work/recording"
}

for _ in $(seq $rounds); do
  for cuda in 0 1; do
    measure plain $cuda
    measure off $cuda LD_PRELOAD="$build/lib/libpenstock_$family.so" PENSTOCK_RECORD=0
    measure on $cuda LD_PRELOAD="$build/lib/libpenstock_$family.so" PENSTOCK_RECORD=1 PENSTOCK_OUTPUT="$work/recording"
  done
done

printf '| what | CUDA in the process | plain, ns a call | added, recording off | added, recording on |\n|---|---|---:|---:|---:|\n'
awk '
  {key = $1 " " $2 " " $3; rows[$3 " " $1]
   if (!(key in least) || $4 < least[key]) least[key] = $4}
  END {
    for (row in rows) {
      split(row, part, " ")
      calls = part[1] ~ /^three/ ? 3 : 1
      plain = least[part[2] " plain " part[1]]
      off = least[part[2] " off " part[1]]
      on = least[part[2] " on " part[1]]
      printf "| %s | %s | %.0f | %.0f | %.0f |\n", part[1], part[2] ? "yes" : "no", plain / calls, (off - plain) / calls, (on - plain) / calls
    }
  }' "$work/figures" | sort
