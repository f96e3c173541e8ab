#!/usr/bin/env bash
# Measures the Wilson operator and its solver, row by row of the table they are held to: one GPU, then two.
#   tests/benchmarks/dslash.sh BUILD_FOLDER OUT_FOLDER
# Writes OUT_FOLDER/dslash.jsonl, one JSON object a run with "row" and "how" added, and prints a table. MPIEXEC names the
# launcher, mpiexec.mpich else. ROUNDS and APPLICATIONS change how much is measured. SMALL=1 takes tiny lattices, to try it.
# shellcheck source=tests/benchmarks/measured_runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/measured_runs.sh"
rounds=${ROUNDS:-9}
applications=${APPLICATIONS:-200}

# ROW RANKS ARGUMENT…
measure() {
  measure_program "$1" "$2" dslash "${@:3}"
}
bench=(--bench "$rounds" --applications "$applications")
if [ -n "${SMALL:-}" ]; then
  large=4,4,4,8 weak_32=4,4,4,4 weak_24=4,4,4,4 strong_32=4,4,4,8 strong_24=4,4,4,8
else
  large=32,32,32,64 weak_32=32,32,32,32 weak_24=24,24,24,32 strong_32=32,32,32,256 strong_24=24,24,24,32
fi

for precision in single half double; do
  measure "operator, $precision, one GPU" 1 --lattice "$large" --precision "$precision" "${bench[@]}"
done
measure 'operator, single, whole links, one GPU' 1 --lattice "$large" --rows 3 "${bench[@]}"
measure 'operator, half, whole links, one GPU' 1 --lattice "$large" --rows 3 --precision half "${bench[@]}"
for sides in 2 4 6 12; do
  measure "operator, single, $sides right-hand sides, one GPU" 1 --lattice "$large" --right-hand-sides "$sides" "${bench[@]}"
done
for precision in single half; do
  measure "clover even-odd, $precision, one GPU" 1 --lattice "$large" --clover 1 --precision "$precision" "${bench[@]}"
done
for precision in single single-half double double-half; do
  measure "solver, $precision, one GPU" 1 --lattice "$large" --solve --precision "$precision" --bench 3
done
# six right-hand sides: one after the other, and as a batch
measure 'solver, single-half, six sides one by one, one GPU' 1 --lattice "$large" --solve --precision single-half \
  --right-hand-sides 6 --one-by-one --bench 3
measure 'solver, single-half, six sides as a batch, one GPU' 1 --lattice "$large" --solve --precision single-half \
  --right-hand-sides 6 --bench 3
measure 'solver, clover, single-half, one GPU' 1 --lattice "$large" --solve --clover 1 --precision single-half --bench 3
if [ "${GPUS:-2}" -ge 2 ]; then
  for exchange in device staged-by-hand; do
    for precision in single half; do
      how=(--policy all --precision "$precision" --exchange "$exchange" "${bench[@]}")
      measure "weak 32^4, $precision" 2 --lattice "$weak_32" --scaling weak "${how[@]}"
      measure "weak 24^3 x 32, $precision" 2 --lattice "$weak_24" --scaling weak "${how[@]}"
      measure "strong 32^3 x 256, $precision" 2 --lattice "$strong_32" --scaling strong "${how[@]}"
      measure "strong 24^3 x 32, $precision" 2 --lattice "$strong_24" --scaling strong "${how[@]}"
      measure "strong 24^3 x 32, $precision, tuned" 2 --lattice "$strong_24" --precision "$precision" \
        --exchange "$exchange" --policy tuned --tuning "$out/tuning.json" "${bench[@]}"
    done
  done
  for policy in none one-stream streams streams-two fused-pack direct; do
    for precision in single single-half; do
      measure "solver, $precision, two GPUs" 2 --lattice "$large" --solve --precision "$precision" --policy "$policy" --bench 3
    done
  done
  # what each stage costs: truth for the report's what-if
  for stage in nothing pack interior exterior comms; do
    measure "strong 24^3 x 32, without $stage" 2 --lattice "$strong_24" --policy streams --without "$stage" "${bench[@]}"
  done
  measure 'strong 24^3 x 32, by hand, without copy' 2 --lattice "$strong_24" --policy streams \
    --exchange staged-by-hand --without copy "${bench[@]}"
fi

python3 - "$rows" <<'PYTHON'
import json
import sys

print("| row | policy | exchange | ranks | us | TF | GB/s, no reuse | GB/s, perfect reuse | efficiency |")
print("|---|---|---|---:|---:|---:|---:|---:|---:|")
for line in open(sys.argv[1]):
    run = json.loads(line)
    exchange = run["parameters"]["exchange"]
    if "solver" in run:
        solver = run["solver"]
        print(f"| {run['row']} | {run['parameters']['policy']} | {exchange} | {run['parameters']['ranks']} "
              f"| {solver['time_s'] * 1e6:.0f} | {solver['tflops']:.3g} | {solver['iterations']} iterations "
              f"| true residual {solver['true_residual']:.1e} "
              f"| {solver['matrix_alone_s'] / solver['time_s']:.3f} (its matrices alone) |")
        continue
    for case in run["cases"]:
        efficiency = f"{case['efficiency']:.3f}" if "efficiency" in case else ""
        print(f"| {run['row']} | {case['policy']} | {exchange} | {case['ranks']} | {case['application_s'] * 1e6:.1f} "
              f"| {case['tflops']:.3g} | {case['gbytes_per_s']['no_reuse']:.0f} "
              f"| {case['gbytes_per_s']['perfect_reuse']:.0f} | {efficiency} |")
PYTHON
exit $status
