#!/usr/bin/env python3
"""Turns what `ctest --show-only=json-v1` says into a run list without absolute paths, and into the files it needs.

    ctest --show-only=json-v1 -L gpu | list_tests.py BUILD_FOLDER SOURCE_FOLDER RUN_LIST FILE_LIST

RUN_LIST is JSON. Paths in it begin with @BUILD@ or @SOURCE@, and an MPI launcher is @MPIEXEC@; run_tests.py puts in
what these are where the tests run. FILE_LIST gets the files of both folders that commands and environments name,
one a line as `build PATH` or `source PATH`.
"""

import json
import pathlib
import re
import subprocess
import sys

MPI_LIBRARIES = {"libmpich.so.12": "mpich", "libmpi.so.40": "openmpi"}


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def mpi_family(paths):
    """The MPI that one of these programs is linked with, or None."""
    for path in paths:
        if path.is_file() and is_elf(path):
            needed = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
            for library, family in MPI_LIBRARIES.items():
                if re.search(rf"NEEDED\s+{re.escape(library)}", needed):
                    return family
    return None


def main():
    build, source = (pathlib.Path(folder).resolve() for folder in sys.argv[1:3])
    files = set()

    def relocate(text):
        """Placeholders for both folders; remembers the files that the text names."""
        paths = [pathlib.Path(part) for part in re.split(r"[:;=\s]", text) if part.startswith(f"{source}")]
        for path in paths:
            folder = build if path.is_relative_to(build) else source
            if path.is_file():
                files.add(("build" if folder == build else "source", str(path.relative_to(folder))))
        # the build folder lies in the source folder, so it goes first
        return text.replace(f"{build}", "@BUILD@").replace(f"{source}", "@SOURCE@"), paths

    tests = []
    for test in json.load(sys.stdin)["tests"]:
        if "command" not in test:
            sys.exit(f"list_tests: {test['name']} has no command: is it built?")
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        paths = []
        command = []
        for word in test["command"]:
            word, named = relocate(word)
            command.append(word)
            paths += named
        environment = {}
        for entry in properties.get("ENVIRONMENT", []):
            name, _, value = entry.partition("=")
            value, named = relocate(value)
            environment[name] = "@MPIEXEC@" if name == "MPIEXEC" else value
            paths += named
        tests.append(
            {
                "name": test["name"],
                "command": command,
                "environment": environment,
                "folder": relocate(properties.get("WORKING_DIRECTORY", str(build)))[0],
                "mpi": mpi_family(paths),
                "timeout_s": properties.get("TIMEOUT", 120),
                "skip_code": properties.get("SKIP_RETURN_CODE"),
                "pass_pattern": properties.get("PASS_REGULAR_EXPRESSION", []),
                "fail_pattern": properties.get("FAIL_REGULAR_EXPRESSION", []),
                "must_fail": properties.get("WILL_FAIL", False),
                "prepares": properties.get("FIXTURES_SETUP", []),
                "alone": properties.get("RUN_SERIAL", False),
            }
        )
    pathlib.Path(sys.argv[3]).write_text(json.dumps(tests, indent=1))
    pathlib.Path(sys.argv[4]).write_text("".join(f"{where} {path}\n" for where, path in sorted(files)))


main()
