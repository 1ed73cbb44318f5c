"""All the forms in which texts may be handed over give the same answer."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from row_files import A

import lookalike as la

TEXTS = ["zero text of its own words", A, None, A + " more", "", "naïve café über alles", A]
VIEWED = pa.DictionaryArray.from_arrays([0, 1, None, 2, 3, 4, 1], pa.array([*TEXTS[:2], *TEXTS[3:6]], pa.string_view()))
KEEP = [True, True, True, False, True, True, False]


def test_same_answer_for_all_forms():
    for data in [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS, object),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        VIEWED,
        pa.table({"text": VIEWED}),
        pa.array(["skipped", *TEXTS, "skipped"])[1:-1],
        pa.chunked_array([TEXTS[:2], [], TEXTS[2:]], pa.string()),
        pa.array([None if t is None else t.encode() for t in TEXTS], pa.binary()),
        pa.table({"text": TEXTS}),
        pa.record_batch({"text": TEXTS}),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"),
        pd.Series([float("nan") if text is None else text for text in TEXTS]),
        pd.DataFrame({"text": TEXTS, "n": range(7)}),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pl.DataFrame({"text": TEXTS, "n": range(7)}),
    ]:
        assert la.dedup(data).keep.tolist() == KEEP


def test_dictionaries_of_views_are_ids_groups_and_priorities_and_are_written(tmp_path):
    """Arrow has no way to look up views, nor to write them; polars makes its categories of them."""
    names = pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["a", "b", "c"], pa.string_view()))
    table = pa.table({"text": [A, A, A], "name": names})
    result = la.dedup(table, id="name", keep="largest:name")
    assert result.keep.tolist() == [False, False, True] and result.removed["id"].to_pylist() == ["a", "b"]
    assert la.dedup(table, within="name").keep.tolist() == [True, True, True]
    for suffix in ("jsonl", "csv", "parquet"):
        result.write(tmp_path / f"kept.{suffix}")
        assert la.dedup(tmp_path / f"kept.{suffix}", id="name").annotations["cluster"].to_pylist() == ["c"]
    binary = pa.DictionaryArray.from_arrays([0, 0], pa.array([b"a"], pa.binary_view()))
    assert la.dedup(pa.table({"text": [A, A], "name": binary}), within="name").keep.tolist() == [True, False]


def test_columns_can_be_shingled():
    expected = la.shingle(TEXTS).values.tolist()
    for column in (pa.chunked_array([TEXTS[:3], TEXTS[3:]], pa.string()), pl.Series(TEXTS), pd.Series(TEXTS)):
        assert la.shingle(column).values.tolist() == expected


def test_writing_from_memory(tmp_path):
    result = la.dedup(TEXTS)
    result.write(tmp_path / "out.jsonl")
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 5
    table = la.dedup(pa.table({"text": TEXTS, "n": range(7)}))
    table.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == [0, 1, 2, 4, 5]
    table.write(tmp_path / "folder")
    assert (tmp_path / "folder/table.parquet").exists()


def test_offsets_and_keys_of_any_kind():
    for dtype in (np.int32, np.int64, np.uint8, np.uint64):
        shingles = la.sketches.Shingles.from_arrays(np.array([1, 1, 2, 3, 2], dtype), np.array([0, 3, 5], np.int32))
        assert shingles.offsets.dtype == np.int64
        assert shingles.sizes.tolist() == [2, 2]
        assert shingles.resemblance(0, 1) == 1 / 3
        assert shingles.containment(0, 1) == 0.5
    for values, offsets in (([1.5], [0, 1]), ([1], [0, 2]), ([1], [1, 1]), ([1, 2], [0, 2, 1]), ([[1]], [0, 1]), ([1], [])):
        with pytest.raises(la.errors.ParameterError):
            la.sketches.Shingles.from_arrays(values, offsets)


def test_incompatible_signatures_are_refused():
    one = la.sketches.FastSimilarity(permutations=64, seed=1).sign(la.shingle(["a b c d e f"]))
    for other in (
        la.sketches.FastSimilarity(permutations=64, seed=2).sign(la.shingle(["a"])),
        la.sketches.MinHash(permutations=64, seed=1).sign(la.shingle(["a"])),
        la.sketches.FastSimilarity(permutations=64, seed=1).sign(la.shingle(["a"], width=3)),
    ):
        with pytest.raises(la.errors.IncompatibleSketchError):
            one.estimated_resemblance(0, 0, other=other)
        with pytest.raises(la.errors.IncompatibleSketchError):
            one.merge(other)
        with pytest.raises(la.errors.IncompatibleSketchError):
            la.search.BandingIndex(bands=4, rows=4).add(one).add(other)
    with pytest.raises(la.errors.ParameterError, match="need 128 permutations"):
        la.search.BandingIndex(bands=16, rows=8).add(one)


def test_index_answers_queries_as_it_lists_pairs(rng):
    texts = [" ".join(rng.choice([f"w{i}" for i in range(30)], 6)) for _ in range(80)] + [""]
    signatures = la.sketches.FastSimilarity(permutations=32).sign(la.shingle(texts, width=1))
    index = la.search.BandingIndex(bands=16, rows=2).add(signatures)
    query, stored = index.query(signatures)
    both = {(q, s) for q, s in zip(query.tolist(), stored.tolist(), strict=True) if q < s}
    pairs = index.pairs()
    assert both == set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert len(la.search.BandingIndex(bands=2, rows=2).pairs()) == 0
    assert len(la.search.BandingIndex(bands=2, rows=2).query(signatures)[0]) == 0


@pytest.mark.slow
def test_a_column_of_more_than_two_gigabytes():
    text = "x" * (1 << 20)
    column = pa.chunked_array([pa.array([text + str(i % 3)] * 1, pa.large_string()) for i in range(2100)])
    assert la.dedup(column.combine_chunks(), width=1).summary.kept == 3


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, "two"], "columns of one type each"),
        ([2**70, 1], "columns of one type each"),
        (["\ud800", "b"], "columns of one type each"),
    ],
)
def test_frames_that_are_no_tables_are_refused(column, words):
    """A column beside the text, of values that share no type."""
    frame = pd.DataFrame({"text": ["a b c", "d e f"], "x": pd.Series(column, dtype=object)})
    with pytest.raises(la.errors.InputDataError, match=words):
        la.dedup(frame)


def test_frames_with_a_name_twice_are_refused():
    frame = pd.DataFrame([["a b c", 1, 2]], columns=["text", "n", "n"])
    with pytest.raises(la.errors.InputDataError, match="the column 'n' appears 2 times"):
        la.dedup(frame)
