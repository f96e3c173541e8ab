#!/usr/bin/env bash
# Measures GMH, row by row of the table it is held to: two threads of one process and two processes, a GPU each, with
# raw copies, a CUDA graph and MPI_Bcast beside in the same runs.
#   tests/benchmarks/gmh.sh BUILD_FOLDER OUT_FOLDER
# Writes OUT_FOLDER/gmh.jsonl, one JSON object a run with "row" and "how" added, OUT_FOLDER/gmh_stencil_report.txt, and
# prints tables. MPIEXEC names the launcher, mpiexec.mpich else. SMALL=1 takes tiny sizes, to try it.
# shellcheck source=tests/benchmarks/measured_runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/measured_runs.sh"
# As GMH lets the GPU end before it sends, Penstock need not wait for streams. STREAM_ORDER says otherwise.
settings+=(PENSTOCK_STREAM_ORDER="${STREAM_ORDER:-none}")

# ROW RANKS PROGRAM ARGUMENT…
measure() {
  measure_program "$1" "$2" "gmh_$3" "${@:4}"
}

if [ -n "${SMALL:-}" ]; then
  small=(--sizes "8,4K" --rounds 5) large=(--sizes "64K,1M" --window 2) by_hand=("${large[@]}") of_broadcast=(--sizes "4,64K" --rounds 5)
  of_copies=(--sizes "8,64K" --rounds 5)
  commands=50 grid=(--rows 64 --columns 64 --steps 40)
  lattice=(--lattice "4,4,4,8" --applications 4 --applications-a-run 2) large_lattice=(--lattice "4,4,4,16" --applications 4 --applications-a-run 2)
else
  # by hand some GB/s, whatever the size
  small=(--rounds 1000) large=() by_hand=(--sizes "64K,1M,16M") of_broadcast=(--sizes "4,4K,64K,1M,16M,64M" --rounds 200) of_copies=()
  commands=1000 grid=(--rows 16384 --columns 16384 --steps 1000)
  lattice=() large_lattice=(--lattice "32,32,32,256")
fi

measure 'copies' 2 copies --verify "${of_copies[@]}"
for exchange in device staged-by-hand; do
  how=(--exchange "$exchange" --verify)
  [ $exchange = device ] || large=("${by_hand[@]}")
  measure "latency, threads, $exchange" 1 latency --gpus 2 "${how[@]}" "${small[@]}"
  measure "latency, processes, $exchange" 2 latency "${how[@]}" "${small[@]}"
  measure "bandwidth, threads, $exchange" 1 bandwidth --gpus 2 "${how[@]}" "${large[@]}"
  measure "bandwidth, processes, $exchange" 2 bandwidth "${how[@]}" "${large[@]}"
done
STREAM_ORDER=legacy measure 'latency, threads, legacy stream order' 1 latency --gpus 2 --verify "${small[@]}"
measure 'commands' 1 commands --commands $commands
measure 'broadcast, threads' 1 broadcast --gpus 2 --verify "${of_broadcast[@]}"
measure 'broadcast, processes' 2 broadcast --verify --beside-mpi "${of_broadcast[@]}"
for exchange in device staged-by-hand; do
  measure "stencil, one thread, $exchange" 1 stencil_flow --gpus 1 --exchange "$exchange" "${grid[@]}"
  measure "stencil, two threads, $exchange" 1 stencil_flow --gpus 2 --exchange "$exchange" "${grid[@]}"
  measure "stencil, two processes, $exchange" 2 stencil_flow --exchange "$exchange" "${grid[@]}"
done
for exchange in device staged-by-hand; do
  measure "dslash, weak, threads, $exchange" 1 dslash_flow --gpus 2 --exchange "$exchange" "${lattice[@]}"
  measure "dslash, weak, processes, $exchange" 2 dslash_flow --exchange "$exchange" "${lattice[@]}"
done
measure 'dslash, strong, threads' 1 dslash_flow --gpus 2 --scaling strong "${large_lattice[@]}"
measure 'dslash, same bits' 1 dslash_flow --gpus 2 --lattice 8,8,8,8 --applications 20 --rounds 1 --verify

# What of it is exposed.
rm -rf "$out/gmh_recording"
if "$launcher" -n 1 env PENSTOCK_STREAM_ORDER=none "$build/penstock" run --output "$out/gmh_recording" \
  "$build/examples/gmh_stencil_flow_mpich" --gpus 2 "${grid[@]}" >"$out/gmh_stencil_report.txt" 2>&1; then
  "$build/penstock" report --all "$out/gmh_recording" >>"$out/gmh_stencil_report.txt" || status=1
else
  echo 'recorded stencil FAILED'
  status=1
fi

python3 - "$rows" <<'PYTHON'
import json
import sys

runs = [json.loads(line) for line in open(sys.argv[1])]
for run in runs:
    if "rows" not in run:
        continue
    names = list(run["rows"][0])
    print(f"\n{run['row']} ({run['how']})\n")
    print("| " + " | ".join(names) + " |\n|" + "---:|" * len(names))
    for row in run["rows"]:
        cells = ["–" if value is None else str(value) if isinstance(value, int) else f"{value:.4g}" for value in row.values()]
        print("| " + " | ".join(cells) + " |")
print("\n| stencil | us a step | cell updates/ns | of linear |\n|---|---:|---:|---:|")
single = {}
for run in runs:
    if "step_us" not in run:
        continue
    single.setdefault(run["parameters"]["exchange"], run["step_us"])
    of_linear = single[run["parameters"]["exchange"]] / (run["step_us"] * run["ranks"])
    print(f"| {run['row']} | {run['step_us']:.2f} | {run['figure_of_merit']['value']:.3g} | {of_linear:.3f} |")
PYTHON
exit $status
