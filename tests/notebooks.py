"""The examples that are notebooks."""

import json
from pathlib import Path


def notebook(name):
    """Return the code of all cells."""
    cells = json.loads(Path(__file__).parents[1].joinpath(f"examples/{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
