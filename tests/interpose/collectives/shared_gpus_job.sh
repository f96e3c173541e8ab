#!/usr/bin/env bash
# Collectives of ranks that share a GPU go by messages from a size on, and these through host memory, as the processes would
# take turns within the GPU.
#   shared_gpus_job.sh FAMILY PROGRAM LIBRARY PENSTOCK
# PROGRAM (collectives) calls them; between its ranks only they send anything.
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../../support/job.sh"

# run FIGURES: of three ranks on one GPU
run() {
  recorded_job 3 CUDA_VISIBLE_DEVICES=0 SIMULATED_GPU_DEVICES=1 PENSTOCK_TUNING="$1" -- \
    "$program" --gtest_filter='Collectives.Allgather*' || fail "the job"
}

messages_go_through_host_memory() {
  grep -q 'a copy within a GPU waits for the kernels of the other rank on it' "$folder/report"
}

run shared_gpu_from=1G,shared_exchanged_from=1G
! messages_go_through_host_memory || fail "collectives below the size went by messages"
grep -q 'small, and ranks share a GPU, where their kernels and copies take turns' "$folder/report" || fail "the report does not say why"

run shared_gpu_from=1G,shared_exchanged_from=0
messages_go_through_host_memory || fail "no collective went by messages"

# who takes no turns says so by one figure
run shared_gpu_from=0
[ "$(messages_by peer)" -gt 0 ] || fail "no collective went by messages"
! messages_go_through_host_memory || fail "messages left the GPU"
echo "passed"
