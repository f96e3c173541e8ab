"""The Python package reads a recording: every table has the columns that analysis/export/TABLES.md explains, numbers are
numbers, and its sums are the report's. read_test.py COMMAND RECORDING SOURCE_FOLDER; without pandas it is skipped."""

import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

try:
    import pandas
except ImportError:
    print("SKIPPED: pandas (package python3-pandas) is not here")
    sys.exit(77)

COMMAND, RECORDING, SOURCE = sys.argv[1:4]
sys.path.insert(0, str(pathlib.Path(SOURCE) / "python"))
import penstock  # noqa: E402
from penstock.command import run  # noqa: E402


def explained_columns():
    """Returns {table: columns} of TABLES.md, in its order."""
    tables = {}
    for line in (pathlib.Path(SOURCE) / "analysis/export/TABLES.md").read_text().splitlines():
        if heading := re.match(r"## (\w+)\.csv", line):
            columns = tables[heading[1]] = []
        elif line.startswith("| `"):
            columns += re.findall(r"`(\w+)`", line.split("|")[1])
    return tables


class Read(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording = penstock.read(RECORDING, command=COMMAND)
        cls.report = penstock.report(RECORDING, "--whole-run", command=COMMAND)

    def test_every_column_is_explained(self):
        self.assertEqual({name: list(table.columns) for name, table in vars(self.recording).items()}, explained_columns())

    def test_numbers_are_numbers_and_text_is_text(self):
        calls = self.recording.mpi_calls
        self.assertTrue((calls.end_ns >= calls.begin_ns).all())
        self.assertEqual(calls.begin_ns.dtype, pandas.Int64Dtype())
        self.assertIn("MPI_Allreduce", set(calls.function))
        self.assertEqual(list(self.recording.ranks["rank"]), [0, 1])

    def test_a_missing_cell_is_missing(self):
        reductions = self.recording.mpi_calls.query("function == 'MPI_Allreduce'")
        self.assertTrue(reductions.peer_rank.isna().all())
        self.assertFalse(reductions.communicator.isna().any())

    def test_its_sums_are_the_reports(self):
        messages = self.recording.messages
        of_report = sum(pair["messages"] for pair in self.report["matrix"]["pairs"])
        self.assertEqual(len(messages), of_report)
        self.assertEqual(messages.bytes.sum(), sum(pair["bytes"] for pair in self.report["matrix"]["pairs"]))

    def test_tables_that_were_exported_before_are_read_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            run(COMMAND, "export", "--csv", folder + "/tables", RECORDING)
            again = penstock.read(folder + "/tables", command="/nowhere/penstock")
        for name, table in vars(self.recording).items():
            pandas.testing.assert_frame_equal(table, vars(again)[name])

    def test_a_folder_without_a_recording_is_said_so(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(penstock.CommandError, folder):
            penstock.read(folder, command=COMMAND)

    def test_a_command_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(penstock.CommandError, "/nowhere/penstock: No such file.*command="):
            penstock.report(RECORDING, command="/nowhere/penstock")

    def test_a_report_is_made_in_a_rank_of_a_job_and_whatever_it_cannot_tell(self):
        with unittest.mock.patch.dict("os.environ", {"PMI_RANK": "0", "PMI_SIZE": "2"}), self.assertWarnsRegex(UserWarning, "nosuch"):
            report = penstock.report(RECORDING, "--step", "nosuch", command=COMMAND)
        self.assertIn("headline", report)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
