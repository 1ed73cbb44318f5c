"""A disk that is full while outputs are written: an error, and nothing that was not there before."""

import json
import resource
import sys

import pytest
from cli.commands import contents
from files.folder_files import fill
from raising import assert_raises

import lookalike as la
from lookalike.errors import OutputError

A, B = "one two three four five six", "seven eight nine ten eleven twelve"


@pytest.mark.parametrize("force", [False, True])
def test_an_output_never_comes_without_what_says_how_it_was_made(monkeypatch, force):
    """If the disk is full once the rows are written, neither file is new."""
    result = la.dedup(fill("in", a=A))
    out = fill("out")
    if force:
        la.dedup(fill("other", a=B)).write(out / "x.jsonl")
    before = contents(out)

    def full(path):
        assert path.name == "x.jsonl_lookalike.json"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lookalike.files.atomic.atomic_file", full)
    assert_raises(
        la.errors.OutputError, "No space left on device; nothing was left behind", result.write, out / "x.jsonl", force=force
    )
    assert contents(out) == before


def test_a_full_disk_is_a_clear_error(tmp_path, monkeypatch):
    """Files may not grow beyond a limit, in each format."""
    rows = "".join(json.dumps({"text": f"{i} " + A * 5, "n": i}) + "\n" for i in range(3000))
    (tmp_path / "in.jsonl").write_text(rows)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut off, too
    result = la.dedup("in.jsonl", threshold=1.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        for output in ("out.jsonl", "out.csv", "out.parquet", "out"):
            assert_raises(OutputError, "cannot be written: File too large", result.write, tmp_path / output)
            refused = pytest.raises(OutputError, match=rf"^{tmp_path / output}: cannot be written: File too large")
            with la.History("history") as seen, refused:
                seen.add(tmp_path / "in.jsonl", tmp_path / output, la.Settings(threshold=1.0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]
