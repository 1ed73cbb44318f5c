"""``lookalike index`` and ``lookalike decontaminate`` from the outside."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import fails
from click.testing import CliRunner
from json_lines import parse_lines, write_lines

import lookalike as la
from lookalike.cli.main import program
from lookalike.engines.memory import Memory

TEXTS = ["the quick brown fox jumps over the lazy dog", "pack my box with five dozen liquor jugs", "an entirely different text"]


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "in.jsonl", ({"text": text, "key": f"k{i}"} for i, text in enumerate(TEXTS)))


def run(*arguments, code=0):
    """Run a command; return what it says."""
    done = CliRunner().invoke(program, [str(a) for a in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_a_life(tmp_path, corpus, capsys):
    path = tmp_path / "x.idx"
    said = run("index", "create", path, "-t", "0.7", "--width", "2", "--keep-text").output
    recall = re.search("recall at the threshold: ([0-9.]+), higher above it \\(([0-9.]+) are compared", said)
    assert "0 documents, minhash" in said and 0.99 <= float(recall[1]) < float(recall[2]) < 1
    assert run("index", "add", path, corpus, "--id", "key").output == "3 documents added, 3 in all\n"
    code, error = fails(capsys, "index", "add", path, corpus, "--id", "key")
    assert code == 2 and "the id 'k0' is already in the index" in error
    assert run("index", "add", path, corpus, "--id", "key", "--replace").output == "0 documents added, 3 replaced, 3 in all\n"
    done = run("index", "query", path, corpus, "--id", "key")
    assert done.stderr == "3 documents looked up, 3 matches\n"
    rows = parse_lines(done.stdout)
    assert [(row["query"], row["id"], row["resemblance"]) for row in rows] == [(f"k{i}", f"k{i}", 1.0) for i in range(3)]
    run("index", "query", path, corpus, "--first", "-o", tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().splitlines()[0] == "query,id,estimated_resemblance,standard_error,resemblance"
    done = run("index", "remove", path, "k1", "nobody")
    assert done.stdout == "1 removed, 2 left\n" and "1 id not in the index" in done.stderr
    (tmp_path / "ids.txt").write_text("k2\n")
    assert run("index", "remove", path, "--from", tmp_path / "ids.txt").output == "1 removed, 1 left\n"
    assert "1 document," in run("index", "compact", path).output
    assert json.loads(run("index", "info", path, "--json").output)["documents"] == 1
    said = run("index", "info", path).output
    told = {line[:27].strip(): line[27:].strip() for line in said.splitlines()}
    assert told["documents"] == "1" and told["keep text"] == "yes" and told["damaged"] == "none"
    assert 0.99 <= float(told["recall at threshold"]) < 1 and len(told["recall at threshold"]) <= 6
    assert "no damage found: 1 document in 1 segment" in run("index", "check", path).output
    assert "1 document written" in run("index", "export", path, "-o", tmp_path / "out.jsonl").output
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"id": "k0", "text": TEXTS[0]}


def test_smaller_indexes(tmp_path, corpus, capsys):
    """One table in place of several, fewer bits in place of many: what was chosen and what it gives is said."""
    path = tmp_path / "probed"
    said = run("index", "create", path, "--kind", "simhash", "-t", "0.95", "--width", "2", "--probes", "5").output
    assert "5 probes (share found at the threshold: 0." in said
    run("index", "add", path, corpus, "--id", "key")
    assert run("index", "query", path, corpus, "--id", "key").stderr == "3 documents looked up, 3 matches\n"
    held = json.loads(run("index", "info", path, "--json").output)
    assert held["parameters"]["probes"] == 5 and 0.9 < held["share_found_by_probes"] <= 1
    shown = run("index", "info", path).output
    assert "\nprobes                      5\n" in shown and "share found by probes" in shown
    for options, bits, slots in (
        (("--standard-error", "0.025"), 1, 576), (("--bits", "2", "--slots", "400"), 2, 400), (("--bits", "8", "--sketch-bytes", "64"), 8, 64),
    ):  # fmt: skip
        path = tmp_path / f"{bits}-{slots}"
        run("index", "create", path, *options)
        held = json.loads(run("index", "info", path, "--json").output)
        assert (held["parameters"]["bits"], held["parameters"]["slots"]) == (bits, slots)
    for bits in ("9", "3", "8.5", "1/2", "a/2", "0"):
        assert fails(capsys, "index", "create", tmp_path / "x", "--bits", bits)[0] == 2 and not (tmp_path / "x").exists()


def test_damage_is_named(tmp_path, corpus, capsys):
    path = tmp_path / "x.idx"
    run("index", "create", path)
    run("index", "add", path, corpus)
    run("index", "add", path, corpus, "--id", "key")
    segment = path / "segment-00000000"
    data = bytearray(segment.read_bytes())
    data[-1000] ^= 4
    segment.write_bytes(data)
    done = run("index", "check", path, code=1)
    assert "segment-00000000: damaged" in done.stderr
    done = run("index", "export", path, "--salvage", "-o", tmp_path / "rest.jsonl")
    assert "segment-00000000: damaged" in done.stderr and "3 documents written" in done.stdout


def test_errors(tmp_path, corpus, capsys):
    assert fails(capsys, "index", "info", tmp_path / "none") == (
        1,
        f"error: {tmp_path / 'none'}: no index here; lookalike index create makes one\n",
    )
    run("index", "create", tmp_path / "x", "--kind", "simhash", "--radius", "4")
    assert fails(capsys, "index", "create", tmp_path / "x")[0] == 1
    code, error = fails(capsys, "index", "create", tmp_path / "y", "--radius", "4")
    assert code == 2 and "no parameter 'radius'" in error
    code, error = fails(capsys, "index", "remove", tmp_path / "x")
    assert code == 2 and "no ids: give some" in error
    (tmp_path / "bad.txt").write_bytes(b"\xfa broken")
    code, error = fails(capsys, "index", "add", tmp_path / "x", tmp_path / "bad.txt")
    assert code == 1 and "invalid UTF-8" in error
    with la.Index.open(tmp_path / "x"):
        code, error = fails(capsys, "index", "add", tmp_path / "x", corpus)
        assert code == 1 and "--wait" in error


def test_ids_of_integers_are_written_as_they_are(tmp_path, capsys):
    """A number that is only read as an id of the index, and is not written as one, removes nothing."""
    write_lines(tmp_path / "in.jsonl", ({"text": t, "key": 9 + i} for i, t in enumerate(TEXTS)))
    path = tmp_path / "x.idx"
    run("index", "create", path)
    run("index", "add", path, tmp_path / "in.jsonl", "--id", "key")
    found = json.loads(run("index", "query", path, tmp_path / "in.jsonl", "--id", "key", "--top", 1).output.splitlines()[0])
    assert (found["query"], found["id"]) == (9, 9)
    run("index", "query", path, tmp_path / "in.jsonl", "--id", "key", "-o", tmp_path / "found.parquet")
    assert [str(field.type) for field in pq.read_schema(tmp_path / "found.parquet")][:2] == ["int64", "int64"]
    run("index", "query", path, tmp_path / "in.jsonl", "-o", tmp_path / "files.parquet")
    assert [str(field.type) for field in pq.read_schema(tmp_path / "files.parquet")][:2] == ["string", "int64"]
    rows = map(json.loads, run("index", "export", path, "-o", "-").output.splitlines()[:3])
    assert sorted(row["id"] for row in rows) == [9, 10, 11]
    for line in ("1_0", " 10", "10 ", "010", "+10", "1e1", "10.0", "\u0661\u0660", "ten", "9" * 30, "9" * 5000):
        (tmp_path / "ids").write_text(f"11\n{line}\n")
        code, error = fails(capsys, "index", "remove", path, "--from", tmp_path / "ids")
        assert code == 2 and "line 2" in error and "integers" in error, line
    assert json.loads(run("index", "info", path, "--json").output)["documents"] == 3
    (tmp_path / "ids").write_bytes(b"\xef\xbb\xbf10\r\n\r\n11\n")
    assert run("index", "remove", path, "--from", tmp_path / "ids").output == "2 removed, 1 left\n"


def test_lines_of_ids_end_where_lines_of_files_do(tmp_path, capsys):
    """Characters that some programs take for the end of a line are part of an id."""
    ids = ["a\u2028b", "c\x0bd", "e\x85f", "g\rh", "plain"]
    path = tmp_path / "x.idx"
    with la.Index.create(path) as index:
        index.add(ids, [f"text number {i} of these" for i in range(5)])
    (tmp_path / "ids").write_bytes("\n".join(ids).encode())
    assert run("index", "remove", path, "--from", tmp_path / "ids").output == "5 removed, 0 left\n"
    (tmp_path / "ids").write_bytes(b"good\nb\xffd\n")
    code, error = fails(capsys, "index", "remove", path, "--from", tmp_path / "ids")
    assert code == 1 and "ids, line 2: invalid UTF-8 at byte 1" in error


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_outputs_have_their_columns_though_nothing_is_found(tmp_path, suffix):
    (tmp_path / "none.jsonl").write_text("")
    path, columns = tmp_path / "x.idx", "query,id,estimated_resemblance,standard_error,resemblance"
    run("index", "create", path, "--keep-text")
    run("index", "query", path, tmp_path / "none.jsonl", "-o", tmp_path / f"found.{suffix}")
    run("index", "export", path, "-o", tmp_path / f"all.{suffix}")
    if suffix == "csv":
        assert (tmp_path / "found.csv").read_text() == columns + "\n" and (tmp_path / "all.csv").read_text() == "id,text\n"
    elif suffix == "jsonl":
        assert (tmp_path / "found.jsonl").read_text() == (tmp_path / "all.jsonl").read_text() == ""
    else:
        found = pq.read_schema(tmp_path / "found.parquet")
        assert found.names == columns.split(",")
        assert found.types == [pa.string(), pa.string(), pa.float64(), pa.float64(), pa.float64()]
        assert pq.read_schema(tmp_path / "all.parquet").names == ["id", "text"]


def test_an_addition_that_fails_says_what_had_been_added(tmp_path, corpus, capsys, monkeypatch):
    monkeypatch.setattr("lookalike.inputs.read.ROW_BYTES", 32 << 20)
    (tmp_path / "more.jsonl").write_text(
        json.dumps({"text": "one more", "key": "k9"}) + "\n" + json.dumps({"text": "x", "key": "k0"})
    )
    path = tmp_path / "x.idx"
    run("index", "create", path)
    code, error = fails(capsys, "index", "add", path, corpus, tmp_path / "more.jsonl", "--id", "key")
    assert code == 2 and "the id 'k0' is already in the index" in error
    assert "the first 3 documents of the input were added" in error and "--replace" in error
    assert json.loads(run("index", "info", path, "--json").output)["documents"] == 3
    run("index", "add", path, corpus, tmp_path / "more.jsonl", "--id", "key", "--replace")
    code, error = fails(capsys, "index", "add", path, corpus, "--id", "key")
    assert code == 2 and "had been added" not in error, "nothing of it was"


def test_texts_that_are_no_utf8_are_exported(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"one \xff two")
    path = tmp_path / "x.idx"
    run("index", "create", path, "--keep-text")
    run("index", "add", path, tmp_path / "bad.txt", "--set", "encoding_errors=replace")
    for suffix in ("jsonl", "csv", "parquet"):
        run("index", "export", path, "-o", tmp_path / f"out.{suffix}")
    assert json.loads((tmp_path / "out.jsonl").read_text())["text"] == "one \ufffd two"
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == ["one \ufffd two"]


def test_a_folder_that_is_no_index_stays_as_it_is(tmp_path, corpus, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "manifest").write_text("my own")
    for arguments in (("add", corpus), ("remove", "a"), ("compact",), ("info",), ("check",), ("query", corpus)):
        code, error = fails(capsys, "index", arguments[0], tmp_path / "mine", *arguments[1:])
        assert code == 1 and "not the manifest of an index" in error
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["manifest"]


def pages(folder, n=60):
    path = folder / "pages.jsonl"
    rows = [{"text": " ".join(f"w{i}x{j}" for j in range(20)), "key": f"p{i}"} for i in range(n)]
    return write_lines(path, rows)


def test_the_memory_decides_how_many_documents_are_added_at_one_go(tmp_path, monkeypatch):
    """And nothing else: the same documents are found."""
    path, found = pages(tmp_path), []
    added = []
    add = la.Index.add
    monkeypatch.setattr(
        la.Index, "add", lambda self, ids, *more, **named: added.append(len(ids)) or add(self, ids, *more, **named)
    )
    monkeypatch.setattr(Memory, "batch", lambda self, most: 1000 if self.cap == 600_000_000 else most)
    for cap in ("600MB", "8GB"):
        index = tmp_path / f"{cap}.idx"
        run("index", "create", index, "--width", "3")
        assert run("index", "add", index, path, "--id", "key", "--memory", cap).output == "60 documents added, 60 in all\n"
        found.append(run("index", "query", index, path, "--id", "key").stdout)
    assert found[0] == found[1] and added[-1] == 60 and len(added) > 8 and max(added[:-1]) <= 10


def test_more_documents_than_the_memory_has_room_for_are_refused(tmp_path, capsys, monkeypatch):
    """Where the memory was named; what was added before stays."""
    monkeypatch.setattr("lookalike.engines.memory.BYTES_PER_ENTRY", 8_000_000)
    monkeypatch.setattr(Memory, "batch", lambda self, most: 1000)
    path = tmp_path / "x.idx"
    run("index", "create", path)
    code, error = fails(capsys, "index", "add", path, pages(tmp_path), "--id", "key", "--memory", "300MB")
    assert code == 2 and "documents need " in error and "the limit is 300 MB: raise --memory" in error
    n = json.loads(run("index", "info", path, "--json").output)["documents"]
    assert 0 < n < 60 and f"the first {n} documents of the input were added" in error
    assert "60 in all" in run("index", "add", path, pages(tmp_path), "--id", "key", "--replace").output


def test_a_document_that_is_too_large_is_named_or_left_out(tmp_path, capsys):
    path = pages(tmp_path, 3)
    with path.open("a") as stream:
        stream.write(json.dumps({"text": "long " * 1000, "key": "long"}) + "\n" + json.dumps({"text": "short", "key": "last"}))
    run("index", "create", tmp_path / "x.idx")
    adding = ("index", "add", tmp_path / "x.idx", path, "--id", "key", "--set", "max_document=2kB")
    code, error = fails(capsys, *adding)
    assert code == 1 and "pages.jsonl, row 4: the document has more than the 2,000 bytes" in error
    assert run(*adding, "--on-error", "skip", "--replace").output.endswith("4 in all\n")
    assert "4 looked up" not in error and "1 left" not in run("index", "remove", tmp_path / "x.idx", "long").output
