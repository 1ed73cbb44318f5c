"""One body of tests through which every format goes, fed by its samples."""

import dataclasses
import os
import pickle
import subprocess
import sys
import tracemalloc
from itertools import product
from pathlib import Path

import pytest
from formats.format_samples import SAMPLES, TESTED, packed, sample
from formats.jobs import one_split, put, refused, refused_option, rows_in
from json_lines import parse_lines

import lookalike as la
from lookalike.errors import OutputError
from lookalike.files import streams
from lookalike.formats import Columns, Limit
from lookalike.formats.database import Database
from lookalike.formats.lake import TableFormat
from lookalike.formats.registry import format_named, names, names_by_suffix
from lookalike.formats.sources import open_sources

pytestmark = pytest.mark.usefixtures("toy")

ROWS = [
    {"id": f"i{i}", "text": f"row {i} of {i * 7919} words and {i * 104729} more, é 中 𝄞" if i % 7 else None}
    for i in range(40)
]  # fmt: skip
CASES = {"empty", "byte order mark", "carriage returns", "NUL", "invalid UTF-8"}


def suffixes():
    """The format from outside is not known yet."""
    return [(name, suffix) for name, some in TESTED.items() for suffix in some]


every_format = pytest.mark.parametrize("name", SAMPLES)
every_suffix = pytest.mark.parametrize(("name", "suffix"), suffixes())


def written(folder, name, suffix, rows=ROWS):
    folder.mkdir()
    make = sample(name).make
    if not format_named(name).rows_are_files:
        (folder / f"in{suffix}").write_bytes(packed(make(rows), suffix))
        return folder / f"in{suffix}"
    for i, row in enumerate(rows):
        (folder / f"{i:05}{suffix}").write_bytes(packed(make([row]), suffix))
    return folder


def texts(source, **columns):
    rows = (row for split in source for row in rows_in(split.batches(Columns(**columns))))
    return [text.decode("utf-8", "surrogateescape") for _, text, *_ in rows]


def texts_at(path, **columns):
    return texts(open_sources([path]), **columns)


def contents(path):
    return [
        {column: bytes(value).decode() if type(value).__name__ == "Raw" else value for column, value in row.items()}
        for split in open_sources([path])
        for _, row in split.records()
    ]


def refused_of(path, words, call, *given, **more):
    error = str(refused(words, call, *given, **more))
    assert error.startswith(str(path))
    return error


def values(rows):
    """Null is "", which not all formats tell from it."""
    return [row["text"] or "" for row in rows]


def test_every_format_has_samples():
    forms = {name: format_named(name) for name in names()}
    of_rows = [name for name, form in forms.items() if not form.parsed and not isinstance(form, Database | TableFormat)]
    assert sorted(of_rows) == SAMPLES == sorted(TESTED)
    assert all(sample(name).HOSTILE.keys() >= CASES for name in SAMPLES)


@every_suffix
def test_rows_are_read_as_they_were_made(tmp_path, name, suffix):
    assert names_by_suffix()[suffix] == name and suffix == suffix.lower()
    path = written(tmp_path / "in", name, suffix)
    split = one_split(path)
    assert split.format == name
    assert texts([split]) == values(ROWS) == values(contents(path))
    assert min(split.expected("text")) >= 0 and split.identity()["bytes"] == sum(place.size for place in split.places)
    numbers = [number for number, _ in split.records()]
    assert numbers == [n for batch in split.batches(Columns()) for n in batch.numbers.tolist()]
    assert len({split.label(number) for number in numbers}) == len(ROWS)
    assert all(Path(split.file(number)).exists() for number in numbers)
    if format_named(name).has_columns:
        found = rows_in(split.batches(Columns(id="id", others=("id",))))
        assert [str(one) for *_, one, other in found if one == other] == [row["id"] for row in ROWS]
    assert texts_at(written(tmp_path / "upper", name, suffix.upper())) == values(ROWS)
    os.utime(split.file(numbers[0]), ns=(0, 0))
    assert one_split(path).identity() != split.identity(), "a file that changed is another"


def test_another_process_reads_pickled_splits(tmp_path, toy):
    """It knows nothing but the pickle, and has the same packages."""
    splits = [one_split(written(tmp_path / f"{i}", *each)) for i, each in enumerate(suffixes())]
    code = (
        "import json, pickle, sys\nfor split in pickle.load(sys.stdin.buffer):"
        "    print(json.dumps([split.format, [row['text'] for _, row in split.records()]]))"
    )
    path = os.pathsep.join([str(toy), *filter(None, [os.environ.get("PYTHONPATH")])])
    how = {"capture_output": True, "check": True, "env": os.environ | {"PYTHONPATH": path}}
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(splits), **how)
    found = [[name, [text or "" for text in some]] for name, some in parse_lines(done.stdout)]
    assert found == [[name, values(ROWS)] for name, _ in suffixes()]


@every_suffix
def test_annotation_adds_columns(tmp_path, name, suffix):
    path = written(tmp_path / "in", name, suffix, [*ROWS[1:4], ROWS[1]])
    result = la.dedup(path, threads=1, annotate=True)
    target = tmp_path / (f"out{suffix}" if not format_named(name).rows_are_files else "out.jsonl")
    result.write(target, annotate=True)
    before, after = contents(path), contents(target)
    assert [{column: row[column] for column in before[0]} for row in after] == before
    assert list(after[0])[len(before[0]) :] == ["keep", "duplicate_of", "resemblance", "cluster"]
    assert [str(row["keep"]).lower() for row in after] == ["true", "true", "true", "false"]
    assert after[3]["duplicate_of"] == result.removed["duplicate_of"][0].as_py()
    if format_named(name).has_columns:
        refused("'keep' already exists", la.dedup, target, annotate=True)
        refused("'keep' already exists", one_split(target).check_free, ["keep"])
    else:
        refused("nothing can be added", result.write, tmp_path / "out", annotate=True, error=OutputError)


@every_format
def test_hostile_bytes(tmp_path, name):
    """Texts that are known, or an error that names the file; the same where bytes may be replaced, or columns are added."""
    ways = [{}, {"reserved": ("keep",)}, *[{"encoding_errors": "replace"}] * (name in ("json", "jsonl"))]
    for suffix, (case, (data, expected)) in product(TESTED[name], sample(name).HOSTILE.items()):
        path = put(tmp_path / f"in{suffix}", packed(data, suffix))
        if isinstance(expected, list):
            assert texts_at(path) == expected, case
        else:
            for how in ways if case != "invalid UTF-8" else ways[:1]:
                refused_of(path, expected, texts_at, path, **how)
        if case == "invalid UTF-8":
            found = texts_at(path, encoding_errors="replace")
            assert any("\ufffd" in text or "\udcff" in text for text in found)


@pytest.mark.parametrize(("name", "suffix"), [(n, s) for n, s in suffixes() if s.count(".") > 1])
def test_damaged_compression_is_an_error(tmp_path, name, suffix):
    path = written(tmp_path / "in", name, suffix)
    path = path if path.is_file() else max(path.iterdir())
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:20] + b"\xff" * 20 + data[40:], b"\0no"):
        refused_of(path, "damaged or cut short", texts_at, put(path, damaged))


@every_suffix
def test_a_column_that_is_missing_is_named(tmp_path, name, suffix):
    source = open_sources([written(tmp_path / "in", name, suffix)])
    if not format_named(name).has_columns:
        refused_option("have no columns; url was asked for", texts, source, id="url")
        return
    ways_out = {"texts": "; name another with text=", "id": "; name another with id=", "others": ""}
    for asked, column in (("texts", "body"), ("id", "url"), ("others", ("when",))):
        said = refused_of(
            source[0].name, r"'(body|url|when)' is missing; \w+s found: id, text", texts, source, **{asked: column}
        )
        assert said.endswith("found: id, text" + ways_out[asked])


def limited(path, most, skip=False):
    return [dataclasses.replace(split, limit=Limit(most, skip)) for split in open_sources([path])]


LONG = [{"id": "a", "text": "word " * 200_000 + "end"}, {"id": "b", "text": "short"}]
LARGE = [{"id": "a", "text": "a text"}, {"id": "b", "text": "word " * 400}, {"id": "c", "text": "one that\tfollows it"}]


@every_suffix
def test_a_document_that_is_too_large_is_refused_by_name(tmp_path, monkeypatch, name, suffix):
    path, long = (written(tmp_path / folder, name, suffix, rows) for folder, rows in (("in", LARGE), ("long", LONG)))
    said = r"(row|line) [23]: the document has .*more than the 1,000.*raise memory=|00001[.a-z]*: the document has"
    for block in (1 << 22, 1000, 100):
        monkeypatch.setattr(streams, "BLOCK", block)
        assert texts(limited(path, 2100)) == values(LARGE)
        refused_of(path, said, texts, limited(path, 1000))
        assert block == 100 or texts_at(long) == values(LONG)


@every_suffix
def test_documents_that_are_too_large_can_be_left_out(tmp_path, name, suffix):
    if name == "ssv":
        pytest.skip("its lines are read by a helper that stops")
    path = written(tmp_path / "in", name, suffix, LARGE)
    (split,) = limited(path, 1000, skip=True)
    found = [
        (batch.texts.row(i).decode(), batch.skipped is not None and bool(batch.skipped[i]))
        for batch in split.batches(Columns()) for i in range(len(batch.texts))
    ]  # fmt: skip
    assert found == [("a text", False), ("", True), ("one that\tfollows it", False)] and len(list(split.records())) == 3
    columns = {"id": "id"} if format_named(name).has_columns else {}
    result = la.dedup(path, max_document=1000, on_error="skip", **columns)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"] and result.summary.empty == 0
    assert "left out                             1   (too large or unreadable)" in str(result.summary)
    result.write(tmp_path / "out")
    assert values(contents(tmp_path / "out")) == ["a text", "one that\tfollows it"]
    result.write(tmp_path / "all.jsonl", annotate=True)
    assert [row["keep"] for row in contents(tmp_path / "all.jsonl")] == [True, True]


@every_suffix
def test_no_more_is_held_of_a_document_than_it_may_have(tmp_path, monkeypatch, name, suffix):
    """A document of 6 MB costs no more than one of 200 kB, where that is the limit."""
    if name == "parquet":
        pytest.skip("Arrow's memory is not Python's: tests/formats/test_parquet_pages.py")
    path = written(tmp_path / "in", name, suffix, [{"id": "b", "text": "word " * 1_200_000}])
    monkeypatch.setattr(streams, "BLOCK", 100_000)
    split, *_ = limited(path, 200_000)
    tracemalloc.start()
    refused("raise memory=", list, split.batches(Columns()))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 3_000_000
