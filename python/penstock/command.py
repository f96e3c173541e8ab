"""Runs the command `penstock`, and passes on what it complains of."""

import json
import subprocess


class CommandError(Exception):
    """The command is not there, or it failed: its text is what the command wrote to standard error."""


def run(command, *arguments):
    """Returns what `command` with these arguments prints. Errors: CommandError."""
    line = [str(part) for part in (command, *arguments)]
    try:
        ended = subprocess.run(line, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CommandError(f"{line[0]}: {error.strerror}; command= says where penstock is") from error
    if ended.returncode != 0:
        raise CommandError(ended.stderr.strip() or f"{line[0]} ended with exit code {ended.returncode}")
    return ended.stdout


def report(recording, *options, command="penstock"):
    """Returns `penstock report --json` of a recording: a dictionary, as analysis/report.schema.json describes it.

    `options` are the report's own, such as "--step", "sweep" or "--whole-run". Errors: CommandError.
    """
    return json.loads(run(command, "report", "--json", *options, recording))
