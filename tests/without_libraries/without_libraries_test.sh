#!/usr/bin/env bash
# A command that was built without optional libraries does all else, and says what it does not and why.
#   without_libraries_test.sh FAMILY PROGRAM FOLDER_OF_COMMANDS
set -euo pipefail
family=$1 program=$2 commands=$3
support=$(cd "$(dirname "$0")/../support" && pwd)
# shellcheck source=tests/support/expect.sh
source "$support/expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
file=$(basename "$program")

# KIND ARGUMENT…: of the command without lines or without libraries; exit code in `status`, all it prints in `output` as one
# line: reports are broken into lines at any word.
without() {
  local kind=$1
  shift
  status=0
  output=$("$commands/penstock_without_$kind" "$@" 2>&1 </dev/null) || status=$?
  output=$(tr -s '[:space:]' ' ' <<<"$output")
}
prints() { grep -qE -- "$1" <<<"$output"; }
fails_with() { [ "$status" -eq "$1" ] && prints "$2"; }

without libraries --version
expect 'its version names what it lacks' prints 'without libelf, libdw, protozero, OTF2'
without lines --version
expect 'and libelf only where it is missing' prints ' without libdw, protozero, OTF2'
without libraries info
expect 'info says what is not there for it' prints 'without +libdw: call sites are addresses'

without libraries run /bin/true
expect 'a program whose MPI is not seen runs without Penstock, and why is said' fails_with 0 'no libelf, so it does not see which MPI'
expect 'by the launcher it knows the MPI' "$support/mpi_launch" "$family" 2 -- \
  "$commands/penstock_without_libraries" run --output recording "$program" --lattice 16 --sweeps 10
expect 'both ranks have recorded' eval '[ "$(ls recording/rank-*.penstock | wc -l)" -eq 2 ]'

# Names that a report has found are kept in the recording, so that of the least comes first.
without libraries report --all recording
expect 'its report has addresses for call sites' fails_with 0 "$file\\+0x[0-9a-f]+"
expect 'and says why' prints 'has neither libdw nor libelf: call sites are addresses'
without libraries report --all --json recording
expect 'in JSON, too' prints 'has neither libdw nor libelf'
without lines report --all recording
expect 'without libdw alone they have functions' fails_with 0 "$file\\+0x[0-9a-f]+ [A-Za-z]"
expect 'and that lines are missing is said' prints 'has no libdw: call sites are named without file and line'
"$commands/penstock" report --all recording >whole.txt
expect 'a command with libdw tells lines' grep -qE 'simulation\.cpp:[0-9]+' whole.txt
without libraries report --all recording
expect 'what that has found is kept for others' fails_with 0 'simulation\.cpp:[0-9]+'
expect 'which then miss nothing' eval '! prints "neither libdw nor libelf"'

for kind in lines libraries; do
  without "$kind" export --perfetto trace recording
  expect "without protozero there is no trace for Perfetto ($kind)" fails_with 1 'this build of Penstock has no Perfetto traces'
  without "$kind" export --otf2 archive recording
  expect "without OTF2 there is no archive ($kind)" fails_with 1 'this build of Penstock has no OTF2'
done
expect 'and nothing is begun' eval '[ ! -e trace ] && [ ! -e archive ]'
without libraries export --csv tables recording
expect 'tables are written all the same' eval '[ "$status" -eq 0 ] && grep -q MPI_ tables/mpi_calls.csv'
exit $((failures > 0))
