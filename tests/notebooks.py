import json
from pathlib import Path


def notebook(name):
    cells = json.loads(Path(__file__).parents[1].joinpath(f"examples/{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
