#!/usr/bin/env python3
"""compare, to_markdown and to_csv say what stands in results, and say which file is none."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent


def row(name, **fields):
    return {
        "name": f"{name}/iterations:1/manual_time",
        "run_type": "iteration",
        "iterations": 1,
        "real_time": 4.0,
        "cpu_time": 9.0,
        "time_unit": "us",
        **fields,
    }


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *rows):
        path = self.folder / name
        path.write_text(json.dumps({"context": {"gpu": "2 × X", "load_avg": [1]}, "benchmarks": rows}))
        return str(path)

    def run_program(self, name, *arguments):
        return subprocess.run([sys.executable, "-B", HERE / name, *arguments], capture_output=True, text=True)

    def compare(self, *arguments):
        """Cells of each line; aligned columns stand two blanks apart."""
        process = self.run_program("compare", *arguments)
        self.assertEqual(process.returncode, 0, process.stderr)
        return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in process.stdout.splitlines()]

    def test_figures_stand_side_by_side_with_their_change_sizes_in_order(self):
        old = self.write(
            "old.json",
            row("half/device/64", half_round_trip_us=10.0, raw_us=5.0, of_raw=2.0),
            row("half/device/8", half_round_trip_us=8.0, raw_us=4.0, of_raw=2.0),
            row("plain"),
            row("window/device/8", gigabytes_per_s=100.0, raw_gigabytes_per_s=200.0, of_raw=0.5),
        )
        new = self.write(
            "new.json",
            row("plain", real_time=5.0),
            row("window/device/8", gigabytes_per_s=150.0, raw_gigabytes_per_s=200.0, of_raw=0.75),
            row("half/device/64", half_round_trip_us=7.5, raw_us=5.0, of_raw=1.5),
            row("half/device/8", half_round_trip_us=8.0, raw_us=4.0, of_raw=2.0),
        )
        self.assertEqual(
            self.compare(old, new)[1:],
            [
                ["half/device/8", "us", "8", "8", "+0.0 %", "2", "2"],
                ["half/device/64", "us", "10", "7.5", "-25.0 %", "2", "1.5"],
                ["plain", "us", "4", "5", "+25.0 %"],
                ["window/device/8", "GB/s", "100", "150", "+50.0 %", "0.5", "0.75"],
            ],
        )

    def test_columns_are_aligned(self):
        old = self.write("old.json", row("a", half_round_trip_us=1.0), row("long/name", half_round_trip_us=12.25))
        lines = self.run_program("compare", old, old).stdout.splitlines()
        ends = {line.index("%") for line in lines[1:]}
        self.assertEqual(len(ends), 1, lines)

    def test_rows_of_one_file_only_are_said(self):
        old = self.write("old.json", row("both"), row("gone"))
        new = self.write("new.json", row("both"), row("added"))
        output = self.run_program("compare", old, new).stdout
        self.assertIn(f"only in {old}: gone\n", output)
        self.assertIn(f"only in {new}: added\n", output)
        self.assertNotIn(": both", output)

    def test_a_filter_selects_rows_of_both(self):
        old = self.write("old.json", row("window/device/8"), row("window/pinned/8"), row("gone"))
        new = self.write("new.json", row("window/device/8"), row("window/pinned/8"))
        self.assertEqual([line[0] for line in self.compare(old, new, "--filter", "dev.ce")], ["name", "window/device/8"])
        self.assertEqual(self.compare(old, new, "--filter", "nothing"), [["no rows"]])
        self.assertNotEqual(self.run_program("compare", old, new, "--filter", "(").returncode, 0)

    def test_repetitions_count_by_their_median_and_aggregates_and_errors_not_at_all(self):
        runs = [row("a", half_round_trip_us=us) for us in (9.0, 1.0, 5.0)]
        mean = row("a_mean", run_type="aggregate", half_round_trip_us=77.0)
        failed = row("b", error_occurred=True, error_message="no")
        path = self.write("result.json", *runs, mean, failed)
        self.assertEqual(self.compare(path, path)[1:], [["a", "us", "5", "5", "+0.0 %"]])

    def test_a_file_that_is_no_result_is_named(self):
        good = self.write("good.json", row("a"))
        absent = str(self.folder / "absent.json")
        contents = {"empty.json": "", "list.json": "[]", "other.json": '{"benchmarks": 3}', "row.json": '{"benchmarks": [{}]}'}
        for name, text in contents.items():
            (self.folder / name).write_text(text)
        for bad in [absent, *(str(self.folder / name) for name in contents)]:
            for command in (["compare", good, bad], ["compare", bad, good], ["to_markdown", bad], ["to_csv", good, bad]):
                process = self.run_program(*command)
                self.assertEqual(process.returncode, 1, command)
                self.assertIn(bad, process.stderr)
                self.assertNotIn("Traceback", process.stderr)

    def test_a_table_holds_several_results_and_compares_with_each(self):
        messages = self.write(
            "messages.json",
            row("half/device/64", half_round_trip_us=12.34567, raw_us=5.0, of_raw=2.5),
            row("half/device/8", half_round_trip_us=8.0),
        )
        others = self.write("others.json", row("half/device/8", gigabytes_per_s=123456.7), row("plain"))
        process = self.run_program("to_csv", messages, others)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(
            process.stdout.splitlines(),
            [
                "benchmark,name,figure,unit,of_raw,raw_us",
                "messages,half/device/8,8,us,,",
                "messages,half/device/64,12.35,us,2.5,5",
                "others,half/device/8,123457,GB/s,,",
                "others,plain,4,us,,",
            ],
        )
        table = self.folder / "figures.csv"
        table.write_text(process.stdout)
        self.assertEqual(
            self.compare(str(table), messages)[1:],
            [["half/device/8", "us", "8", "8", "+0.0 %"], ["half/device/64", "us", "12.35", "12.35", "-0.0 %", "2.5", "2.5"]],
        )
        self.assertEqual(self.compare(others, str(table))[1][:4], ["half/device/8", "GB/s", "123457", "123457"])
        self.assertEqual(
            [line[0] for line in self.compare(str(table), str(table))[1:]],
            ["messages/half/device/8", "messages/half/device/64", "others/half/device/8", "others/plain"],
        )

    def test_a_table_that_is_none_is_named(self):
        good = self.write("good.json", row("a"))
        for text in ("", "name,figure\na,1\n", "benchmark,name,figure,unit\ngood,a,much,us\n"):
            table = self.folder / "table.csv"
            table.write_text(text)
            process = self.run_program("compare", str(table), good)
            self.assertEqual(process.returncode, 1, text)
            self.assertIn(str(table), process.stderr)
            self.assertNotIn("Traceback", process.stderr)

    def test_the_figures_that_are_kept_can_be_read(self):
        kept = list((HERE / "results").glob("*/figures.csv"))
        self.assertTrue(kept)
        for table in kept:
            self.assertGreater(len(self.compare(str(table), str(table))), 2, table)

    def test_markdown_has_the_facts_and_a_table_for_each_group(self):
        path = self.write(
            "result.json",
            row("window/device/8", gigabytes_per_s=100.0, of_raw=0.5),
            row("half/device/8", half_round_trip_us=8.0, of_raw=2.0),
            row("half/device/64", half_round_trip_us=9.0),
        )
        process = self.run_program("to_markdown", path, "--title", "Messages")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(
            process.stdout.split("\n"),
            [
                "# Messages",
                "",
                "- gpu: 2 × X",
                "",
                "## half",
                "",
                "| | half_round_trip_us | of_raw |",
                "|---|---:|---:|",
                "| device/8 | 8 | 2 |",
                "| device/64 | 9 |  |",
                "",
                "## window",
                "",
                "| | gigabytes_per_s | of_raw |",
                "|---|---:|---:|",
                "| device/8 | 100 | 0.5 |",
                "",
            ],
        )


unittest.main()
