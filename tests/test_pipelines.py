import gzip
import json
import re
from pathlib import Path

import pytest
from cli.commands import run

import lookalike as la

pytestmark = pytest.mark.filterwarnings("ignore")  # of packages that are looked at from outside
PAGE = Path(__file__).parents[1] / "docs/how-to/data-in-python.md"
STORY = "a page that was published last week, word for word as it is today, and in the week before"
ROWS = [
    {"id": f"{number}", "text": f"{text} {number // 2 if number % 2 else ''}"}
    for number, text in enumerate([*[f"story {i // 2} of nine rivers that fall into {i // 2 + 3} seas and never return {'so ' * (i // 2)}" for i in range(8)], STORY])
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("documents").mkdir()
    for number in range(2):
        with gzip.open(f"documents/{number}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in ROWS[number::2])
    return tmp_path


def example(package):
    pytest.importorskip(package, reason=f"{package} is not installed")
    (code,) = [block for block in re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL) if f"import {package}" in block
               or f"from {package}" in block]  # fmt: skip
    scope = {}
    exec(code, scope)
    return scope


def kept(**options):
    return set(la.dedup("documents", id="id", **options).kept["id"].to_pylist())


def test_datatrove(folder, capfd):
    pytest.importorskip("datatrove", reason="datatrove is not installed")
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith("lookalike dedup documents/"))
    code, _, err = run(capfd, *line.split()[1:])
    assert code == 0, err
    example("datatrove")
    found = {json.loads(line)["id"] for path in Path("clean").glob("*.jsonl.gz") for line in gzip.open(path)}
    assert found == kept() and len(found) < len(ROWS)


def test_ray(folder):
    found = {row["id"] for row in example("ray")["clean"].take_all()}
    assert len(found) == len(kept()) - 1 and "8" not in found, "blocks come in any order, so that others of a group may be kept"


def test_daft(folder):
    assert len(set(example("daft")["clean"].to_pydict()["id"])) == len(kept())
