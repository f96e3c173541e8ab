#!/usr/bin/env python3
"""Every name in `code` in the project's documents is one of its files, folders or identifiers.

    documents_name_what_exists.py SOURCE

Names that other projects or the operating system own are listed below. Files that tell history are left out.
"""
import pathlib
import re
import sys

HISTORY = ("CHANGELOG.md", "tests/benchmarks/results/")
READ = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".f90", ".F90", ".def", ".inc", ".py", ".sh", ".ts", ".tsx", ".cmake", ".txt", ".json", ".map"}
SKIPPED = {"build", "node_modules", ".git", "papers"}
# in examples of naming rules, commands and tests; in endings of names that a row abbreviates
EXAMPLES = {"UpperCamel", "snake_case", "trailing_", "MPI_NAME", "OWNER", "ASAN_OPTIONS", "_rooted", "_reducing", "_of_neighbours", "PMPI_Allreduce_init"}


def sources(root):
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        if any(part in SKIPPED or part.startswith("build") for part in parts[:-1]) or not path.is_file() or path.suffix == ".md":
            continue
        if path.suffix in READ or path.parent == root or "#!" in path.open("rb").readline(64).decode("latin1"):
            yield path


def names_of(line):
    """The last component of each path, qualified name or call that stands in `backticks`."""
    for code in re.findall(r"`([^`]+)`", line):
        name = re.sub(r"\(.*\)$|=.*$|<.*>$", "", code)
        name = re.split(r"::|/|\.", re.sub(r"\.(hpp|cpp|def|cuh|cu|h|py|ts|tsx|f90|F90|md)$", "", name))[-1]
        if re.fullmatch(r"[A-Za-z_]\w{2,}", name) and name not in EXAMPLES:
            yield name


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    known = set()
    for path in sources(root):
        known.update(re.split(r"\W", path.name))
        known.update(part for part in path.relative_to(root).parts)
        known.update(re.findall(r"\w+", path.read_text(encoding="utf-8", errors="replace")))
    if "RendezvousSend" not in known:
        sys.exit(f"{root}: the project's sources were not found there")
    unknown = []
    checked = 0
    for path in sorted(root.rglob("*.md")):
        name = path.relative_to(root).as_posix()
        if name.startswith(HISTORY) or any(part in SKIPPED or part.startswith("build") for part in path.relative_to(root).parts):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if name == "GLOSSARY.md" and line.startswith("|"):
                line = line.rsplit("|", 2)[0]  # the last column has others' words
            for each in names_of(line):
                checked += 1
                if each not in known:
                    unknown.append(f"{name}:{number}: {each}")
    print("\n".join(unknown))
    print(f"{checked} names in documents, {len(unknown)} of nothing that exists")
    return 1 if unknown or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
