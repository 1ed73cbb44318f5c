"""Memory decides how a job is done, never what comes of it; and it is not exceeded."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines
from same_results import same_job
from samples import one_in

import lookalike as la
from lookalike.engines import memory as memory_module
from lookalike.engines.local import engine as local

TABLES = ["sketches", "leaders", "links", "pairs", "components", "standing", "group-counts"]


@pytest.mark.parametrize(
    ("name", "measure"), one_in(3, [*((name, "resemblance") for name in TABLES), ("links", "containment")])
)
def test_what_grows_too_large_for_the_memory_goes_to_the_disk(inputs, small_parts, monkeypatch, name, measure):
    """The memory is enough until some table is made."""
    texts = [row["text"] for file in inputs for row in read_lines(file)]
    whole = la.dedup(texts, threads=2, measure=measure)
    higher, counted, held, spilled = whole.rethreshold(0.9), whole.kept, [1 << 40], []
    monkeypatch.setattr(memory_module.Memory, "table_budget", property(lambda self: held[0]))
    store, components, spill = local.LocalEngine.materialize, local.LocalEngine.components, local.LocalEngine.spill

    def full(table):
        held[0] = 100 if table == name else held[0]

    monkeypatch.setattr(local.LocalEngine, "materialize", lambda self, rows, table: full(table) or store(self, rows, table))
    monkeypatch.setattr(local.LocalEngine, "components", lambda self, pairs: full("components") or components(self, pairs))
    monkeypatch.setattr(local.LocalEngine, "spill", lambda self: spilled.append(name) or spill(self))
    found = la.dedup(texts, threads=2, measure=measure)
    assert found.kept.equals(counted) and spilled == [name]
    same_job(whole, found)
    same_job(higher, found.rethreshold(0.9))
    found.close()


@pytest.fixture(scope="module")
def much_text(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("much") / "in.jsonl", np.random.default_rng(0)
    words = [f"{w:x}" for w in rng.integers(0, 1 << 40, 5000).tolist()]
    with path.open("w") as stream:
        for i in range(30_000):
            if i % 3 or i == 0:
                text = " ".join([words[at] for at in rng.integers(0, 5000, 400).tolist()])
            stream.write(json.dumps({"text": text + f" {i}"}) + "\n")
    return path


@pytest.mark.parametrize(("measure", "recall"), one_in(3, [("resemblance", 0.99), ("containment", 0.99), ("resemblance", 1)]))
def test_peak_memory_stays_below_the_cap(much_text, measure, recall):
    path, room = much_text, memory_module.LEAST_ROOM + 20_000_000
    code = (
        "import sys, lookalike as la; r = la.dedup(sys.argv[1], memory=int(sys.argv[2]), threads=2, measure=sys.argv[3], "
        "recall=float(sys.argv[4])); "
        "print(r.summary.peak_memory, r.keep.sum())"
    )
    command = [sys.executable, "-c", code, str(path), str(memory_module.FLOOR + room), measure, str(recall)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, kept = map(int, done.stdout.split())
    assert path.stat().st_size > 1.3 * room
    assert kept == 20_001
    assert peak < memory_module.FLOOR + room


def _lists(n, each, value):
    """A few bytes each in a file."""
    values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n * each, np.int32)), [value])
    return pa.ListArray.from_arrays(pa.array(np.arange(n + 1) * each, pa.int32()), values)


WRITING = """
import sys, lookalike as la
from lookalike.engines.memory import FLOOR, peak_memory

result = la.dedup(sys.argv[1], memory=FLOOR + 170_000_000, threads=1)
refused = []
for output in sys.argv[2:]:
    try:
        result.write(output, annotate=output.endswith("d.parquet"), force=True)
    except la.errors.InputDataError as error:
        refused.append(str(error))
print(peak_memory() - FLOOR, refused)
"""


@pytest.mark.parametrize(("name", "refused"), one_in(2, [("lists", 0), ("texts", 0), ("one row", 4), ("columns", 0)]))
def test_other_columns_stay_below_the_cap(tmp_path, name, refused):
    """Files of some kB with hundreds of MB of values in their other columns."""
    n, path = 40, tmp_path / "in.parquet"
    columns = {
        "lists": lambda: {"x": _lists(n, 50_000, "v" * 100)},
        "texts": lambda: {"x": _lists(1, 4000, "w" * 50_000).values},
        "columns": lambda: {f"c{i}": np.arange(n) for i in range(400)},
        "one row": lambda: {"x": _lists(n, 400_000, "v" * 100)},
    }[name]()
    rows = len(next(iter(columns.values())))
    text = [f"text {i} with some words of its own, {i * i} and {i * 7}" for i in range(rows)]
    pq.write_table(pa.table({"text": text} | columns), path, row_group_size=rows, store_schema=False)
    del columns
    outputs = ["out.parquet", "annotated.parquet", "folder", *(["out.jsonl", "out.csv"] if name != "texts" else [])]
    outputs = outputs[: 4 if name == "one row" else None]
    command = [sys.executable, "-c", WRITING, str(path), *(str(tmp_path / output) for output in outputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, errors = done.stdout.split(maxsplit=1)
    assert path.stat().st_size < 1_000_000
    assert int(peak) < 170_000_000
    assert errors.count("in.parquet: writing the rows of row group 1 takes about") == refused
