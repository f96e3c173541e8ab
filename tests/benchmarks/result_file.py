"""Reads what Google Benchmark writes as JSON, for the programs here that show it."""

import json
import re
import statistics
import sys

# What Google Benchmark itself says of a run; every other number is a counter of the benchmark's own.
OWN_FIELDS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations"}
TIMES = {"real_time", "cpu_time"}
# What a row is about, if it has such a counter; the first of them.
FIGURES = (("half_round_trip_us", "us"), ("pull_us", "us"), ("gigabytes_per_s", "GB/s"), ("overlap", "overlap"))
# Said of every machine and of no interest beside a figure.
DULL_CONTEXT = {"caches", "load_avg", "executable", "cpu_scaling_enabled", "library_build_type", "mhz_per_cpu"}


class Row:
    """One benchmark: its counters, and the one figure that it is about."""

    def __init__(self, name, runs):
        self.name = name
        self.counters = {}
        for field in runs[0]:
            values = [run[field] for run in runs if isinstance(run.get(field), (int, float))]
            if values and field not in OWN_FIELDS | TIMES:
                self.counters[field] = statistics.median(values)
        for counter, unit in FIGURES:
            if counter in self.counters:
                self.figure, self.unit = self.counters[counter], unit
                return
        self.figure, self.unit = statistics.median(run["real_time"] for run in runs), runs[0]["time_unit"]

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


def load(path):
    """The file's context and its rows, sorted; ends the program with a line if it is not such a file."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        runs = {}
        for run in document["benchmarks"]:
            if run.get("run_type", "iteration") == "iteration" and not run.get("error_occurred"):
                runs.setdefault(plain_name(run["name"]), []).append(run)
        rows = sorted((Row(name, of_name) for name, of_name in runs.items()), key=Row.sort_key)
        context = {name: value for name, value in document["context"].items() if name not in DULL_CONTEXT}
        return context, rows
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {error}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"{path}: not a result of Google Benchmark ({type(error).__name__}: {error})")
