#!/usr/bin/env python3
"""run_tests.py decides as ctest would, and one bad test stops no other."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent


def test(name, script, **changes):
    """A test of the run list that is a shell script."""
    defaults = {
        "name": name,
        "command": ["sh", "-c", script],
        "environment": {},
        "folder": "@BUILD@/folder",
        "mpi": None,
        "timeout_s": 20,
        "skip_code": None,
        "pass_pattern": [],
        "fail_pattern": [],
        "must_fail": False,
        "prepares": [],
        "alone": False,
    }
    return {**defaults, **changes}


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pack = pathlib.Path(folder.name) / "pack"
        self.out = pathlib.Path(folder.name) / "out"
        self.pack.mkdir()
        (self.pack / "facts.json").write_text('{"date": "2026-01-01", "gpu": "none", "driver": "0", "commit": "0"}')

    def run_list(self, tests, *options):
        """Exit code, and the result of each test by name."""
        (self.pack / "tests.json").write_text(json.dumps(tests))
        process = subprocess.run(
            [sys.executable, HERE / "run_tests.py", self.pack, self.out, *options], capture_output=True, text=True
        )
        report = json.loads((self.out / "gpu-tests.json").read_text())
        return process.returncode, {entry["name"]: entry["result"] for entry in report["tests"]}

    def test_one_that_fails_or_hangs_stops_no_other(self):
        code, results = self.run_list(
            [
                test("fails", "echo why; exit 1"),
                test("crashes", "kill -SEGV $$"),
                test("hangs", "sleep 60 & sleep 60", timeout_s=1),
                test("passes", "true"),
            ]
        )
        self.assertEqual(code, 1)
        self.assertEqual(
            results, {"fails": "failed", "crashes": "failed", "hangs": "timed out", "passes": "passed"}
        )
        self.assertEqual((self.out / "logs/fails.log").read_text(), "why\n")
        self.assertFalse((self.out / "logs/passes.log").exists())

    def test_patterns_and_codes_decide_as_in_ctest(self):
        code, results = self.run_list(
            [
                test("says what it must", "echo yes; exit 3", pass_pattern=["^yes"]),
                test("does not say it", "true", pass_pattern=["yes"]),
                test("says what it must not", "echo bad", fail_pattern=["bad"]),
                test("must fail and does", "false", must_fail=True),
                test("must fail and does not", "true", must_fail=True),
                test("skips by code", "exit 77", skip_code=77),
                test("says that it skips", "echo SKIPPED: no peer", skip_code=77),
                test("says that it skips and fails", "echo SKIPPED: no peer; exit 1", skip_code=77),
            ]
        )
        self.assertEqual(code, 1)
        self.assertEqual(
            results,
            {
                "says what it must": "passed",
                "does not say it": "failed",
                "says what it must not": "failed",
                "must fail and does": "passed",
                "must fail and does not": "failed",
                "skips by code": "skipped",
                "says that it skips": "passed",
                "says that it skips and fails": "failed",
            },
        )

    def test_paths_and_environment_are_put_in(self):
        script = 'test "$HOME_OF_IT" = "$0/x" && test "$PWD" = "$0/folder"'
        command = ["sh", "-c", script, "@BUILD@"]
        code, results = self.run_list([test("paths", "", command=command, environment={"HOME_OF_IT": "@BUILD@/x"})])
        self.assertEqual((code, results), (0, {"paths": "passed"}))

    def test_what_others_need_runs_first_and_the_lonely_last(self):
        tests = [
            test("alone", "test -e ../other", alone=True),
            test("other", "sleep 0.2; test -e ../prepared && touch ../other"),
            test("prepares", "sleep 0.2; touch ../prepared", prepares=["it"]),
        ]
        code, _ = self.run_list(tests)
        self.assertEqual(code, 0)

    def test_the_limit_for_all_leaves_the_rest_not_run_and_that_is_no_success(self):
        tests = [test("long", "sleep 60"), test("late", "true")]
        code, results = self.run_list(tests, "--limit", "1", "--jobs", "1")
        self.assertEqual((code, results), (1, {"long": "timed out", "late": "not run"}))

    def test_a_filter_that_leaves_nothing_is_no_success(self):
        self.assertEqual(self.run_list([test("passes", "true")], "--filter", "nothing")[0], 1)


unittest.main()
