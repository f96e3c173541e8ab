"""Recordings that earlier versions of Penstock wrote are read as the report of their own time read them.

    earlier_formats_test.py PENSTOCK

Beside each recording (format-N.tar.xz) lie the figures that the command of its commit gave (format-N.json): how many
calls, messages, bytes and kernels, and the times.
"""
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

here = pathlib.Path(__file__).parent
command = pathlib.Path(sys.argv[1])


def figures(report):
    """What a report says, but for what later versions name or explain otherwise."""
    return {
        "ranks": report["counted"]["ranks"],
        "times_s": {key: report["counted"][key] for key in ("total_s", "counted_s")},
        "calls": {row["mpi_function"]: row["calls"] for row in report["mpi_functions"]},
        "messages": sorted([row["transport"], row["messages"], row["bytes"]] for row in report["transports"]),
        "kernels": {row["name"]: row["launches"] for row in report["kernels"]},
        "flaws": report["flaws"],
    }


def main():
    recordings = sorted(here.glob("format-*.tar.xz"))
    wrong = 0 if recordings else 1
    for recording in recordings:
        expected = json.loads(recording.with_name(recording.name.replace(".tar.xz", ".json")).read_text())
        with tempfile.TemporaryDirectory() as folder, tarfile.open(recording) as archive:
            archive.extractall(folder)
            done = subprocess.run([command, "report", "--json", f"{folder}/recording"], capture_output=True, text=True)
        found = figures(json.loads(done.stdout)) if done.returncode == 0 else done.stderr
        print(f"{recording.name}: {'as it was' if found == expected else f'{found} instead of {expected}'}")
        wrong += found != expected
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
