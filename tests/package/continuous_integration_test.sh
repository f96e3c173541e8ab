#!/usr/bin/env bash
# The lines of the templates for continuous integration, run as they stand: they keep a page and a baseline, and fail
# where a condition holds.
#   continuous_integration_test.sh TEMPLATES LAUNCH_SCRIPT COMMAND PROGRAM
set -euo pipefail
templates=$1
launch=$(realpath "$2")
command=$(realpath "$3")
program=$(realpath "$4")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/support/expect.sh
source "$(dirname "$0")/../support/expect.sh"

mkdir "$work/programs"
printf '#!/bin/sh\nn=$2; shift 2; exec "%s" mpich "$n" -- "$@"\n' "$launch" >"$work/programs/mpiexec"
chmod +x "$work/programs/mpiexec"
ln -s "$command" "$work/programs/penstock"
export PATH=$work/programs:$PATH

lines_of() { awk '/# begin$/ {on = 1} on; /# end$/ {on = 0}' "$1" | sed -E 's/^ +//'; }
expect 'both run the same lines' [ "$(lines_of "$templates/github.yml")" = "$(lines_of "$templates/gitlab.yml")" ]
expect 'which are some' [ "$(lines_of "$templates/github.yml" | wc -l)" -gt 5 ]
lines_of "$templates/gitlab.yml" >"$work/lines.sh"

# BRANCH CONDITION CONDITION_AGAINST_BASELINE
job() {
  (cd "$work" && RANKS=2 PROGRAM="$program --lattice 32 --sweeps 8" BRANCH=$1 FAIL_IF=$2 FAIL_IF_AGAINST_BASELINE=$3 \
    bash -e lines.sh >log 2>&1)
}
status_of() {
  local status=0
  job "$@" || status=$?
  echo $status
}
never='step > 100000s'
expect 'a branch without a baseline passes' [ "$(status_of change "$never" 'step > +5%')" = 0 ]
expect 'and leaves none' [ ! -e "$work/baseline" ]
expect 'its page is kept' [ -s "$work/penstock.html" ]
expect 'a limit that is passed fails the job' [ "$(status_of main 'step > 0.001ms' 'step > +5%')" = 3 ]
expect 'the page is kept then, too' [ -s "$work/penstock.html" ]
expect 'and nothing becomes the baseline' [ ! -e "$work/baseline" ]
expect 'the main branch passes' [ "$(status_of main "$never" 'step > +1000000%')" = 0 ]
expect 'and becomes the baseline' [ -d "$work/baseline" ]
expect 'a branch that is compared passes' [ "$(status_of change "$never" 'step > +1000000%')" = 0 ]
expect 'a program that fails fails the job' \
  eval '[ "$(program=/bin/false && status_of change "$never" "step > +5%")" != 0 ]'
[ "$failures" = 0 ] || tail -n 20 "$work/log"
exit $((failures > 0))
