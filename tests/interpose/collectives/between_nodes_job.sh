#!/usr/bin/env bash
# Of a collective of four ranks on two nodes, two on each, what crosses goes once, and the rest stays within a node.
#   between_nodes_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (between_nodes) makes one call in each test that is named here. The ranks may share GPUs.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# crosses MESSAGES TEST [TUNING]
crosses() {
  local expected=$1 test=$2
  recorded_job 4 --nodes 2 SIMULATED_GPU_DEVICES=4 PENSTOCK_TUNING="shared_gpu_from=0${3:+,$3}" -- \
    "$program" --gtest_filter="BetweenNodes.$test" || fail "the job"
  local seen
  seen=$(messages_by network)
  [ "$seen" = "$expected" ] || fail "$test: $seen messages between the nodes, not $expected"
}

# each of the two ranks of a node exchanges its half with its counterpart
crosses 4 allreduce_adds_up
# one for each other node's counterpart
crosses 4 allgather_brings_all_to_all
# from each of the four roots
crosses 4 bcast_brings_it_to_all
# by the MPI library
crosses 0 bcast_may_be_of_another_type_on_each_rank
crosses 0 allreduce_adds_up network_from=1G
# figures may differ from rank to rank: the largest holds for all
program_of_a_rank=(sh -c 'PENSTOCK_TUNING=shared_gpu_from=0,network_from=$((1 + ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} * 300))K exec "$@"' sh "$program")
recorded_job 4 --nodes 2 SIMULATED_GPU_DEVICES=4 -- "${program_of_a_rank[@]}" --gtest_filter="BetweenNodes.allreduce*:BetweenNodes.bcast_brings*" ||
  fail "the job whose ranks have figures of their own"
[ "$(messages_by network)" = 4 ] || fail "$(messages_by network) messages between the nodes, where only the four broadcasts are large enough for all"
