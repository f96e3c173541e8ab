#!/usr/bin/env bash
# Measures the particles, row by row of the table they are held to: one GPU, two, and four ranks on two. First come the rows of
# that table, then how energy drifts; ALL=1 measures other ways besides.
#   tests/benchmarks/particles.sh BUILD_FOLDER OUT_FOLDER
# Writes OUT_FOLDER/particles.jsonl, one JSON object a run with "row" and "how" added, OUT_FOLDER/particles_report.txt, and
# prints tables, and how long it took. MPIEXEC names the launcher, mpiexec.mpich else. ROUNDS and STEPS change how much is measured.
# GPUS=1 leaves out what needs two. SMALL=1 takes tiny domains, to try it.
# shellcheck source=tests/benchmarks/measured_runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/measured_runs.sh"
bench=(--bench "${ROUNDS:-9}" --steps "${STEPS:-100}")

# ROW RANKS ARGUMENT…
measure() {
  measure_program "$1" "$2" particles "${@:3}"
}

# NUMBER NUMBER FILE: so many voxels of rank 0, and behind them so many of rank 1
write_owners() {
  python3 -c 'import sys
with open(sys.argv[3], "a") as file:
    file.write("0\n" * int(sys.argv[1]))
    file.write("1\n" * int(sys.argv[2]))' "$1" "$2" "$3"
}

if [ -n "${SMALL:-}" ]; then
  bench=(--bench 2 --steps 5)
  million_8=9 million_64=12 cuboid_8=6x6x9 cuboid_16=6x6x18 random=6 tube=8 tube_of_two=16 radius=3 vessel=40 vessel_radius=3
  tree=(--size 6 --radius 1.6) tree_of_two=(--size 7.6 --radius 2)
  dense_8=4 dense_1=3 drift=(--bench 3 --steps 20 --energy-every 2)
else
  # at density 3, 8 and 64 million particles; the tubes' and the trees' are about 8 million a rank
  million_8=139 million_64=277 cuboid_8=139x139x139 cuboid_16=139x139x278 random=96 tube=490 tube_of_two=1030 radius=40
  tree=(--size 240 --radius 40) tree_of_two=(--size 302.4 --radius 50.4)
  vessel=1200 vessel_radius=12
  # 8 million at 13.1 in a cube of the cutoff, and 22,000
  dense_8=85 dense_1=12 drift=(--bench 11 --steps 10000 --energy-every 100)
fi
# Hosts find out what a vessel's voxels are, and read owners, in seconds if voxels are as wide as the cutoff.
wide=(--voxels-per-cutoff 1)
tree=(--domain tree --depth 2 "${tree[@]}" "${wide[@]}")
tree_of_two=(--domain tree --depth 2 "${tree_of_two[@]}" "${wide[@]}" --partition scotch)

measure 'box of 8 M, one GPU' 1 --size $million_8 "${bench[@]}"
measure 'Lennard-Jones, box of 8 M, one GPU' 1 --model lj --size $dense_8 "${bench[@]}"
measure 'tree of 8 M, one GPU' 1 "${tree[@]}" "${bench[@]}"
if [ "${GPUS:-2}" -ge 2 ]; then
  measure 'weak, tree by Scotch' 2 "${tree_of_two[@]}" "${bench[@]}"
  four=(--size "$cuboid_8" --partition scotch "${bench[@]}")
  for exchange in device staged-by-hand; do
    measure "strong, box in slabs, $exchange" 2 --size $cuboid_8 --exchange $exchange "${bench[@]}"
    measure "four ranks, box by Scotch, $exchange" 4 --exchange $exchange "${four[@]}"
  done
  # everything is near another rank's: how fast particles are packed where they are many
  measure 'voxels drawn at random' 2 --size $random --partition random "${bench[@]}"
  # four times as fast: more change owner
  measure 'strong, hot box in slabs' 2 --size $cuboid_8 --temperature 16 --time-step 0.004 "${bench[@]}"
  # three quarters of the layers are rank 0's until particles are distributed again, once
  voxels=$((million_64 * million_64)) first=$((million_64 * 3 / 4))
  printf 'voxels %s %s %s pieces 2\n' $million_64 $million_64 $million_64 >"$out/uneven.partition"
  write_owners $((voxels * first)) $((voxels * (million_64 - first))) "$out/uneven.partition"
  measure '64 M, three quarters on one GPU, rebalanced' 2 --size $million_64 "${wide[@]}" --partition "$out/uneven.partition" \
    --steps 10 --bench 2 --rebalance-every 15
  rm "$out/uneven.partition"
fi
measure 'box of 64 M, one GPU' 1 --size $million_64 "${wide[@]}" "${bench[@]}"
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

# How energy drifts, from the second round on.
for model in lj lj-force-shifted; do
  measure "$model, small box, drift, one GPU" 1 --model $model --size $dense_1 "${drift[@]}"
done

if [ -n "${ALL:-}" ]; then
  measure 'box of 8 M, no overlap, one GPU' 1 --size $million_8 --no-overlap "${bench[@]}"
  measure 'friction and noise, box of 8 M, one GPU' 1 --dpd 4.5,1 --size $million_8 "${bench[@]}"
  measure 'tube of 8 M, one GPU' 1 --domain tube --size $tube --radius $radius "${bench[@]}"
fi
if [ -n "${ALL:-}" ] && [ "${GPUS:-2}" -ge 2 ]; then
  measure 'weak, tree by Scotch, staged-by-hand' 2 "${tree_of_two[@]}" --exchange staged-by-hand "${bench[@]}"
  measure 'weak, tube by Scotch' 2 --domain tube --size $tube_of_two --radius $radius --partition scotch "${bench[@]}"
  measure 'weak, box in slabs' 2 --size $cuboid_16 "${bench[@]}"
  measure 'Lennard-Jones, strong, box in slabs' 2 --model lj --size $dense_8 "${bench[@]}"
  measure 'friction and noise, strong, box in slabs' 2 --dpd 4.5,1 --size $cuboid_8 "${bench[@]}"
  measure 'strong, box in slabs, no overlap' 2 --size $cuboid_8 --no-overlap "${bench[@]}"
  measure 'strong, box by METIS' 2 --size $cuboid_8 --partition metis "${bench[@]}"
  measure 'four ranks, to all neighbours' 4 --send all-to-all-neighbours "${four[@]}"
  # the same messages in other ways
  for way in '--exchange neighbour' '--counts ahead' '--counts probe'; do
    # shellcheck disable=SC2086  # two words
    measure "strong, box by Scotch, ${way#--}" 2 --size $cuboid_8 --partition scotch $way "${bench[@]}"
    # shellcheck disable=SC2086
    measure "four ranks, box by Scotch, ${way#--}" 4 $way "${four[@]}"
  done
fi

python3 - "$rows" "$out/survey.json" <<'PYTHON'
import json
import sys

runs = [json.loads(line) for line in open(sys.argv[1])]
# rows that scaling refers to: one rank's particle steps per second of the same kind of domain
alone = {}
print("| row | ranks | particles | ms a step | G particle steps/s | a rank | of one rank | neighbours | MB a step | sent / touching | packed, GB/s | migrate a step | energy drift |")
print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
for run in runs:
    given = run["parameters"]
    rate = run["g_particle_steps_per_s_and_rank"]
    kind = (given["domain"], given["model"], "dpd" in given)
    if given["ranks"] == 1 and given["overlap"] and kind not in alone:
        alone[kind] = rate
    share = f"{rate / alone[kind]:.3f}" if kind in alone else ""
    print(f"| {run['row']} | {given['ranks']} | {run['particles']} | {run['time_s'] / given['steps'] * 1e3:.4g} "
          f"| {rate * given['ranks']:.4g} | {rate:.4g} | {share} | {run['partition']['mean_neighbours']:.3g} "
          f"| {run['sent_bytes_a_step'] / 1e6:.3g} | {run['sent_over_touching']:.3g} "
          f"| {run['packing']['gb_per_s_and_rank'] if 'packing' in run else 0:.4g} | {run['migrated_a_step']:.4g} "
          f"| {run.get('energy_drift_fitted', run['energy_drift']):.2e} |")
# a step's time at the speed that one rank has alone, as a run's own rounds may have more in them
for run in runs:
    given = run["parameters"]
    kind = (given["domain"], given["model"], "dpd" in given)
    for done in run.get("rebalancings", []):
        ratio = done["time_s"] * alone[kind] * 1e9 * given["ranks"] / run["particles"] if kind in alone else 0
        print(f"{run['row']}, after step {done['step']}: imbalance {done['imbalance_before']:.4f}, then "
              f"{done['imbalance_after']:.4f}, in {done['time_s']:.4g} s, {ratio:.3g} steps' time")
with open(sys.argv[2]) as file:
    survey = json.load(file)["partition"]
print(f"\n{survey['pieces']} pieces of a tube by Scotch: imbalance {survey['imbalance']:.4f}, "
      f"{survey['mean_neighbours']:.1f} neighbours (most {survey['most_neighbours']}); selective sends "
      f"{survey['selective_over_all']:.3f} of what all-to-all-neighbours does")
PYTHON
echo "in $SECONDS s"
exit $status
