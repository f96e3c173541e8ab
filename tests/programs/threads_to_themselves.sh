#!/usr/bin/env bash
# Threads of one rank send to one another, and the recording says by which road.
#   threads_to_themselves.sh FAMILY PROGRAM LIBRARY PENSTOCK
set -euo pipefail
family=$1 program=$2 library=$3 penstock=$4
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/../support/mpi_launch" "$family" 1 --preload "$library" PENSTOCK_RECORD=1 PENSTOCK_OUTPUT="$folder/recording" \
  SIMULATED_GPU_DEVICES=4 -- "$program"
"$penstock" report --json "$folder/recording" >"$folder/report"
# a receiver that is late is no fault of the road's
python3 - "$folder/report" <<'END'
import json, sys
roads = json.load(open(sys.argv[1]))["roads"]
for road in roads:
    print(road["messages"], "messages by", road["road"] + ":", road["reason"])
local = [road for road in roads if road["road"] == "local"]
others = [road for road in roads if road["road"] != "local" and road["reason"] != "receiver was late"]
sys.exit("FAILED: no message by the road local" if not local else "FAILED: messages by another road" if others else 0)
END
