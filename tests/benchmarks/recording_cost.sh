#!/usr/bin/env bash
# What recording costs the Ising example: the same run under Penstock without recording and with it, by turns; the
# medians, and what the report says of start-up and end.
#   tests/benchmarks/recording_cost.sh BUILD_FOLDER RANKS [ISING_ARGUMENT …]      --lattice 512 --sweeps 200 by default
# MPIEXEC names the launcher, mpiexec.mpich else.
set -euo pipefail
build=$(cd "$1" && pwd)
ranks=$2
shift 2
[ $# -gt 0 ] || set -- --lattice 512 --sweeps 200
rounds=7
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launcher=${MPIEXEC:-mpiexec.mpich}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# NAME NAME=VALUE…: adds the run's seconds of sweeps, and of the whole job, to NAME's
run() {
  local name=$1 begin end
  shift
  rm -rf "$work/recording"
  begin=$(date +%s%N)
  "$launcher" -n "$ranks" env LD_PRELOAD="$build/lib/libpenstock_mpich.so" "$@" "$build/examples/ising_mpich" "${ising[@]}" \
    >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
  end=$(date +%s%N)
  awk '/^time/ {print $2}' "$work/said" >>"$work/$name.sweeps"
  awk -v ns=$((end - begin)) 'BEGIN {print ns / 1e9}' >>"$work/$name.job"
}
ising=("$@")
for round in $(seq $((rounds + 1))); do
  run off PENSTOCK_RECORD=0
  run on PENSTOCK_RECORD=1 PENSTOCK_OUTPUT="$work/recording"
  [ "$round" -gt 1 ] || rm "$work"/*.sweeps "$work"/*.job  # the first warms caches
done

median() {
  sort -n "$1" | awk '{all[NR] = $1} END {print all[int((NR + 1) / 2)]}'
}
printf '| Ising %s, %s ranks | recording off, s | on, s | cost |\n|---|---:|---:|---:|\n' "${ising[*]}" "$ranks"
for part in sweeps job; do
  awk -v part="$part" -v off="$(median "$work/off.$part")" -v on="$(median "$work/on.$part")" \
    'BEGIN {printf "| %s | %.4f | %.4f | %+.2f %% |\n", part == "job" ? "the whole job" : part, off, on, (on / off - 1) * 100}'
done
printf '\n'
"$build/penstock" report "$work/recording" | grep 'recording cost'
