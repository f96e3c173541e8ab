"""Runs the command `penstock`, and passes on what it complains of."""

import json
import subprocess
import warnings


class CommandError(Exception):
    """The command is not there, or it failed: its text is what the command wrote to standard error."""


CONDITION_HOLDS = 3
CANNOT_BE_TOLD = 4


def run(command, *arguments, accepted=()):
    """Returns what `command` with these arguments prints. Errors: CommandError, if it ends with another exit code than 0 and
    those `accepted`, of which it warns.
    """
    line = [str(part) for part in (command, *arguments)]
    try:
        ended = subprocess.run(line, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CommandError(f"{line[0]}: {error.strerror}; command= says where penstock is") from error
    if ended.returncode not in (0, *accepted):
        raise CommandError(ended.stderr.strip() or f"{line[0]} ended with exit code {ended.returncode}")
    if ended.returncode != 0:
        warnings.warn(ended.stderr.strip(), stacklevel=3)
    return ended.stdout


def report(recording, *options, command="penstock"):
    """Returns `penstock report --json` of a recording: a dictionary, as analysis/report.schema.json describes it.

    `options` are the report's own, such as "--step", "sweep" or "--whole-run". Warns if a condition of "--fail-if" holds, or
    something cannot be told. Errors: CommandError.
    """
    # alone, also in a rank of a job: the others make no report
    return json.loads(run(command, "report", "--json", "--alone", *options, recording,
                          accepted=(CONDITION_HOLDS, CANNOT_BE_TOLD)))
