import json

import pytest
from formats.jobs import one_split, refused
from formats.test_protocol import ROWS, contents, every_suffix, values, written

import lookalike as la
from lookalike.formats import row_groups
from lookalike.formats.registry import format_named

pytestmark = pytest.mark.usefixtures("toy")


@every_suffix
def test_all_rows_kept_are_written_as_they_were(tmp_path, name, suffix):
    path = written(tmp_path / "in", name, suffix)
    result = la.dedup(path, threshold=1.0, threads=1)
    distinct = [row for i, row in enumerate(ROWS) if row["text"] or not i]
    assert len(result) == len(ROWS) and result.keep.sum() in (len(ROWS), len(distinct))
    result.write(tmp_path / "out")
    outputs = sorted(p for p in (tmp_path / "out").rglob("*") if p.name != "_lookalike.json")
    kept = [row for row, keep in zip(contents(path), result.keep, strict=True) if keep]
    assert values(contents(tmp_path / "out")) == values(kept)
    if format_named(name).rows_are_files:
        inputs = zip(sorted(path.iterdir()), result.keep, strict=True)
        assert [p.read_bytes() for p in outputs] == [p.read_bytes() for p, k in inputs if k]
        return
    result.write(tmp_path / f"out{suffix}")
    assert [p.name for p in outputs] == [path.name]
    assert contents(outputs[0]) == contents(tmp_path / f"out{suffix}") == kept
    described = tmp_path / f"out{suffix}_lookalike.json"
    assert described.exists() is not format_named(name).holds_provenance
    assert not described.exists() or result.provenance["inputs"] == json.loads(described.read_bytes())["inputs"]


@every_suffix
def test_the_same_bytes_for_any_threads_and_blocks(tmp_path, monkeypatch, name, suffix):
    texts = [f"{i % 9} " + " ".join(f"w{i % 9 * j}" for j in range(30)) + " x" * (i % 2) for i in range(30)]
    path = written(tmp_path / "in", name, suffix, [{"id": f"i{i}", "text": text} for i, text in enumerate(texts)])
    outputs = []
    for threads, block in ((1, 1 << 22), (2, 100), (3, 7)):
        for module in ("files.streams", "formats.format"):
            monkeypatch.setattr(f"lookalike.{module}.BLOCK", block)
        monkeypatch.setattr(row_groups, "BATCH_ROWS", min(block, 4096))
        result = la.dedup(path, threads=threads)
        assert 0 < result.keep.sum() < len(texts)
        result.write(tmp_path / str(block))
        found = {p.name: p.read_bytes() for p in (tmp_path / str(block)).iterdir() if p.name[0] != "_"}
        outputs.append((result.decisions["number"].to_pylist(), found))
    assert outputs[0] == outputs[1] == outputs[2] and found


@every_suffix
def test_a_file_that_changed_is_refused(tmp_path, name, suffix):
    path = written(tmp_path / "in", name, suffix)
    split = one_split(path)
    split.check_unchanged()
    changed = split.places[-1].path
    changed.write_bytes(changed.read_bytes() + b"\n")
    refused("changed during the run", split.check_unchanged)
    refused("changed during the run", lambda: list(split.records()))
    changed.unlink()
    refused("cannot be read", split.check_unchanged)
