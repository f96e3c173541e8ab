"""Call paths of a program in Python have its functions and lines. call_paths_test.py COMMAND MPI_LAUNCH FAMILY LIBRARY
SOURCE_FOLDER; PENSTOCK_TEST_PYTHON names another interpreter for the program."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND, MPI_LAUNCH, FAMILY, LIBRARY, SOURCE = sys.argv[1:6]
PROGRAM = pathlib.Path(SOURCE) / "tests/python/calls_of_mpi.py"
PYTHON = os.environ.get("PENSTOCK_TEST_PYTHON", sys.executable)
RANKS, STEPS = 2, 5


def output_of(*command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode == 77:
        print(ran.stdout)
        sys.exit(77)
    assert ran.returncode == 0, f"{command} ended with {ran.returncode}:\n{ran.stdout}"
    return ran.stdout


def line_of(marker, program=PROGRAM):
    lines = program.read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if line.endswith("# " + marker)]
    return found


def knows_classes():
    return output_of(PYTHON, "-c", "import sys; print(sys.version_info >= (3, 11))").strip() == "True"


class CallPaths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.recording = str(pathlib.Path(cls.folder.name) / "recording")
        cls.said = output_of(MPI_LAUNCH, FAMILY, str(RANKS), "--", COMMAND, "run", "-o", cls.recording, PYTHON, str(PROGRAM), LIBRARY)
        cls.report = cls.reported()
        cls.of_class = "Solver." if knows_classes() else ""

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def reported(cls, *options):
        text = output_of(COMMAND, "report", cls.recording, "--whole-run", "--json", *options)
        return json.loads(text[text.index("{") :])

    def calls_by_site(self, report):
        return {
            (site["function"], site["line"]): site["calls"]
            for site in report["call_sites"]
            if site["mpi_function"] == "MPI_Barrier" and site["file"].endswith(PROGRAM.name)
        }

    def frames(self, innermost):
        """Returns Python's part of the paths whose first function of the program is there."""
        found = []
        for path in self.report["call_paths"]:
            frames = path["frames"][path["shown_frame"] :]
            if frames[0] == innermost:
                found.append(frames)
        return found

    def place(self, function, marker):
        return f"{function} ({PROGRAM.name}:{line_of(marker)})"

    def test_sites_are_lines_of_the_program(self):
        calls = self.calls_by_site(self.report)
        for function, marker, count in (
            (self.of_class + "exchange", "first exchange", STEPS),
            (self.of_class + "exchange", "second exchange", STEPS),
            (self.of_class + "reduce", "with the lock", STEPS),
            ("descend", "deep", 1),
            ("in_generator", "generator", 1),
            ("in_thread", "thread", 1),
        ):
            self.assertEqual(calls.pop((function, line_of(marker)), None), RANKS * count, marker)
        name = "main.<locals>.<lambda>" if self.of_class else "<lambda>"
        self.assertEqual(calls.pop((name, line_of("lambda")), None), RANKS * 2)
        self.assertEqual(calls, {})

    def test_callers_follow_with_their_lines(self):
        paths = self.frames(self.place(self.of_class + "exchange", "first exchange"))
        self.assertEqual(len(paths), 1, paths)
        self.assertEqual(paths[0][1], self.place("step", "in step"))
        self.assertTrue(paths[0][2].startswith(f"main ({PROGRAM.name}:"), paths[0])
        self.assertEqual(paths[0][3:], [self.place("<module>", "at the top")])

    def test_a_skipped_function_gives_way_to_its_caller(self):
        report = self.reported("--skip", self.of_class + "exchange")
        self.assertEqual(self.calls_by_site(report)[("step", line_of("in step"))], 2 * RANKS * STEPS)

    def test_a_deep_recursion_has_the_innermost(self):
        (path,) = self.frames(self.place("descend", "deep"))
        self.assertGreater(len(path), 4)
        self.assertTrue(all(frame.startswith("descend (") for frame in path), path)

    def test_code_that_takes_the_place_of_other_code_is_not_taken_for_it(self):
        calls = {
            (site["function"], site["line"]): site["calls"]
            for site in self.report["call_sites"]
            if site["file"] == "<made>"
        }
        truth = {}
        for i in range(20):
            place = (f"made_{i % 2}", i % 5 + 2)
            truth[place] = truth.get(place, 0) + RANKS
        self.assertEqual(calls, truth)

    def test_no_line_is_said(self):
        self.assertNotIn("Python", self.said)

    def test_text_and_exports_have_them(self):
        place = self.place(self.of_class + "exchange", "first exchange")
        text = output_of(COMMAND, "report", self.recording, "--whole-run", "--all", "--top", "1000")
        self.assertIn(place, " ".join(text.split()))  # lines are broken anywhere
        tables = str(pathlib.Path(self.folder.name) / "tables")
        output_of(COMMAND, "export", self.recording, "--csv", tables)
        self.assertRegex((pathlib.Path(tables) / "mpi_calls.csv").read_text(), re.escape(place))


class Mpi4py(unittest.TestCase):
    def test_its_callers_are_lines_of_the_program(self):
        asked = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.get_vendor()[0])"
        known = subprocess.run([PYTHON, "-c", asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if known.stdout.strip() != {"mpich": "MPICH", "openmpi": "Open MPI"}[FAMILY]:
            self.skipTest("mpi4py (package python3-mpi4py) for this MPI is not here")
        program = PROGRAM.with_name("calls_of_mpi4py.py")
        with tempfile.TemporaryDirectory() as folder:
            output_of(MPI_LAUNCH, FAMILY, str(RANKS), "--", COMMAND, "run", "-o", folder, PYTHON, str(program))
            report = json.loads(output_of(COMMAND, "report", folder, "--whole-run", "--json"))
        found = {(site["mpi_function"], site["function"], site["line"]) for site in report["call_sites"]}
        self.assertIn(("MPI_Sendrecv", "exchange", line_of("buffers", program)), found)
        self.assertIn(("MPI_Bcast", "share", line_of("objects", program)), found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
