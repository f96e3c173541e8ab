"""Follows the tutorial as it stands: runs each command, makes each change, and looks for what the text says of the reports.

    tutorial_test.py SOURCE BUILD
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1]).resolve()
build = pathlib.Path(sys.argv[2]).resolve()


def blocks(text):
    """The commands (`sh`) and changes (`diff`) of the page, in its order."""
    return re.findall(r"^```(sh|diff)\n(.*?)^```$", text, re.M | re.S)


def change(program, diff):
    lines = diff.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    text = program.read_text()
    assert text.count(before) == 1, f"{before!r} is {text.count(before)} times in {program}"
    program.write_text(text.replace(before, after))


def report(shell, recording):
    return json.loads(shell(f"penstock report --json {recording}"))


def share_of_sums(figures):
    exposed_s = sum(row["counted_s"] for row in figures["mpi_functions"] if row["mpi_function"] == "MPI_Allreduce")
    return exposed_s / figures["counted"]["total_s"]


def expect(what, holds):
    print("passed:" if holds else "FAILED:", what)
    return bool(holds)


with tempfile.TemporaryDirectory() as folder:
    clone = pathlib.Path(folder)
    tutorial = clone / "examples/tutorial"
    shutil.copytree(source / "examples/tutorial", tutorial)
    (clone / "build").symlink_to(build)
    (clone / "tests").symlink_to(source / "tests")
    (clone / "bootstrap").write_text("#!/bin/sh\n[ \"$1\" = build ]\n")  # it is built: this test is of that build
    (clone / "bootstrap").chmod(0o755)

    # One shell that keeps its folder and variables from command to command, as the reader's does.
    state = clone / "state"
    environment = os.environ | {"MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}

    def shell(commands):
        restore = f"set -e; [ ! -f {state} ] || . {state}; "
        keep = f"\n{{ echo \"cd '$PWD'\"; echo \"export PATH='$PATH'\"; }} >{state}"
        done = subprocess.run(["bash", "-c", restore + commands + keep], cwd=clone, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"failed with {done.returncode}: {commands}\n{done.stdout}{done.stderr}")
        return done.stdout

    page = (tutorial / "README.md").read_text()
    steps = blocks(page)
    for kind, text in steps:
        if kind == "diff":
            change(tutorial / "halo.cu", text)
        else:
            print(text.rstrip())
            shell(text)

    first, second, third, fourth = (report(shell, name) for name in ("first", "second", "third", "fourth"))
    advice = first["advice"][0]
    lines_of_page = set(re.findall(r"halo\.cu:\d+", page))
    lines_of_reports = set(re.findall(r"halo\.cu:\d+", json.dumps([first, second])))
    copies_s = [each["counted"]["parts_s"]["other_copies"] for each in (third, fourth)]
    calls = {row["mpi_function"]: row["calls"] for row in third["mpi_functions"]}
    passed = [
        expect("there are changes and commands", len(steps) > 8),
        expect("the first advice is rank 0's host code", advice["kind"] == "host_code" and "wait for rank 0" in advice["text"]),
        expect("the lines that the text names are those of the reports", lines_of_page and lines_of_page <= lines_of_reports),
        # On a busy machine it is not the sum's frequency, but the ranks that come late to it. On a quiet one it costs too little.
        expect("then advice leads to the sum, if it costs something",
               any("MPI_Allreduce at change" in each["text"] for each in second["advice"]) or share_of_sums(second) < 0.03),
        expect("the report names the sum, whatever it costs",
               any(site["mpi_function"] == "MPI_Allreduce" and site["function"] == "change" for site in second["call_sites"])),
        expect("which the change does", calls["MPI_Allreduce"] == 8),
        expect("copies are left, and go with the last change", copies_s[0] > 10 * copies_s[1]),
        expect("and device buffers are passed then", {row["source"] for row in fourth["transports"]} == {"device"}),
        expect("the page is there", (tutorial / "first.html").stat().st_size > 100_000),
    ]
sys.exit(not all(passed))
