"""The list of all pairs: made some at a time, in the order of the input, and written without being held."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import planted
from listing import find_pairs

import lookalike as la
from lookalike.recipes import pairs as listing
from lookalike.steps import exact

A = " ".join(f"word{i}" for i in range(60))
COPIES = [A, f"{A} x", A, "else", A, f"{A} x", f"{A} y z", "", f"{A} x"]


@pytest.mark.parametrize("settings", [{}, {"verify": "sketch"}, {"verify": "none"}, {"against": COPIES[3:]}], ids=str)
@pytest.mark.parametrize("listed", [1, 3, 1 << 17])
def test_the_same_pairs_however_many_are_made_at_a_time(rng, monkeypatch, settings, listed):
    texts = [*COPIES, *planted(rng, n_families=20), *COPIES[:4]]
    whole = find_pairs(texts, **settings)
    monkeypatch.setattr(listing, "LISTED", listed)
    monkeypatch.setattr(exact, "MADE", listed)
    found = find_pairs(texts, **settings)
    assert found.table == whole.table and found.summary["pairs"] == len(whole.table) > 30
    ends = list(zip(*(found.table[name].to_pylist() for name in ("left_id", "right_id")), strict=True))
    if "against" not in settings:
        assert ends == sorted(set(ends)) and all(left < right for left, right in ends)
        assert {(0, 2), (0, 4), (1, 5)} <= set(ends)


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.csv"])
def test_pairs_are_written_as_they_are_made(tmp_path, monkeypatch, name):
    """Of a hundred copies of one text no more than those of one document are made at a time."""
    expected = la.pairs([A] * 100).to_pylist()
    monkeypatch.setattr(listing, "LISTED", 50)
    found = find_pairs([A] * 100)
    sizes = [len(batch) for batch in found.listing.batches()]
    assert sum(sizes) == found.summary["pairs"] == 4950 and max(sizes) < 150
    monkeypatch.setattr(type(found), "table", None)
    found.write(tmp_path / name)
    if name == "out.parquet":
        assert pq.read_table(tmp_path / name).to_pylist() == expected
    else:
        assert len((tmp_path / name).read_text().splitlines()) == 4950 + (name == "out.csv")


def test_no_pairs(tmp_path):
    found = find_pairs(["a", "b"])
    found.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").schema.remove_metadata() == found.table.schema
    assert found.table.schema == pa.schema([("left_id", pa.int64()), ("right_id", pa.int64()), ("resemblance", pa.float64())])
