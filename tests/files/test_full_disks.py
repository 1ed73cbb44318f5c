import os

import pytest
from cli.commands import contents
from files.folder_files import fill, limited
from json_lines import write_lines
from raising import assert_raises

import lookalike as la
from lookalike.errors import OutputError

A, B = "one two three four five six", "seven eight nine ten eleven twelve"


def test_an_output_never_comes_without_what_says_how_it_was_made(tmp_path):
    """If the disk is full once the rows are written, neither file is new."""
    result, out = la.dedup(fill("in", a=A)), tmp_path / "out.jsonl"
    for force in (False, True):
        before = contents(tmp_path)
        with limited(300):
            assert_raises(OutputError, "File too large; nothing was left behind", result.write, out, force=force)
        assert contents(tmp_path) == before
        la.dedup([B]).write(out, force=force)


def test_a_full_disk_is_a_clear_error(tmp_path):
    write_lines("in.jsonl", ({"text": f"{i} " + A * 5, "n": i} for i in range(3000)))
    result = la.dedup("in.jsonl", threshold=1.0)
    with limited(20_000):
        for output in ("out.jsonl", "out.csv", "out.parquet", "out"):
            assert_raises(OutputError, "cannot be written: File too large", result.write, tmp_path / output)
            refused = pytest.raises(OutputError, match=rf"^{tmp_path / output}: cannot be written: File too large")
            with la.History("history") as seen, refused:
                seen.add(tmp_path / "in.jsonl", tmp_path / output, la.Settings(threshold=1.0))
    assert os.listdir() == ["in.jsonl"]
