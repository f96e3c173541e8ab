#!/usr/bin/env bash
# Sourced by the tests that are shell scripts which run MPI jobs under Penstock, once they have set `family`, `library` and
# `penstock`. `folder` is theirs until they end.
set -euo pipefail
support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# fail WHY: with what the last job said
fail() {
  echo "FAILED: $*"
  sed 's/^/    /' "$folder/output"
  exit 1
}

# job RANKS [NAME=value …] -- PROGRAM [ARGUMENT …], as mpi_launch has it: runs it, which leaves what it says in
# $folder/output. Returns its exit code; ends the test where it is skipped.
job() {
  local ranks=$1 code=0
  shift
  # shellcheck disable=SC2154  # whoever sources this
  "$support/mpi_launch" "$family" "$ranks" --preload "$library" "$@" >"$folder/output" 2>&1 || code=$?
  if [ $code = 77 ]; then
    grep 'SKIPPED' "$folder/output" || true
    exit 77
  fi
  return $code
}

# recorded_job RANKS …: the same, with its report in $folder/report
recorded_job() {
  local ranks=$1
  shift
  rm -rf "$folder/recording"
  job "$ranks" PENSTOCK_RECORD=1 PENSTOCK_OUTPUT="$folder/recording" "$@" || return
  # shellcheck disable=SC2154
  "$penstock" report --json --whole-run "$folder/recording" >"$folder/report"
}

# messages_by TRANSPORT: how many of that job's, those within collectives too
messages_by() {
  awk -F '[:, ]+' -v wanted="\"$1\"" '
    /"transport":/ { of_messages = of_parts = $3 == wanted }
    /"messages":/ && of_messages { sum += $3; of_messages = 0 }
    /"parts":/ && of_parts { sum += $3; of_parts = 0 }
    END { print sum + 0 }' "$folder/report"
}
