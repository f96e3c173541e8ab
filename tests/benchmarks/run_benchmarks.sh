#!/usr/bin/env bash
# Runs the benchmarks of a build and writes one Markdown file each (and JSON where there are figures to compare).
#   tests/benchmarks/run_benchmarks.sh BUILD_FOLDER FACTS_FILE OUT_FOLDER
# FACTS_FILE is a JSON object with date, gpu, driver and commit. MPIEXEC names the launcher, mpiexec.mpich else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
facts=$2
out=$3
launcher=${MPIEXEC:-mpiexec.mpich}
mkdir -p "$out"
status=0

# NAME TITLE COMMAND…: what the command prints, under a title and the facts
write() {
  local name=$1 title=$2
  shift 2
  printf '=== %s\n' "$name"
  {
    printf '# %s\n\n' "$title"
    sed -E 's/[{}"]//g; s/, ([a-z]+:)/\n\1/g' "$facts" | sed 's/^/- /'
    printf '\n'
  } >"$out/$name.md"
  if timeout 300 "$@" >>"$out/$name.md" 2>"$out/$name.log"; then
    cat "$out/$name.md"
    [ -s "$out/$name.log" ] || rm -f "$out/$name.log"
  else
    printf '%s FAILED:\n' "$name"
    cat "$out/$name.log"
    status=1
  fi
}

write message_benchmark 'Device-to-device messages beside raw CUDA IPC copies' \
  "$launcher" -n 2 env LD_PRELOAD="$build/lib/libpenstock_mpich.so" \
  "$build/benchmarks/message_benchmark_mpich" --facts "$facts" --json "$out/message_benchmark.json"
write host_message_cost 'What Penstock adds to a call on host memory' "$here/host_message_cost.sh" "$build"
write ising_run 'The Ising example on two ranks, recorded' \
  "$launcher" -n 2 "$build/penstock" run --output "$out/ising_recording" \
  "$build/examples/ising_mpich" --lattice 512 --sweeps 200
write ising_report 'Its report' "$build/penstock" report "$out/ising_recording"
exit $status
