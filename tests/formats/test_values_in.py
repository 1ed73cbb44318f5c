"""All the forms in which texts may be handed over give the same answer."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from formats.jobs import refused
from row_files import A

import lookalike as la


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
    texts = ["zero text of its own words", None, "", "naïve café über alles"]
    expected = la.shingle(texts).values.tolist()
    for column in (pa.chunked_array([texts[:3], texts[3:]], pa.string()), pl.Series(texts), pd.Series(texts)):
        assert la.shingle(column).values.tolist() == expected


@pytest.mark.slow
def test_a_column_of_more_than_two_gigabytes():
    text = "x" * (1 << 20)
    column = pa.chunked_array([pa.array([text + str(i % 3)] * 1, pa.large_string()) for i in range(2100)])
    assert la.dedup(column.combine_chunks(), width=1).summary.kept == 3


def test_frames_that_are_no_tables_are_refused():
    """Because of a column beside the text, of values that share no type, or of two of one name."""
    for column in ([1, "two"], [2**70, 1], ["\ud800", "b"]):
        frame = pd.DataFrame({"text": ["a b c", "d e f"], "x": pd.Series(column, dtype=object)})
        refused("columns of one type each", la.dedup, frame)
    refused("the column 'n' appears 2 times", la.dedup, pd.DataFrame([["a b c", 1, 2]], columns=["text", "n", "n"]))
