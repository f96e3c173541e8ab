#!/usr/bin/env bash
# A job of Open MPI starts though another one, which ends, removes the folder of all jobs of this user at that moment.
#   jobs_at_once_test.sh MPI_LAUNCH
set -euo pipefail
TMPDIR=$(mktemp -d)
export TMPDIR
remover='
import os, sys
while True:
    for folder in sys.argv[1:]:
        try:
            os.rmdir(folder)
        except OSError:
            pass'
host=$(uname -n)
python3 -c "$remover" "$TMPDIR/ompi.$host.$UID" "$TMPDIR/ompi.${host%%.*}.$UID" &
trap 'kill $!; rm -rf "$TMPDIR"' EXIT
for _ in 1 2 3 4 5; do
  "$1" openmpi 1 -- true
done
