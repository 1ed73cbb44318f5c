import numpy as np
import pytest
from corpora import planted
from json_lines import write_lines

import lookalike as la
from lookalike.engines import memory as memory_module
from lookalike.engines.local import engine as local
from lookalike.engines.local import tables as local_tables

BASE = [f"word{i}" for i in range(60)]
A, A2 = (" ".join([*BASE, *more]) for more in ([], ["more"]))
B, B2 = (" ".join([f"other{i}" for i in range(50)] + more) for more in ([], ["x"]))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(11)
    texts = planted(rng, n_families=120)
    texts += texts[:40] + [""] + ["the same words in every page " * 6 + f"and page number {i % 300}" for i in range(400)]
    files = []
    for i, some in enumerate((texts[: len(texts) // 3], texts[len(texts) // 3 :])):
        files.append(folder / f"{i}.jsonl")
        write_lines(files[-1], ({"id": f"{i}-{j}", "text": text, "score": j % 7} for j, text in enumerate(some)))
    return [str(file) for file in files]


@pytest.fixture
def small_parts(monkeypatch):
    """A small corpus takes all ways of a large one."""
    monkeypatch.setattr(local_tables, "PART_BYTES", 30_000)
    monkeypatch.setattr(local, "SPILL_BYTES", 15_000)
    monkeypatch.setattr(memory_module.Memory, "partition", lambda self, threads: 20_000)
    monkeypatch.setattr(memory_module.Memory, "slice", lambda self, threads: 60_000)


@pytest.fixture
def files(tmp_path):
    """An id of the reference comes again in the input."""

    def write(name, rows):
        write_lines(tmp_path / name, ({"id": i, "text": t} for i, t in rows))
        return tmp_path / name

    old = write("old.jsonl", [("p", A), ("q", A)])
    return old, [
        write("a.jsonl", [("p", B), ("r", A2), ("s", "")]),
        write("none.jsonl", []),
        write("b.jsonl", [("t", B2), ("u", B2), ("v", B)]),
    ]


@pytest.fixture
def saved(files, tmp_path):
    old, new = files
    result = la.dedup(new, against=old, id="id", empty="drop", threshold=0.7)
    result.save(tmp_path / "saved")
    return result, tmp_path / "saved"
