"""The tables of `penstock export --csv` (analysis/export/TABLES.md explains each column)."""

import pathlib
import tempfile
from dataclasses import dataclass, fields

import pandas

from penstock.command import run

# Columns of text, which repeats itself; all others are whole numbers, and may be missing.
TEXT = frozenset("""buffer call_site communicator destination domain file function gpu host kind mpi name nccl_communicator program reason
    receive_buffer send_buffer source transport what""".split())


@dataclass(frozen=True)
class Recording:
    """One DataFrame for each table. Times are ns since the first rank returned from MPI_Init, sizes bytes."""

    ranks: pandas.DataFrame
    mpi_calls: pandas.DataFrame
    messages: pandas.DataFrame
    nonblocking_collectives: pandas.DataFrame
    transfers: pandas.DataFrame
    gpu_activities: pandas.DataFrame
    ranges: pandas.DataFrame
    cuda_synchronisations: pandas.DataFrame
    gpu_power: pandas.DataFrame
    nccl_calls: pandas.DataFrame


def read(recording, command="penstock"):
    """Returns the Recording in a folder: one that a job wrote, or one that `penstock export --csv` wrote of it.

    All of it is in memory then: some 100 bytes a record. Errors: penstock.CommandError, if the folder is no recording.
    """
    if (pathlib.Path(recording) / "ranks.csv").is_file():
        return _read_tables(pathlib.Path(recording))
    with tempfile.TemporaryDirectory() as folder:
        tables = pathlib.Path(folder) / "tables"
        run(command, "export", "--csv", tables, recording)
        return _read_tables(tables)


def _read_tables(folder):
    return Recording(**{table.name: _read_table(folder / f"{table.name}.csv") for table in fields(Recording)})


def _read_table(file):
    columns = pandas.read_csv(file, nrows=0).columns
    types = {column: "category" if column in TEXT else "Int64" for column in columns}
    # a kernel may be called "nan": only an empty cell is a missing one
    return pandas.read_csv(file, dtype=types, keep_default_na=False, na_values={column: [""] for column in columns})
