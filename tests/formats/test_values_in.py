from collections import OrderedDict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from formats.jobs import refused_option
from row_files import A

import lookalike as la

TEXTS = [A, "completely different words stand here", A + " more"]
TABLE = pa.table({"text": TEXTS, "n": [10, 11, 12]})


class Own(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.int64(), "own")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


VIEWED = pa.DictionaryArray.from_arrays([0, 1, 2, None, 3, 4], pa.array([*TEXTS, "", "café über alles"], "string_view"))


MORE = VIEWED.to_pylist()


def test_what_comes_in_comes_out():
    for data in [
        MORE,
        tuple(MORE),
        dict(zip("uvwxyz", MORE, strict=True)),
        OrderedDict(zip("uvwxyz", MORE, strict=True)),
        [{"text": text} for text in MORE],
        np.array(MORE, object),
        pd.Series(MORE, [7, 8, 9, 10, 11, 12]),
        pd.Series(MORE, dtype="string"),
        pd.Series([float("nan") if text is None else text for text in MORE]),
        pd.DataFrame({"text": MORE, "n": range(6)}, [7, 8, 9, 10, 11, 12]),
        pl.Series("s", MORE),
        pl.Series(MORE, dtype=pl.Categorical),
        pl.DataFrame({"text": MORE, "n": range(6)}),
        pl.LazyFrame({"text": MORE}),
        *(pa.array(MORE).cast(kind) for kind in ("string", "large_string", "binary")),
        pa.array(MORE).dictionary_encode(),
        pa.array(["skipped", *MORE, "skipped"])[1:-1],
        pa.chunked_array([MORE[:1], [], MORE[1:]], "string"),
        pa.record_batch({"text": MORE}),
        TABLE,
        {"a": TABLE, "b": TABLE.slice(0, 1)},
        {"a": pd.DataFrame({"text": TEXTS}), "b": pd.DataFrame({"text": ["last"]})},
    ]:
        result = la.dedup(data)
        clean, keep = result.clean(data), result.keep.tolist()
        assert keep[:3] == [True, True, False] and (all(keep[3:]) or len(keep) < 6)
        assert type(clean) is type(data) and la.dedup(clean).keep.all()
        for wrong, said in (
            (TABLE.slice(1), "data must have"),
            (iter(TEXTS), "a data set of Hugging Face; got list_iterator: clean"),
            ([], "has 0"),
        ):
            refused_option(said, result.clean, wrong)
        refused_option("annotate is for clean", result.clean, data, annotate=True)
    plain = pa.array(MORE, "string_view")
    table, own = (
        pa.table({"text": plain}),
        pa.table({"text": MORE, "own": pa.ExtensionArray.from_storage(Own(), pa.array(range(6)))}),
    )
    for views in (VIEWED, plain, pa.table({"text": VIEWED}), table, table.to_batches()[0], pa.chunked_array([plain]), own):
        result = la.dedup(views)
        assert result.keep.tolist() == [True, True, False, True, True, True]
        kept = result.clean(views)
        assert type(kept) is type(views) and getattr(kept, "schema", None) == getattr(views, "schema", None)
        assert (kept["text"] if hasattr(kept, "schema") else kept).to_pylist() == [*MORE[:2], *MORE[3:]]


def test_dictionaries_of_views_are_ids_groups_and_priorities_and_are_written(tmp_path):
    """Arrow has no way to look up views, nor to write them; polars makes its categories of them."""
    names = pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["a", "b", "c"], "string_view"))
    table = pa.table({"text": [A, A, A], "name": names})
    result = la.dedup(table, id="name", keep="largest:name")
    assert result.keep.tolist() == [False, False, True] and result.removed["id"].to_pylist() == ["a", "b"]
    assert la.dedup(table, within="name").keep.tolist() == [True, True, True]
    for suffix in ("jsonl", "csv", "parquet"):
        result.write(tmp_path / f"kept.{suffix}")
        assert la.dedup(tmp_path / f"kept.{suffix}", id="name").annotations["cluster"].to_pylist() == ["c"]
    binary = pa.DictionaryArray.from_arrays([0, 0], pa.array([b"a"], "binary_view"))
    assert la.dedup(pa.table({"text": [A, A], "name": binary}), within="name").keep.tolist() == [True, False]


def test_columns_can_be_shingled():
    texts = ["zero text of its own words", None, "", "naïve café über alles"]
    expected = la.shingle(texts).values.tolist()
    for column in (pa.chunked_array([texts[:3], texts[3:]], "string"), pl.Series(texts), pd.Series(texts)):
        assert la.shingle(column).values.tolist() == expected


@pytest.mark.slow
def test_a_column_of_more_than_two_gigabytes():
    text = "x" * (1 << 20)
    column = pa.chunked_array([pa.array([text + str(i % 3)] * 1, "large_string") for i in range(2100)])
    assert la.dedup(column.combine_chunks(), width=1).summary.kept == 3
