"""Reads what Google Benchmark writes as JSON, and the table that to_csv makes of it, for the programs here that show it."""

import csv
import json
import pathlib
import re
import statistics
import sys

# What Google Benchmark itself says of a run; every other number is a counter of the benchmark's own.
OWN_FIELDS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations"}
TIMES = {"real_time", "cpu_time"}
# What a row is about, if it has such a counter; the first of them.
FIGURES = (
    ("half_round_trip_us", "us"),
    ("pull_us", "us"),
    ("gigabytes_per_s", "GB/s"),
    ("overlap", "overlap"),
    ("step_us", "us"),
)
# Columns of a table before the counters.
TABLE_COLUMNS = ["benchmark", "name", "figure", "unit"]
# Ballot of every machine and of no interest beside a figure.
DULL_CONTEXT = {"caches", "load_avg", "executable", "cpu_scaling_enabled", "library_build_type", "mhz_per_cpu"}


class Row:
    """One benchmark: its counters, and the one figure that it is about."""

    def __init__(self, name, counters, figure, unit, counter=None):
        """`counter`: the one that the figure is, if any."""
        self.name, self.counters, self.figure, self.unit, self.counter = name, counters, figure, unit, counter

    @staticmethod
    def of_runs(name, runs):
        counters = {}
        for field in runs[0]:
            values = [run[field] for run in runs if isinstance(run.get(field), (int, float))]
            if values and field not in OWN_FIELDS | TIMES:
                counters[field] = statistics.median(values)
        for counter, unit in FIGURES:
            if counter in counters:
                return Row(name, counters, counters[counter], unit, counter)
        return Row(name, counters, statistics.median(run["real_time"] for run in runs), runs[0]["time_unit"])

    @staticmethod
    def of_table(line):
        counters = {column: float(cell) for column, cell in line.items() if column not in TABLE_COLUMNS and cell}
        return Row(line["name"], counters, float(line["figure"]), line["unit"])

    def sort_key(self):
        """Sizes in names sort as numbers."""
        return [(part.isdigit(), int(part) if part.isdigit() else part) for part in self.name.split("/")]


def number(value):
    """Four digits that matter, no exponent for what is large; empty for what there is not."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def plain_name(name):
    """Without how the framework was told to time it."""
    return re.sub(r"/(iterations:\d+|manual_time|real_time|process_time|min_time:[\d.]+|repeats:\d+)", "", name)


def benchmark_of(path):
    """The benchmark that a result is of, by the file's name; none for a table, which holds several."""
    path = pathlib.Path(path)
    return None if path.suffix == ".csv" else path.stem


def load(path, benchmark=None):
    """The file's context and its rows, sorted; ends the program with a line if it is not such a file.

    Of a table (CSV), which says nothing of its context, the rows of one benchmark, or of all with its name before theirs.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return load_table(file, benchmark) if pathlib.Path(path).suffix == ".csv" else load_json(file)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {error}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"{path}: not a result of a benchmark ({type(error).__name__}: {error})")


def load_json(file):
    document = json.load(file)
    runs = {}
    for run in document["benchmarks"]:
        if run.get("run_type", "iteration") == "iteration" and not run.get("error_occurred"):
            runs.setdefault(plain_name(run["name"]), []).append(run)
    rows = sorted((Row.of_runs(name, of_name) for name, of_name in runs.items()), key=Row.sort_key)
    context = {name: value for name, value in document["context"].items() if name not in DULL_CONTEXT}
    return context, rows


def load_table(file, benchmark):
    lines = csv.DictReader(file)
    if (lines.fieldnames or [])[: len(TABLE_COLUMNS)] != TABLE_COLUMNS:
        raise ValueError(f"a table begins with {','.join(TABLE_COLUMNS)}")
    rows = []
    for line in lines:
        row = Row.of_table(line)
        if benchmark is None:
            row.name = f"{line['benchmark']}/{row.name}"
        if benchmark in (None, line["benchmark"]):
            rows.append(row)
    return {}, sorted(rows, key=Row.sort_key)
