#!/usr/bin/env bash
# What penstock tune measures decides in the next job, and what was measured elsewhere does not.
#   tuned_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (relaying) sends large payloads that are relayed by the shipped figures.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../support/job.sh"

# run_by TABLE
run_by() {
  recorded_job 2 PENSTOCK_TUNING="$1" -- "$program" --gtest_filter='*a_payload_of_any_size_arrives*' ||
    fail "the job by $1"
}
relays() {
  [ "$(messages_by relayed)" -gt 0 ]
}
says_once() {
  [ "$(grep -c 'the shipped figures' "$folder/output")" = 1 ] || fail "not one line about the table"
  grep 'the shipped figures' "$folder/output" | grep -qF "$1" || fail "the line does not say: $1"
}

if ! "$penstock" tune --quick --output "$folder/table" >"$folder/output" 2>&1; then
  ! grep -E 'no GPU|libcuda' "$folder/output" || { echo "SKIPPED: no GPU" && exit 77; }
  fail "penstock tune"
fi
[ "$(find "$folder" -name 'table*' | wc -l)" = 1 ] || fail "more than the table is left"
PENSTOCK_TUNING=$folder/table "$penstock" info >"$folder/output"
grep -qF "$folder/table, measured 20" "$folder/output" || fail "info does not name the table"
run_by "$folder/table"
! grep 'the shipped figures' "$folder/output" || fail "the table that was just measured is not used"

# the same machine, but nothing is to be relayed
{
  grep -E '^(format|measured|driver|gpu) =' "$folder/table"
  printf '[%s]\nrelayed_from = never\n' nvlink pcie same_device
  echo '[end]'
} >"$folder/never"
PENSTOCK_TUNING=$folder/never "$penstock" info >"$folder/output"
grep -q 'managed *staged  (measured)' "$folder/output" || fail "info does not show the figure"
run_by "$folder/never"
! relays || fail "relayed in spite of the table"
run_by shipped
relays || fail "not relayed by the shipped figures"

sed 's/^gpu = [^ ]*/gpu = GPU-elsewhere/' "$folder/never" >"$folder/elsewhere"
run_by "$folder/elsewhere"
says_once "$folder/elsewhere: it was measured on other GPUs"
relays || fail "the table of another machine was used"

sed 's/never/64Q/' "$folder/never" >"$folder/broken"
run_by "$folder/broken"
says_once "$folder/broken:$(grep -n 64Q "$folder/broken" | head -n 1 | cut -d: -f1): relayed_from = 64Q"
relays || fail "a broken table was used"
PENSTOCK_TUNING=$folder/broken "$penstock" info >"$folder/output"
grep -qF "as shipped, since $folder/broken:" "$folder/output" || fail "info does not say what is wrong"

# a tune that is interrupted leaves the old table, no other file and no process
cp "$penstock" "$folder/penstock"
cp "$folder/table" "$folder/before"
timeout --signal=INT 1 "$folder/penstock" tune --output "$folder/table" >"$folder/output" 2>&1 || true
left() {
  find /proc -maxdepth 2 -name exe -lname "$folder/penstock" 2>/dev/null || true
}
for ((i = 0; i < 50; ++i)); do
  [ -n "$(left)" ] || break
  sleep 0.1
done
[ -z "$(left)" ] || fail "a process is left: $(left)"
cmp "$folder/table" "$folder/before" || fail "the old table is gone"
[ "$(find "$folder" -name 'table*' | wc -l)" = 1 ] || fail "more than the table is left"
echo "passed"
