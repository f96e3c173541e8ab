#!/usr/bin/env bash
# On a machine with NVIDIA GPUs: runs the tests and benchmarks of a pack, and writes their results.
#   tests/gpu/run.sh PACK_FOLDER OUT_FOLDER [--no-benchmarks] [--jobs N] [--limit SECONDS] [--filter PATTERN]
# Writes to OUT_FOLDER: gpu-tests.{json,md}, logs/ of tests that did not pass, and one file a benchmark. The exit
# code is 0 if all tests passed and all benchmarks ran. Needs: python3, xz, a driver; Open MPI for its tests.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
pack=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
benchmarks=yes
if [ "${1:-}" = --no-benchmarks ]; then
  benchmarks=no
  shift
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xJf "$pack/pack.tar.xz"
tree=$work/penstock-gpu-pack

# A packed library is used only where the machine has none of that name, lest its own programs get ours.
mkdir "$tree/lib-used"
known=$(ldconfig -p | awk '{print $1}')
for library in "$tree"/lib/*; do
  grep -qxF "$(basename "$library")" <<<"$known" || ln -s "$library" "$tree/lib-used/"
done

gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | sed 's/^ *//; s/ / × /' | paste -sd ',')
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
cat >"$tree/facts.json" <<END
{"date": "$(date -u +%F)", "gpu": "$gpus", "driver": "$driver", "commit": "$(cat "$tree/commit")"}
END

status=0
python3 "$tree/source/tests/gpu/run_tests.py" "$tree" "$out" "$@" || status=1
if [ $benchmarks = yes ]; then
  (
    # shellcheck disable=SC1091  # made by mpich_runtime.sh
    . "$tree/mpich/env.sh"
    export MPIEXEC=mpiexec LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$tree/lib-used
    "$tree/source/tests/benchmarks/run_benchmarks.sh" "$tree/build" "$tree/facts.json" "$out"
  ) || status=1
fi
exit $status
