#!/usr/bin/env bash
# How jobs end, and what is left of them.
#   end_of_job.sh CASE FAMILY PROGRAM LIBRARY PENSTOCK
# CASE   finalize     the job ends as it should: a report, nothing left behind
#        destructor   the same where MPI_Finalize is called by a global object's destructor
#        kill         one rank dies by SIGKILL: the recordings stay readable, nothing left behind
#        midway       the same while large payloads are under way, by each transport and for each rank in turn
#        collectives  the same in the middle of collectives, blocking and not
#        nodes        it ends as it should, on two nodes, between which large payloads travel in chunks
#        exit         no rank calls MPI_Finalize: the same
#        late         rank 0 ends before its message is received, in a job of which one rank has no preload: the message
#                     arrives all the same
#        early        rank 0 ends before any rank has used a GPU: the job ends as it should
#        unwritable   the recording cannot be written: the job runs, one line a rank at most says why
# shellcheck disable=SC2034  # for job.sh
case=$1 family=$2 program=$3 library=$4 penstock=$5
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../support/job.sh"

# a copy under a name of its own, so that its processes can be told from others'
cp "$program" "$folder/job"
output=$folder/recording
ranks=3
if [ "$case" = unwritable ]; then
  touch "$folder/file"
  output=$folder/file/recording
fi
end=$case
nodes=()
case $case in
  unwritable) end=finalize ;;
  nodes) end=finalize nodes=(--nodes 2) ;;
esac
command=("$folder/job" "$end")
if [ "$case" = late ]; then
  command=(sh -c '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 2 ] || unset LD_PRELOAD; exec "$@"' sh "${command[@]}")
fi

# no process holds the file, and it is there. `flock FILE` would make one that its job has removed meanwhile.
is_left() {
  local file held=0
  { exec {file}<"$1"; } 2>/dev/null || return 1
  flock --exclusive --nonblock "$file" || held=1
  exec {file}<&-
  [ $held = 0 ] && [ -e "$1" ]
}

# nothing of the job is there any more
expect_nothing_left() {
  # the launcher may return a moment before the last rank is gone
  for ((i = 0; i < 50; ++i)); do
    pgrep -f "^$folder/job" >/dev/null || break
    sleep 0.1
  done
  ! pgrep -f "^$folder/job" || fail "a process is left"
  # the files of jobs that are just starting elsewhere are locked, those that are left behind are not
  # (but for the moment between open and lock, hence the second look)
  find /dev/shm -maxdepth 1 -name 'penstock*' -newer "$folder/job" -user "$(id -u)" >"$folder/found"
  for look in first second; do
    while read -r left; do
      ! is_left "$left" || echo "$left"
    done <"$folder/found" >"$folder/left"
    [ -s "$folder/left" ] || return 0
    [ $look = second ] || sleep 2
  done
  fail "left in /dev/shm: $(cat "$folder/left")"
}

# dies WHAT ENVIRONMENT: rank $victim of a job that does WHAT
victim=0
dies() {
  ! job "$ranks" "$2" -- "$folder/job" "$case" "$victim" "$1" || fail "nobody saw that rank $victim died"
  [ "$(grep -c 'all messages arrived' "$folder/output")" = "$ranks" ] || fail "messages were lost, $1, $2"
  expect_nothing_left
  victim=$(((victim + 1) % ranks))
}
if [ "$case" = midway ]; then
  for transport in peer relayed staged pushed local network; do
    kind=device
    [ "$transport" != pushed ] || kind=pinned
    dies $kind PENSTOCK_TRANSPORT="$transport"
  done
  echo "passed"
  exit
fi
if [ "$case" = collectives ]; then
  # by messages and kernels, though GPUs are shared; and by the MPI library, staged
  for form in blocking nonblocking; do
    dies $form PENSTOCK_TUNING=shared_gpu_from=0
    dies $form PENSTOCK_REDUCE_ON_GPU=0
  done
  echo "passed"
  exit
fi

code=0
job "$ranks" "${nodes[@]}" PENSTOCK_RECORD=1 PENSTOCK_OUTPUT="$output" -- "${command[@]}" || code=$?

[ "$(grep -c 'all messages arrived' "$folder/output")" = "$ranks" ] || fail "messages were lost"
case $case in
  finalize | destructor | nodes | late | early | unwritable) [ "$code" = 0 ] || fail "the job ended with $code" ;;
  kill) [ "$code" != 0 ] || fail "the launcher did not see that a rank died" ;;
esac

if [ "$case" = late ] || [ "$case" = early ]; then
  :  # there is no report to speak of
elif [ "$case" = unwritable ]; then
  lines=$(grep -c '^penstock: ' "$folder/output" || true)
  [ "$lines" -ge 1 ] || fail "nothing says why there is no recording"
  [ "$lines" -le "$ranks" ] || fail "more than one line a rank"
  grep '^penstock: ' "$folder/output" | grep -q "$output" || fail "the line does not name the directory"
else
  [ "$(find "$output" -name 'rank-*.penstock' | wc -l)" = "$ranks" ] || fail "not one recording a rank"
  "$penstock" report --all --whole-run "$output" >"$folder/report" 2>&1 || { cat "$folder/report" && fail "the report failed"; }
  grep -q 'MPI_Sendrecv' "$folder/report" || { cat "$folder/report" && fail "the report does not name MPI_Sendrecv"; }
  [ "$case" != nodes ] || grep -q 'network.*on different nodes' "$folder/report" ||
    { cat "$folder/report" && fail "the report does not say that payloads crossed the network, and why"; }
fi

expect_nothing_left
echo "passed"
