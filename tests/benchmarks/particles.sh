#!/usr/bin/env bash
# Measures the particles, row by row of the table they are held to: one GPU, two, and four ranks on two.
#   tests/benchmarks/particles.sh BUILD_FOLDER OUT_FOLDER
# Writes OUT_FOLDER/particles.jsonl, one JSON object a run with "row" and "how" added, OUT_FOLDER/particles_report.txt, and
# prints tables. MPIEXEC names the launcher, mpiexec.mpich else. ROUNDS and STEPS change how much is measured. GPUS=1 leaves out
# what needs two. SMALL=1 takes tiny domains, to try it.
# shellcheck source=tests/benchmarks/measured_runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/measured_runs.sh"
bench=(--bench "${ROUNDS:-9}" --steps "${STEPS:-100}")

# ROW RANKS ARGUMENT…
measure() {
  measure_program "$1" "$2" particles "${@:3}"
}

if [ -n "${SMALL:-}" ]; then
  bench=(--bench 2 --steps 5)
  million_8=9 million_64=12 cuboid_8=6x6x9 cuboid_16=6x6x18 tube=8 tube_of_two=16 radius=3 vessel=40 vessel_radius=3
  dense_8=4 dense_1=3 drift_steps=20
else
  # at density 3, 8 and 64 million particles; the tubes' are about 8 million a rank
  million_8=139 million_64=277 cuboid_8=139x139x139 cuboid_16=139x139x278 tube=490 tube_of_two=1030 radius=40
  vessel=1200 vessel_radius=12
  # 8 million at 13.1 in a cube of the cutoff
  dense_8=85 dense_1=24 drift_steps=100000
fi

for model in "" "--no-overlap"; do
  # shellcheck disable=SC2086  # no word, or one
  measure "box of 8 M${model:+, $model}, one GPU" 1 --size $million_8 $model "${bench[@]}"
done
measure 'box of 64 M, one GPU' 1 --size $million_64 "${bench[@]}"
measure 'Lennard-Jones, box of 8 M, one GPU' 1 --model lj --size $dense_8 "${bench[@]}"
measure 'friction and noise, box of 8 M, one GPU' 1 --dpd 4.5,1 --size $million_8 "${bench[@]}"
# how energy drifts since the first of two rounds
measure 'Lennard-Jones, small box, drift, one GPU' 1 --model lj --size $dense_1 --steps $drift_steps --bench 2
measure 'tube of 8 M, one GPU' 1 --domain tube --size $tube --radius $radius "${bench[@]}"
if [ "${GPUS:-2}" -ge 2 ]; then
  for exchange in device staged-by-hand; do
    how=(--exchange "$exchange" "${bench[@]}")
    measure "weak, box in slabs, $exchange" 2 --size $cuboid_16 "${how[@]}"
    measure "Lennard-Jones, strong, box in slabs, $exchange" 2 --model lj --size $dense_8 "${how[@]}"
    measure "friction and noise, strong, box in slabs, $exchange" 2 --dpd 4.5,1 --size $cuboid_8 "${how[@]}"
    measure "weak, tube by Scotch, $exchange" 2 --domain tube --size $tube_of_two --radius $radius --partition scotch "${how[@]}"
    measure "strong, box in slabs, $exchange" 2 --size $cuboid_8 "${how[@]}"
    measure "strong, box by Scotch, $exchange" 2 --size $cuboid_8 --partition scotch "${how[@]}"
    measure "strong, box in slabs, no overlap, $exchange" 2 --size $cuboid_8 --no-overlap "${how[@]}"
    measure "four ranks, box by Scotch, $exchange" 4 --size $cuboid_8 --partition scotch "${how[@]}"
    measure "four ranks, to all neighbours, $exchange" 4 --size $cuboid_8 --partition scotch --send all-to-all-neighbours \
      "${how[@]}"
  done
  # the same messages in other ways
  for way in '--exchange neighbour' '--counts ahead' '--counts probe'; do
    # shellcheck disable=SC2086  # two words
    measure "strong, box by Scotch, ${way#--}" 2 --size $cuboid_8 --partition scotch $way "${bench[@]}"
    # shellcheck disable=SC2086
    measure "four ranks, box by Scotch, ${way#--}" 4 --size $cuboid_8 --partition scotch $way "${bench[@]}"
  done
  # three quarters of the layers on rank 0: without and with new pieces after the first round
  IFS=x read -r x y z <<<"$cuboid_8"
  layer=$((4 * x * y)) layers=$((2 * z))
  {
    echo "voxels $((2 * x)) $((2 * y)) $layers pieces 2"
    awk -v all=$((layer * layers)) 'BEGIN { for (voxel = 0; voxel < all; ++voxel) print voxel < all * 3 / 4 ? 0 : 1 }'
  } >"$out/uneven.partition"
  uneven=(--size "$cuboid_8" --partition "$out/uneven.partition")
  measure 'strong, three quarters on one GPU' 2 "${uneven[@]}" "${bench[@]}"
  measure 'strong, three quarters on one GPU, rebalanced' 2 "${uneven[@]}" --rebalance-every "${bench[3]}" "${bench[@]}"
  rm "$out/uneven.partition"
  # four times as fast: more change owner
  measure 'strong, hot box in slabs' 2 --size $cuboid_8 --temperature 16 --time-step 0.004 "${bench[@]}"
fi
"$build/examples/particles_mpich" --domain tube --size $vessel --radius $vessel_radius --partition scotch --ranks-as 1024 \
  --dry-run --json >"$out/survey.json" || status=1

# What of it is exposed, and how long the kernels take.
if [ "${GPUS:-2}" -ge 2 ]; then
  rm -rf "$out/particles_recording"
  if "$launcher" -n 2 "$build/penstock" run --output "$out/particles_recording" \
    "$build/examples/particles_mpich" --size $cuboid_8 --steps "${STEPS:-100}" >"$out/particles_report.txt" 2>&1; then
    "$build/penstock" report --all "$out/particles_recording" >>"$out/particles_report.txt" || status=1
  else
    echo 'recorded run FAILED'
    status=1
  fi
fi

python3 - "$rows" "$out/survey.json" <<'PYTHON'
import json
import sys

runs = [json.loads(line) for line in open(sys.argv[1])]
# rows that scaling refers to: one rank's particle steps per second of the same kind of domain
alone = {}
print("| row | ranks | particles | ms a step | G particle steps/s | a rank | of one rank | neighbours | MB a step | sent / touching | migrate a step | energy drift |")
print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
for run in runs:
    given = run["parameters"]
    rate = run["g_particle_steps_per_s_and_rank"]
    kind = (given["domain"], given["model"], "dpd" in given)
    if given["ranks"] == 1 and given["overlap"] and kind not in alone:
        alone[kind] = rate
    share = f"{rate / alone[kind]:.3f}" if kind in alone else ""
    print(f"| {run['row']} | {given['ranks']} | {run['particles']} | {run['time_s'] / given['steps'] * 1e3:.4g} "
          f"| {rate * given['ranks']:.4g} | {rate:.4g} | {share} | {run['partition']['mean_neighbours']:.3g} "
          f"| {run['sent_bytes_a_step'] / 1e6:.3g} | {run['sent_over_touching']:.3g} | {run['migrated_a_step']:.4g} "
          f"| {run['energy_drift']:.2e} |")
for run in runs:
    for done in run.get("rebalancings", []):
        step_s = run["time_s"] / run["parameters"]["steps"]
        print(f"{run['row']}, after step {done['step']}: imbalance {done['imbalance_before']:.4f}, then "
              f"{done['imbalance_after']:.4f}, in {done['time_s']:.4g} s, {done['time_s'] / step_s:.3g} steps' time")
with open(sys.argv[2]) as file:
    survey = json.load(file)["partition"]
print(f"\n{survey['pieces']} pieces of a tube by Scotch: imbalance {survey['imbalance']:.4f}, "
      f"{survey['mean_neighbours']:.1f} neighbours (most {survey['most_neighbours']}); selective sends "
      f"{survey['selective_over_all']:.3f} of what all-to-all-neighbours does")
PYTHON
exit $status
