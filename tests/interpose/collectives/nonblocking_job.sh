#!/usr/bin/env bash
# Non-blocking collectives on device buffers go by messages once the ranks have met, and on a communicator that was made
# while they use a GPU from the first one on.
#   nonblocking_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (nonblocking) calls them; between the two devices only they send anything.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# also where they share a GPU
run() {
  recorded_job 2 PENSTOCK_TUNING=shared_gpu_from=0 -- "$program" --gtest_filter="$1" || fail "the job"
}

run '*complete_in_any_order*'
[ "$(messages_by peer)" -gt 0 ] || fail "no message between the devices"

run '*by_messages_from_the_first_on*'
tests=$(grep -c ' OK \]' "$folder/output")
# one call each, in which each rank sends the other a block
[ "$(messages_by peer)" = $((2 * tests)) ] || fail "$(messages_by peer) messages between the devices in $tests tests"

run '*by_messages_after_very_many_others*'
[ "$(messages_by peer)" = 2 ] || fail "$(messages_by peer) messages between the devices after very many communicators"

# Each is recorded until it is complete, whoever carried it out: by messages, staged, or the MPI library alone
each_is_recorded_to_its_end() {
  rm -rf "$folder/csv"
  "$penstock" export --csv "$folder/csv" "$folder/recording" >"$folder/output"
  local started ended
  started=$(awk -F, '$5 ~ /^MPI_I(all|barrier|bcast|gather|scatter|reduce|scan|exscan|neighbor)/' "$folder/csv/mpi_calls.csv" | wc -l)
  ended=$(($(wc -l <"$folder/csv/nonblocking_collectives.csv") - 1))
  [ "$started" -gt 0 ] && [ "$started" = "$ended" ] || fail "$ended of $started non-blocking collectives came to an end"
}
run '*complete_in_any_order*'
each_is_recorded_to_its_end
grep -q '"mpi_function": "MPI_Iallreduce"' <(sed -n '/"collectives"/,/"late_ranks"/p' "$folder/report") || fail "no sums of MPI_Iallreduce"
# MPI_Wait also waits for MPI_Comm_idup, of which nothing is known
! grep -qE '"MPI_Wait(all|any|some)"' <(sed -n '/"unattributed": \[/,/\]/p' "$folder/report") || fail "waits for what is not recorded"
recorded_job 2 PENSTOCK_TRANSPORT=staged -- "$program" --gtest_filter='*complete_in_any_order*' || fail "the staged job"
each_is_recorded_to_its_end
