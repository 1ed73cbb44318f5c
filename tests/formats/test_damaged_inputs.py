"""Inputs that are damaged, missing or not what they say."""

import gzip

import pytest

import lookalike as la

LINES = [b'{"id": "a", "text": "one two three four five six"}\n', b'{"id": "b", "text": "else"}\n']


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl.gz", "in.jsonl.zst"])
def test_damaged_files(tmp_path, name):
    (tmp_path / name).write_bytes(b"not what it says")
    with pytest.raises(la.InputDataError, match=name):
        la.dedup(tmp_path / name)


def test_cut_short_gzip(tmp_path):
    data = gzip.compress(b"".join(LINES * 100))
    (tmp_path / "in.jsonl.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(la.InputDataError, match="damaged or cut short"):
        la.dedup(tmp_path / "in.jsonl.gz")


def test_gzip_of_several_members(tmp_path):
    (tmp_path / "in.jsonl.gz").write_bytes(b"".join(gzip.compress(line) for line in LINES))
    assert len(la.dedup(tmp_path / "in.jsonl.gz")) == 2


def test_missing_and_unknown_inputs(tmp_path):
    for path, message in (
        ("none.jsonl", "no file of that name"),
        ("*.jsonl", "no file matches"),
        (".", "no file with a known"),
    ):
        with pytest.raises(la.InputDataError, match=message):
            la.dedup(str(tmp_path / path))
    (tmp_path / "data.xyz").write_text("x")
    with pytest.raises(la.InputDataError, match="unrecognized suffix"):
        la.dedup(str(tmp_path / "data.xyz"))
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"".join(LINES))
    with pytest.raises(la.InputDataError, match="given twice"):
        la.dedup([source, source])
