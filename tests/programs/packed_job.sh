#!/usr/bin/env bash
# Which lists of integers travel as bitmaps, as the report tells it.
#   packed_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (packed_lists) sends lists of 96 KiB.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../support/job.sh"

# run_lists TESTS TRANSPORT FIGURES
run_lists() {
  recorded_job 2 PENSTOCK_TRANSPORT="$2" PENSTOCK_TUNING="$3" -- "$program" --gtest_filter="$1" || fail "the job: $*"
}
# sum_of KEY: over all classes of messages of that job
sum_of() {
  awk -F '[:, ]+' -v key="\"$1\"" '
    /^ *"transports":/ { is_there = 1 }
    /^  ]/ { is_there = 0 }
    is_there && $2 == key { sum += $3 }
    END { print sum + 0 }' "$folder/report"
}
# saves_at_least FACTOR
saves_at_least() {
  local bytes wire_bytes
  bytes=$(sum_of bytes) wire_bytes=$(sum_of wire_bytes)
  [ "$bytes" -gt 0 ] && [ $((wire_bytes * $1)) -le "$bytes" ] || fail "$wire_bytes bytes travelled for $bytes"
  grep -q 'as a bitmap' "$folder/report" || fail "no message is said to go as a bitmap"
}
saves_nothing() {
  [ "$(sum_of bytes)" -gt 0 ] && [ "$(sum_of bytes)" = "$(sum_of wire_bytes)" ] || fail "$1"
}

# no sender copies a list aside for a receiver that is late: it would go as it is
waiting=receiver_timeout_us=30000000
for transport in staged network; do
  figures=$waiting,packed_from=64K,network_from=64K,network_packed_from=64K
  run_lists '*that_increase*' $transport $figures
  saves_at_least 2
  run_lists '*as_they_are*' $transport $figures
  saves_nothing "a list that does not increase went as a bitmap"
  run_lists '*arrive_in_increasing_order*' $transport $figures
  grep -q 'as a bitmap' "$folder/report" || fail "no set went as a bitmap by $transport"
  run_lists '*that_increase*' $transport $waiting,packed_from=1G,network_from=64K,network_packed_from=1G
  saves_nothing "lists smaller than packed_from went as bitmaps"
done
run_lists '*that_increase*' '' packed_from=64K,shared_gpu_from=0
saves_nothing "lists went as bitmaps where they can be fetched"
echo "passed"
