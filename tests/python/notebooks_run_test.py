"""The notebooks' cells run on a recording, one after the other; pictures only where matplotlib is.
notebooks_run_test.py COMMAND RECORDING SOURCE_FOLDER; without pandas it is skipped."""

import importlib.util
import json
import pathlib
import sys

if importlib.util.find_spec("pandas") is None:
    print("SKIPPED: pandas (package python3-pandas) is not here")
    sys.exit(77)

COMMAND, RECORDING, SOURCE = sys.argv[1:4]
sys.path.insert(0, str(pathlib.Path(SOURCE) / "python"))
HAS_PICTURES = importlib.util.find_spec("matplotlib") is not None
if HAS_PICTURES:
    import matplotlib

    matplotlib.use("Agg")

notebooks = sorted((pathlib.Path(SOURCE) / "python/examples").glob("*.ipynb"))
assert notebooks, "there are no notebooks"
for notebook in notebooks:
    names = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] != "code" or ("picture" in tags and not HAS_PICTURES):
            continue
        exec(compile("".join(cell["source"]), notebook.name, "exec"), names)
        if "parameters" in tags:
            names.update(RECORDING=RECORDING, COMMAND=COMMAND)
    assert len(names["steps"]) == len(names["report"]["steps"]["each"]), "a step is missing"
    assert (names["messages"].moving_us.dropna() >= 0).all(), "a message was there before both sides were"
    print(f"{notebook.name}: {len(names['steps'])} steps, {len(names['messages'])} messages")
