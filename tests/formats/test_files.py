"""Files in, files out: rows stay as they were, outputs appear whole, errors name file and row."""

import json

import pytest
from row_files import A2, A, read, write

import lookalike as la


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_kept_lines_are_the_bytes_of_the_input(tmp_path, suffix):
    raw = [
        b'{"text": "' + A.encode() + b'",   "num": 1.0e5, "id":1}\r\n',
        b"\n",
        b'{"id":2, "text":"\\u00e9 caf\xc3\xa9 and more words here"}\n',
        b'{"id":3, "text":"' + A2.encode() + b'"}\n',
        b'{"id":4, "text":null, "deep": {"text": "x"}}',
    ]
    source = write(tmp_path / f"in{suffix}", raw)
    result = la.dedup(source, id="id")
    assert result.removed["id"].to_pylist() == [3]
    assert la.dedup(source).removed["id"].to_pylist() == [f"{source}:4"], "an empty line is a line"
    result.write(tmp_path / f"out{suffix}")
    assert read(tmp_path / f"out{suffix}") == raw[0] + raw[2] + raw[4]
    result.write(tmp_path / "all.jsonl", annotate=True)
    written = read(tmp_path / "all.jsonl").split(b"\n")
    assert written[0].startswith(raw[0].rstrip()[:-1] + b', "keep": true, "duplicate_of": null')
    assert written[0].endswith(b"}\r")
    rows = [json.loads(line) for line in written]
    assert [row["keep"] for row in rows] == [True, True, False, True]
    assert rows[2]["duplicate_of"] == rows[2]["cluster"] == 1
    assert rows[2]["resemblance"] == pytest.approx(56 / 57)
