# shellcheck shell=bash
# Sourced, with BUILD_FOLDER OUT_FOLDER, by the scripts that measure examples row by row: each run under Penstock becomes a
# line of JSON in OUT_FOLDER/NAME.jsonl, where NAME is the script's. MPIEXEC names the launcher, mpiexec.mpich else.
set -euo pipefail
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
rows=$out/$(basename "$0" .sh).jsonl
launcher=${MPIEXEC:-mpiexec.mpich}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
: >"$rows"
status=0                     # of the script: 1 once a run has failed
settings=(PENSTOCK_RECORD=0) # of Penstock, in each run

# ROW RANKS PROGRAM ARGUMENT…: a run without recording; "row" and "how" are added to what it prints. A failure is told.
measure_program() {
  local row=$1 ranks=$2 program=$3
  shift 3
  if "$launcher" -n "$ranks" env LD_PRELOAD="$build/lib/libpenstock_mpich.so" "${settings[@]}" \
    "$build/examples/${program}_mpich" "$@" --json >"$out/one.json" 2>"$out/one.log"; then
    python3 -c 'import json, sys
result = json.load(open(sys.argv[1]))
print(json.dumps({"row": sys.argv[2], "how": " ".join(sys.argv[3:]), **result}))' \
      "$out/one.json" "$row" "$*" >>"$rows"
  else
    printf '%s FAILED (%s):\n' "$row" "$*"
    cat "$out/one.log"
    # shellcheck disable=SC2034  # scripts end with it
    status=1
  fi
  rm -f "$out/one.json" "$out/one.log"
}
