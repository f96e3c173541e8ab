"""Recordings of Penstock as pandas tables, and its report as a dictionary.

    import penstock
    recording = penstock.read("penstock-out")
    recording.messages.groupby("transport").bytes.sum()
    penstock.report("penstock-out")["ranks"][0]["exposed_s"]

The command `penstock` does the work: it is looked for in PATH, or `command=` names it. Needs pandas, nothing else.
"""

from penstock.command import CommandError, report
from penstock.tables import Recording, read

__all__ = ["CommandError", "Recording", "read", "report"]
