#!/usr/bin/env bash
# Threads of one rank send to one another, and the recording says by which transport.
#   threads_to_themselves.sh FAMILY PROGRAM LIBRARY PENSTOCK
# shellcheck disable=SC2034  # for job.sh
family=$1 program=$2 library=$3 penstock=$4
# shellcheck source=tests/support/job.sh
source "$(dirname "$0")/../support/job.sh"
recorded_job 1 SIMULATED_GPU_DEVICES=4 -- "$program" || fail "the job"
# a receiver that is late is no fault of the transport's
python3 - "$folder/report" <<'END'
import json, sys
transports = json.load(open(sys.argv[1]))["transports"]
for transport in transports:
    print(transport["messages"], "messages by", transport["transport"] + ":", transport["reason"])
local = [transport for transport in transports if transport["transport"] == "local"]
others = [transport for transport in transports if transport["transport"] != "local" and transport["reason"] != "receiver was late"]
sys.exit("FAILED: no message by the transport local" if not local else "FAILED: messages by another transport" if others else 0)
END
