"""All the forms in which texts may be handed over give the same answer."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
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
