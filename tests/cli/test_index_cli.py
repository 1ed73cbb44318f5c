"""``lookalike index`` from the outside."""

import json
import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la
from lookalike.engines.memory import Memory

TEXTS = ["the quick brown fox jumps over the lazy dog", "pack my box with five dozen liquor jugs", "an entirely different text"]
FOUND = ["query", "id", "estimated_resemblance", "standard_error", "resemblance"]


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", ({"text": text, "key": f"k{i}"} for i, text in enumerate(TEXTS)))


@pytest.fixture
def index(run):
    """Runs a command about an index, which must succeed: (standard output, standard error)."""

    def made(line):
        code, *said = run(f"index {line}")
        assert code == 0, said
        return said

    return made


@pytest.fixture
def info(index):
    return lambda path: json.loads(index(f"info {path} --json")[0])


def test_a_life(index, info, run):
    said, _ = index("create x -t 0.7 --width 2 --keep-text")
    recall = re.search("recall at the threshold: ([0-9.]+), higher above it \\(([0-9.]+) are compared", said)
    assert "0 documents, minhash" in said and 0.99 <= float(recall[1]) < float(recall[2]) < 1
    assert index("add x in.jsonl --id key") == ["3 documents added, 3 in all\n", ""]
    code, _, error = run("index add x in.jsonl --id key")
    assert code == 2 and "the id 'k0' is already in the index" in error
    assert index("add x in.jsonl --id key --replace")[0] == "0 documents added, 3 replaced, 3 in all\n"
    rows, said = index("query x in.jsonl --id key")
    assert said == "3 documents looked up, 3 matches\n"
    found = [(row["query"], row["id"], row["resemblance"]) for row in parse_lines(rows)]
    assert found == [(f"k{i}", f"k{i}", 1.0) for i in range(3)]
    index("query x in.jsonl --first -o found.csv")
    assert Path("found.csv").read_text().splitlines()[0].split(",") == FOUND
    said, warned = index("remove x k1 nobody")
    assert said == "1 removed, 2 left\n" and "1 id not in the index" in warned
    Path("ids.txt").write_text("k2\n")
    assert index("remove x --from ids.txt")[0] == "1 removed, 1 left\n"
    assert "1 document," in index("compact x")[0] and info("x")["documents"] == 1
    told = {line[:27].strip(): line[27:].strip() for line in index("info x")[0].splitlines()}
    assert told["documents"] == "1" and told["keep text"] == "yes" and told["damaged"] == "none"
    assert 0.99 <= float(told["recall at threshold"]) < 1 and len(told["recall at threshold"]) <= 6
    assert "no damage found: 1 document in 1 segment" in index("check x")[0]
    assert "1 document written" in index("export x -o out.jsonl")[0]
    assert read_lines("out.jsonl") == [{"id": "k0", "text": TEXTS[0]}]


def test_smaller_indexes(index, info, run):
    """One table in place of several, fewer bits in place of many: what was chosen and what it gives is said."""
    said, _ = index("create probed --kind simhash -t 0.95 --width 2 --probes 5")
    assert "5 probes (share found at the threshold: 0." in said
    index("add probed in.jsonl --id key")
    assert index("query probed in.jsonl --id key")[1] == "3 documents looked up, 3 matches\n"
    held = info("probed")
    assert held["parameters"]["probes"] == 5 and 0.9 < held["share_found_by_probes"] <= 1
    shown, _ = index("info probed")
    assert "\nprobes                      5\n" in shown and "share found by probes" in shown
    for options, bits, slots in (
        ("--standard-error 0.025", 1, 576),
        ("--bits 2 --slots 400", 2, 400),
        ("--bits 8 --sketch-bytes 64", 8, 64),
    ):
        index(f"create of-{bits} {options}")
        parameters = info(f"of-{bits}")["parameters"]
        assert (parameters["bits"], parameters["slots"]) == (bits, slots)
    for bits in ("9", "3", "8.5", "1/2", "a/2", "0"):
        assert run(f"index create x --bits {bits}")[0] == 2 and not os.path.exists("x")


def test_damage_is_named(index, run):
    for line in ("create x", "add x in.jsonl", "add x in.jsonl --id key"):
        index(line)
    segment = Path("x/segment-00000000")
    data = bytearray(segment.read_bytes())
    data[-1000] ^= 4
    segment.write_bytes(data)
    code, _, err = run("index check x")
    assert code == 1 and "segment-00000000: damaged" in err
    said, err = index("export x --salvage -o rest.jsonl")
    assert "segment-00000000: damaged" in err and "3 documents written" in said


def test_errors(index, run):
    index("create x --kind simhash --radius 4")
    Path("bad.txt").write_bytes(b"\xfa broken")
    os.mkdir("mine")
    Path("mine/manifest").write_text("my own")
    for line, code, said in (
        ("add mine in.jsonl", 1, "not the manifest of an index"),
        ("compact mine", 1, "not the manifest of an index"),
        ("info none", 1, "error: none: no index here; lookalike index create makes one\n"),
        ("create x", 1, "exists"),
        ("create y --radius 4", 2, "no parameter 'radius'"),
        ("remove x", 2, "no ids: give some"),
        ("add x bad.txt", 1, "invalid UTF-8"),
    ):
        found, _, err = run(f"index {line}")
        assert found == code and said in err
    assert os.listdir("mine") == ["manifest"]
    with la.Index.open("x"):
        code, _, err = run("index add x in.jsonl")
    assert code == 1 and "--wait" in err


def test_ids_of_integers_are_written_as_they_are(index, info, run):
    """A number that is only read as an id of the index, and is not written as one, removes nothing."""
    write_lines("in.jsonl", ({"text": t, "key": 9 + i} for i, t in enumerate(TEXTS)))
    index("create x")
    index("add x in.jsonl --id key")
    found = parse_lines(index("query x in.jsonl --id key --top 1")[0])[0]
    assert (found["query"], found["id"]) == (9, 9)
    for more, kind in (("--id key", "int64"), ("", "string")):
        index(f"query x in.jsonl {more} -o found.parquet --force")
        assert [str(field.type) for field in pq.read_schema("found.parquet")][:2] == [kind, "int64"]
    rows = map(json.loads, index("export x -o -")[0].splitlines()[:3])
    assert sorted(row["id"] for row in rows) == [9, 10, 11]
    ids = Path("ids")
    for line in ("1_0", " 10", "10 ", "010", "+10", "1e1", "10.0", "\u0661\u0660", "ten", "9" * 30, "9" * 5000):
        ids.write_text(f"11\n{line}\n")
        code, _, error = run("index remove x --from ids")
        assert code == 2 and "line 2" in error and "integers" in error, line
    assert info("x")["documents"] == 3
    ids.write_bytes(b"\xef\xbb\xbf10\r\n\r\n11\n")
    assert index("remove x --from ids")[0] == "2 removed, 1 left\n"


def test_lines_of_ids_end_where_lines_of_files_do(index, run):
    """Characters that some programs take for the end of a line are part of an id."""
    ids = ["a\u2028b", "c\x0bd", "e\x85f", "g\rh", "plain"]
    with la.Index.create("x") as made:
        made.add(ids, [f"text number {i} of these" for i in range(5)])
    Path("ids").write_bytes("\n".join(ids).encode())
    assert index("remove x --from ids")[0] == "5 removed, 0 left\n"
    Path("ids").write_bytes(b"good\nb\xffd\n")
    code, _, error = run("index remove x --from ids")
    assert code == 1 and "ids, line 2: invalid UTF-8 at byte 1" in error


def test_outputs_have_their_columns_though_nothing_is_found(index):
    write_lines("none.jsonl", [])
    index("create x --keep-text")
    for suffix in ("parquet", "csv", "jsonl"):
        index(f"query x none.jsonl -o found.{suffix}")
        index(f"export x -o all.{suffix}")
    said = [Path(name).read_text() for name in ("found.csv", "all.csv", "found.jsonl", "all.jsonl")]
    assert said == [",".join(FOUND) + "\n", "id,text\n", "", ""]
    found = pq.read_schema("found.parquet")
    assert found.names == FOUND and found.types == [pa.string()] * 2 + [pa.float64()] * 3
    assert pq.read_schema("all.parquet").names == ["id", "text"]


def test_an_addition_that_fails_says_what_had_been_added(index, info, run, monkeypatch):
    monkeypatch.setattr("lookalike.inputs.read.ROW_BYTES", 32 << 20)
    write_lines("more.jsonl", [{"text": "one more", "key": "k9"}, {"text": "x", "key": "k0"}])
    index("create x")
    code, _, error = run("index add x in.jsonl more.jsonl --id key")
    assert code == 2 and "the id 'k0' is already in the index" in error
    assert "the first 3 documents of the input were added" in error and "--replace" in error
    assert info("x")["documents"] == 3
    index("add x in.jsonl more.jsonl --id key --replace")
    code, _, error = run("index add x in.jsonl --id key")
    assert code == 2 and "had been added" not in error, "nothing of it was"


def test_texts_that_are_no_utf8_are_exported(index):
    Path("bad.txt").write_bytes(b"one \xff two")
    index("create x --keep-text")
    index("add x bad.txt --set encoding_errors=replace")
    for suffix in ("jsonl", "csv", "parquet"):
        index(f"export x -o out.{suffix}")
    assert read_lines("out.jsonl")[0]["text"] == "one \ufffd two"
    assert pq.read_table("out.parquet")["text"].to_pylist() == ["one \ufffd two"]


@pytest.fixture
def pages():
    texts = (" ".join(f"w{i}x{j}" for j in range(20)) for i in range(60))
    return write_lines("pages.jsonl", ({"text": text, "key": f"p{i}"} for i, text in enumerate(texts)))


def test_the_memory_decides_how_many_documents_are_added_at_one_go(index, pages, monkeypatch):
    """And nothing else: the same documents are found."""
    found, added, add = [], [], la.Index.add
    monkeypatch.setattr(la.Index, "add", lambda self, ids, *more, **how: added.append(len(ids)) or add(self, ids, *more, **how))
    monkeypatch.setattr(Memory, "batch", lambda self, most: 1000 if self.cap == 600_000_000 else most)
    for cap in ("600MB", "8GB"):
        index(f"create of-{cap} --width 3")
        assert index(f"add of-{cap} {pages} --id key --memory {cap}")[0] == "60 documents added, 60 in all\n"
        found.append(index(f"query of-{cap} {pages} --id key"))
    assert found[0] == found[1] and added[-1] == 60 and len(added) > 8 and max(added[:-1]) <= 10


def test_more_documents_than_the_memory_has_room_for_are_refused(index, info, pages, run, monkeypatch):
    """Where the memory was named; what was added before stays."""
    monkeypatch.setattr("lookalike.engines.memory.BYTES_PER_ENTRY", 8_000_000)
    monkeypatch.setattr(Memory, "batch", lambda self, most: 1000)
    index("create x")
    code, _, error = run(f"index add x {pages} --id key --memory 300MB")
    assert code == 2 and "documents need " in error and "the limit is 300 MB: raise --memory" in error
    n = info("x")["documents"]
    assert 0 < n < 60 and f"the first {n} documents of the input were added" in error
    assert "60 in all" in index(f"add x {pages} --id key --replace")[0]


def test_a_document_that_is_too_large_is_named_or_left_out(index, run):
    write_lines(
        "in.jsonl", [*read_lines("in.jsonl"), {"text": "long " * 1000, "key": "long"}, {"text": "short", "key": "last"}]
    )
    index("create x")
    adding = "add x in.jsonl --id key --set max_document=2kB"
    code, _, error = run(f"index {adding}")
    assert code == 1 and "in.jsonl, row 4: the document has more than the 2,000 bytes" in error
    assert index(f"{adding} --on-error skip --replace")[0].endswith("4 in all\n")
    assert "1 id not in the index" in index("remove x long")[1]
