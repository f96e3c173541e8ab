#!/usr/bin/env python3
"""Runs an unpacked run list (see list_tests.py) on a GPU machine; one test that fails or hangs stops no other.

    run_tests.py PACK_FOLDER OUT_FOLDER [--jobs N] [--limit SECONDS] [--filter PATTERN]

Writes OUT_FOLDER/gpu-tests.json, gpu-tests.md and logs/ (of all that did not pass). Exit code 0 if all passed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import time


def environment_of(test, pack):
    """This process's environment, with the pack's libraries and the right MPI for the test."""
    environment = dict(os.environ)
    libraries = [str(pack / "lib-used")]
    launcher = "mpiexec.openmpi"
    if test["mpi"] == "mpich":
        mpich = pack / "mpich"
        launcher = str(mpich / "bin/mpiexec")
        libraries.insert(0, str(mpich / "lib"))
        environment.update(
            PATH=f"{mpich}/bin:{environment['PATH']}", UCX_MODULE_DIR=f"{mpich}/lib/ucx", HYDRA_LAUNCHER="fork"
        )
    elif not any(os.access(f"{folder}/{launcher}", os.X_OK) for folder in environment["PATH"].split(":")):
        launcher = "mpiexec"
    places = {"@BUILD@": str(pack / "build"), "@SOURCE@": str(pack / "source"), "@MPIEXEC@": launcher}
    for name, value in test["environment"].items():
        value = put_in(value, places)
        if name == "LD_LIBRARY_PATH":
            libraries.insert(0, value)
        else:
            environment[name] = value
    if environment.get("LD_LIBRARY_PATH"):
        libraries.append(environment["LD_LIBRARY_PATH"])
    environment["LD_LIBRARY_PATH"] = ":".join(libraries)
    return environment, places


def put_in(text, places):
    for placeholder, path in places.items():
        text = text.replace(placeholder, path)
    return text


def verdict(test, exit_code, output):
    """As ctest decides."""

    def matches(patterns):
        return any(re.search(pattern, output) for pattern in patterns)

    if exit_code == test["skip_code"]:
        return "skipped"
    if matches(test["fail_pattern"]):
        return "failed"
    if test["pass_pattern"]:
        passed = matches(test["pass_pattern"])
    else:
        passed = exit_code == 0
    return "passed" if passed != test["must_fail"] else "failed"


def run(test, pack, deadline):
    """Result and output of one test. The whole process group ends with it."""
    limit_s = min(test["timeout_s"], deadline - time.monotonic())
    if limit_s <= 0:
        return {"name": test["name"], "result": "not run", "seconds": 0.0}, ""
    environment, places = environment_of(test, pack)
    folder = pathlib.Path(put_in(test["folder"], places))
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    process = subprocess.Popen(
        [put_in(word, places) for word in test["command"]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
        result = verdict(test, process.returncode, output)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        result = "timed out"
    return {"name": test["name"], "result": result, "seconds": round(time.monotonic() - start, 2)}, output


def phases(tests):
    """Those that prepare something for others first; those that must be alone last, one by one."""
    together = [test for test in tests if not test["alone"]]
    yield [test for test in together if test["prepares"]], False
    yield [test for test in together if not test["prepares"]], False
    yield [test for test in tests if test["alone"]], True


def write_results(out, facts, results):
    counts = collections.Counter(result["result"] for result in results)
    (out / "gpu-tests.json").write_text(json.dumps({**facts, "counts": counts, "tests": results}, indent=1))
    lines = [f"# Tests on {facts['gpu']}", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", "| result | tests |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in sorted(counts.items())]
    bad = [result for result in results if result["result"] not in ("passed", "skipped")]
    if bad:
        lines += ["", "| did not pass | result | s |", "|---|---|---|"]
        lines += [f"| {result['name']} | {result['result']} | {result['seconds']} |" for result in bad]
    (out / "gpu-tests.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines[lines.index("| result | tests |") :]))
    return bool(results) and not bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pack", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=4, help="tests at a time")
    parser.add_argument("--limit", type=float, default=480, help="seconds for all tests together")
    parser.add_argument("--filter", default="", help="only tests whose name matches this pattern")
    arguments = parser.parse_args()
    pack = arguments.pack.resolve()
    logs = arguments.out / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    facts = json.loads((pack / "facts.json").read_text())
    tests = [test for test in json.loads((pack / "tests.json").read_text()) if re.search(arguments.filter, test["name"])]

    deadline = time.monotonic() + arguments.limit
    results = []
    for phase, one_by_one in phases(tests):
        with concurrent.futures.ThreadPoolExecutor(1 if one_by_one else arguments.jobs) as pool:
            running = [pool.submit(run, test, pack, deadline) for test in phase]
            for future in concurrent.futures.as_completed(running):
                result, output = future.result()
                results.append(result)
                print(f"{len(results):4}/{len(tests)} {result['result']:9} {result['seconds']:7.2f} s  {result['name']}",
                      flush=True)
                if result["result"] not in ("passed", "not run"):
                    (logs / (re.sub(r"[^\w.-]", "_", result["name"]) + ".log")).write_text(output)
    raise SystemExit(0 if write_results(arguments.out, facts, results) else 1)


main()
