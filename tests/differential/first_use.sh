#!/usr/bin/env bash
# Launches of one random program each, so that receives are posted before a GPU was ever used in the job.
#   first_use.sh FAMILY PROGRAM LIBRARY PENSTOCK
set -euo pipefail
family=$1 program=$2 library=$3 launches=10
launch=$(dirname "$0")/../support/mpi_launch
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$launch" "$family" 3 -- "$program" --plain "$folder/plain" --first date --seeds "$launches"
for ((skipped = 0; skipped < launches; ++skipped)); do
  "$launch" "$family" 3 --preload "$library" -- "$program" --check "$folder/plain" --skip "$skipped" --seeds 1
done
