"""Arrays of a segment that contradict each other; of merged segments, what was removed is gone, whatever is read at a time."""

import numpy as np
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.errors import IndexFormatError
from lookalike.files.arrays import ArrayFile, write_arrays
from lookalike.index import state

N = 10
CONTRADICTIONS = (
    *((f"{table}_rows-00", 3, row) for table in ("band", "id") for row in (N, N + 1, None)),
    *((f"{table}_keys-00", 1, 0) for table in ("band", "id")),
    *((f"{table}_starts-00", 0, 1 << 31) for table in ("band", "id")),
    *((f"{name}_offsets", place, value) for name in ("id", "text") for place, value in ((0, 1), (4, 1 << 31), (N, 5))),
)  # fmt: skip


def test_values_that_contradict_each_other_are_found_though_checksums_fit(tmp_path):
    """Rows of tables are rows of the segment, each once; keys ascend and are those of the ids; offsets ascend to the end."""
    with la.Index.create("x", threshold=0.7, keep_text=True) as index:
        for part in "de":
            index.add([f"{part}{i}" for i in range(N)], [f"{part} two three four five six seven w{i}" for i in range(N)])
    segment = tmp_path / "x/segment-00000000"
    whole = segment.read_bytes()
    for name, place, value in CONTRADICTIONS:
        segment.write_bytes(whole)
        file = ArrayFile(segment)
        file.hold()
        arrays = {name: np.array(file.map(name)) for name in file}
        arrays[name][place] = arrays[name][place - 1] if value is None else value
        write_arrays(segment, arrays, file.meta)
        with la.Index.open("x") as index:
            [said] = index.check()
            assert "segment-00000000" in said and "are not those of a segment" in said
            assert_raises(IndexFormatError, "segment-00000000", index.compact)


WORDS = [f"w{i}" for i in range(40)]
KINDS = {"minhash": {}, "packed": {"bits": 1, "slots": 40}, "probed": {"kind": "simhash", "probes": 20_000}}


@pytest.mark.parametrize("kind", KINDS)
def test_some_rows_at_a_time_make_the_same_bytes(tmp_path, monkeypatch, kind):
    """Of several segments, some of whose documents are removed; what is found stays."""
    asked = [" ".join(WORDS[i : i + 12]) for i in range(28)]
    files = []
    for together in (1 << 14, 7):
        monkeypatch.setattr(state, "TOGETHER", together)
        rng = np.random.default_rng(3)
        with la.Index.create(f"{together}", **KINDS[kind], keep_text=kind != "packed", width=2) as index:
            for part in range(4):
                texts = ["", *(" ".join(rng.choice(WORDS, 12).tolist()) for _ in range(30))]
                index.add([f"{part}-{i}" for i in range(31)], texts)
            index.remove(["0-0", "1-5", "1-6", "3-30", *(f"2-{i}" for i in range(25))])
            before = index.query(asked, top=200).sort_by([("query", "ascending"), ("id", "ascending")])
            index.compact()
            assert index.query(asked, top=200).sort_by([("query", "ascending"), ("id", "ascending")]).equals(before)
            assert len(index) == 4 * 31 - 29 and not index.check()
        (segment,) = (tmp_path / f"{together}").glob("segment-*")
        files.append(segment.read_bytes())
    assert files[0] == files[1]
