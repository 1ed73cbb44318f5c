"""Arrays of a segment that contradict each other; of merged segments, what was removed is gone, whatever is read at a time."""

from itertools import product

import numpy as np
import pytest

import lookalike as la
from lookalike.files.arrays import ArrayFile, write_arrays
from lookalike.index import state

N = 10


def test_rows_of_tables_are_rows_of_the_segment_each_once(tmp_path):
    with la.Index.create("x", threshold=0.7) as index:
        index.add([f"d{i}" for i in range(N)], [f"one two three four five six seven w{i}" for i in range(N)])
        assert index.check() == []
    segment = tmp_path / "x/segment-00000000"
    whole = segment.read_bytes()
    for (table, number), row in product((("band", 1), ("id", 0)), (N, N + 1, 0)):
        segment.write_bytes(whole)
        file = ArrayFile(segment)
        file.hold()
        arrays = {name: np.array(file.map(name)) for name in file}
        rows = arrays[f"{table}_rows-{number:02}"]
        rows[rows.argmax()] = row
        write_arrays(segment, arrays, file.meta)
        with la.Index.open("x", "read") as index:
            [said] = index.check()
        assert f"of {table} table {number} are not those of a segment" in said


WORDS = [f"w{i}" for i in range(40)]


KINDS = {"minhash": {}, "packed": {"bits": 1, "slots": 40}, "simhash": {"kind": "simhash"},
         "probed": {"kind": "simhash", "probes": 20_000}}  # fmt: skip


def made(path, kind, keep_text):
    """An index of several segments, some of whose documents are removed."""
    rng = np.random.default_rng(3)
    with la.Index.create(path, **KINDS[kind], keep_text=keep_text, width=2) as index:
        for part in range(4):
            texts = ["", *(" ".join(rng.choice(WORDS, 12).tolist()) for _ in range(30))]
            index.add([f"{part}-{i}" for i in range(31)], texts)
        index.remove(["0-0", "1-5", "1-6", "3-30", *(f"2-{i}" for i in range(25))])
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep_text", [False, True])
def test_some_rows_at_a_time_make_the_same_bytes(tmp_path, monkeypatch, kind, keep_text):
    files = []
    asked = [" ".join(WORDS[i : i + 12]) for i in range(28)]
    order = [("query", "ascending"), ("id", "ascending")]
    for together in (1 << 14, 7):
        monkeypatch.setattr(state, "TOGETHER", together)
        path = made(tmp_path / str(together), kind, keep_text)
        with la.Index.open(path) as index:
            before = index.query(asked, top=200).sort_by(order)
            index.compact()
            assert index.query(asked, top=200).sort_by(order).equals(before)
            assert len(index) == 4 * 31 - 29 and not index.check()
        (segment,) = path.glob("segment-*")
        files.append(segment.read_bytes())
    assert files[0] == files[1]
