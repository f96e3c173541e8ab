#!/usr/bin/env bash
# Runs the benchmarks of a build and writes one Markdown file each, JSON where there are figures to compare, and all of
# those in figures.csv. What is kept in results/ is Markdown and that table.
#   tests/benchmarks/run_benchmarks.sh BUILD_FOLDER FACTS_FILE OUT_FOLDER
# FACTS_FILE is a JSON object with date, gpu, driver and commit. MPIEXEC names the launcher, mpiexec.mpich else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
facts=$2
out=$3
launcher=${MPIEXEC:-mpiexec.mpich}
preloaded=("$launcher" -n 2 env LD_PRELOAD="$build/lib/libpenstock_mpich.so")
mkdir -p "$out"
status=0

# NAME OUTPUT COMMAND…: adds the command's output to the file OUTPUT; keeps what it says besides in NAME.log
run() {
  local name=$1 output=$2
  shift 2
  if timeout 300 "$@" >>"$output" 2>"$out/$name.log"; then
    [ -s "$out/$name.log" ] || rm -f "$out/$name.log"
    return
  fi
  printf '%s FAILED:\n' "$name"
  cat "$out/$name.log"
  status=1
  return 1
}

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
  if run "$name" "$out/$name.md" "$@"; then cat "$out/$name.md"; fi
}

# NAME TITLE COMMAND…: the figures of a Google Benchmark program, as JSON and as tables
measure() {
  local name=$1 title=$2
  shift 2
  printf '=== %s\n' "$name"
  rm -f "$out/$name.md"
  if run "$name" /dev/null "$@" --facts "$facts" --benchmark_out="$out/$name.json" &&
    run "$name" "$out/$name.md" "$here/to_markdown" "$out/$name.json" --title "$title"; then
    cat "$out/$name.md"
    measured+=("$out/$name.json")
  fi
}
measured=()

measure message_benchmark 'Messages for each pair of buffer kinds, beside raw CUDA copies' \
  "${preloaded[@]}" "$build/benchmarks/message_benchmark_mpich"
measure network_benchmark 'Messages in chunks, as between nodes, beside raw copies over PCIe' \
  "${preloaded[@]}" PENSTOCK_TRANSPORT=network "$build/benchmarks/message_benchmark_mpich" --raw-by-pcie \
  --benchmark_filter='/device/(device|pinned|pageable)/'
measure overlap_benchmark 'What of an exchange hides behind a kernel' \
  "${preloaded[@]}" "$build/benchmarks/overlap_benchmark_mpich"
measure overlap_of_8_messages 'What of an exchange of 8 messages hides behind a kernel' \
  "${preloaded[@]}" "$build/benchmarks/overlap_benchmark_mpich" --messages 8 --sizes 1M
measure cycle_benchmark 'V-cycles of a multigrid solver' \
  "${preloaded[@]}" "$build/benchmarks/cycle_benchmark_mpich"
measure step_benchmark 'Steps of small messages and a kernel' \
  "${preloaded[@]}" "$build/benchmarks/step_benchmark_mpich"
measure step_benchmark_no_linger 'The same without a kernel that stands by' \
  "${preloaded[@]}" PENSTOCK_TUNING=linger_us=0 "$build/benchmarks/step_benchmark_mpich"
measure collective_benchmark 'Collectives on device buffers, beside NCCL' \
  "${preloaded[@]}" "$build/benchmarks/collective_benchmark_mpich"
measure datatype_benchmark 'Derived datatypes, beside contiguous messages and a bare kernel' \
  "${preloaded[@]}" "$build/benchmarks/datatype_benchmark_mpich"
measure list_benchmark 'Lists of integers through host memory, as bitmaps if they increase' \
  "${preloaded[@]}" PENSTOCK_TRANSPORT=staged "$build/benchmarks/list_benchmark_mpich"
measure list_benchmark_unpacked 'The same lists as they are' \
  "${preloaded[@]}" PENSTOCK_TRANSPORT=staged PENSTOCK_TUNING=packed_from=never "$build/benchmarks/list_benchmark_mpich"
measure thread_benchmark 'Messages between threads of one rank, beside raw CUDA copies' \
  "$launcher" -n 1 env LD_PRELOAD="$build/lib/libpenstock_mpich.so" "$build/benchmarks/thread_benchmark_mpich"
measure transports_benchmark 'Each transport without MPI, beside raw CUDA copies' \
  "$build/benchmarks/transports_benchmark" --benchmark_min_time=0.05
if [ ${#measured[@]} -gt 0 ]; then
  rm -f "$out/figures.csv"
  run figures "$out/figures.csv" "$here/to_csv" "${measured[@]}" || true
fi
write cliff_benchmark 'Cliffs: points twice as bad as a neighbour, or below 0.7 of raw copies' \
  "${preloaded[@]}" "$build/benchmarks/cliff_benchmark_mpich" --seconds 240 --csv "$out/cliffs.csv"
write host_message_cost 'What Penstock adds to a call on host memory' "$here/host_message_cost.sh" "$build"
write ising_run 'The Ising example on two ranks, recorded' \
  "$launcher" -n 2 "$build/penstock" run --output "$out/ising_recording" \
  "$build/examples/ising_mpich" --lattice 512 --sweeps 200
write ising_report 'Its report' "$build/penstock" report --all "$out/ising_recording"
for exchange in device staged-by-hand; do
  for frontier in lists bitmaps; do
    write "bfs_${frontier}_$exchange" "The breadth-first search on two ranks: frontiers as $frontier, exchange $exchange" \
      "$launcher" -n 2 "$build/penstock" run --no-record \
      "$build/examples/bfs_mpich" --scale 26 --frontier $frontier --exchange $exchange
  done
done
exit $status
