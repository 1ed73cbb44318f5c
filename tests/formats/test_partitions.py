"""Folders such as lang=de are columns of the files in them."""

from itertools import product

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from json_lines import write_lines

import lookalike as la

TEXTS = ["one two three four five six seven eight", "another text that is like none of the others here"]


@pytest.fixture
def crawl(tmp_path):
    """A data set as Arrow writes it: each text in two languages and two dumps, one of them null."""
    rows = [{"text": text, "lang": lang, "dump": dump} for lang in ("de", "f r") for dump in (9, 10, None) for text in TEXTS]
    how = {"format": "parquet", "partitioning": ["lang", "dump"], "partitioning_flavor": "hive"}
    ds.write_dataset(pa.Table.from_pylist(rows), tmp_path / "in", **how)
    return tmp_path / "in"


def test_columns_of_folders(crawl, tmp_path):
    assert la.dedup(crawl).kept.num_rows == 2
    result = la.dedup(crawl, within="lang")
    assert result.kept.num_rows == 4
    result.write(tmp_path / "out/")
    kept = ds.dataset(tmp_path / "out", partitioning="hive").to_table()
    found = sorted(zip(kept["lang"].to_pylist(), kept["text"].to_pylist(), strict=True))
    assert found == sorted(product(["de", "f r"], TEXTS))
    assert la.dedup(crawl, within="dump").kept.num_rows == 6, "null is a group, too"
    largest = la.dedup(crawl, keep="largest:dump").kept["id"].to_pylist()
    assert len(largest) == 2 and all("/dump=10/" in name for name in largest), "they are numbers"


def test_the_folder_counts_before_the_rows(tmp_path):
    (tmp_path / "n=1").mkdir()
    write_lines(tmp_path / "n=1/a.jsonl", ({"text": TEXTS[0], "n": n} for n in (1, 2)))
    assert la.dedup(tmp_path / "n=1", within="n").kept.num_rows == 1
