"""Where bytes, patches or Python make the case; the rest is in tests/jobs/index-command.job."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines
from samples import words

import lookalike as la


@pytest.fixture
def index(run):
    def made(line):
        code, *said = run(f"index {line}")
        assert code == 0, said
        return said

    return made


@pytest.fixture
def count(index):
    return lambda path: json.loads(index(f"info {path} --json")[0])["documents"]


@pytest.fixture
def pages():
    texts = (words(f"w{i}x", 20) for i in range(60))
    return write_lines("pages.jsonl", ({"text": text, "key": f"p{i}"} for i, text in enumerate(texts)))


def test_damage_is_named(index, ends, pages):
    for line in ("create x", "add x pages.jsonl", "add x pages.jsonl --id key"):
        index(line)
    segment = Path("x/segment-00000000")
    data = bytearray(segment.read_bytes())
    data[-1000] ^= 4
    segment.write_bytes(data)
    ends(1, "index check x", "segment-00000000: damaged")
    said, err = index("export x --salvage -o rest.jsonl")
    assert "segment-00000000: damaged" in err and "60 documents written" in said


def test_an_index_that_is_open_elsewhere_is_waited_for_if_the_user_says_so(index, ends, pages):
    index("create x")
    with la.Index.open("x"):
        ends(1, "index add x pages.jsonl", "--wait")


def test_columns_have_types(index):
    """Also where nothing is found; ids of integers stay what they are."""
    write_lines("none.jsonl", [])
    write_lines("in.jsonl", [{"text": "the quick brown fox jumps over the lazy dog", "key": 9}])
    index("create x --keep-text")
    index("query x none.jsonl -o none.parquet")
    index("export x -o all.parquet")
    index("add x in.jsonl --id key")
    figures = [("estimated_resemblance", pa.float64()), ("standard_error", pa.float64()), ("resemblance", pa.float64())]
    for name, given, id, query in (("none", "", pa.string(), pa.string()), ("some", "", pa.int64(), pa.string()),
                                   ("both", "--id key", pa.int64(), pa.int64())):  # fmt: skip
        if name != "none":
            index(f"query x in.jsonl {given} -o {name}.parquet")
        assert pq.read_schema(f"{name}.parquet").equals(pa.schema([("query", query), ("id", id), *figures]))
    assert pq.read_schema("all.parquet").names == ["id", "text"]


def test_an_addition_that_fails_says_what_had_been_added(index, count, ends, pages, monkeypatch):
    monkeypatch.setattr("lookalike.inputs.read.ROW_BYTES", 32 << 20)
    write_lines("more.jsonl", [{"text": "one more", "key": "k9"}, {"text": "x", "key": "p0"}])
    index("create x")
    said = "the id 'p0' is already in the index", "the first 60 documents of the input were added", "--replace"
    ends(2, "index add x pages.jsonl more.jsonl --id key", *said)
    assert count("x") == 60
    index("add x pages.jsonl more.jsonl --id key --replace")
    assert "had been added" not in ends(2, "index add x pages.jsonl --id key"), "nothing of it was"


def test_the_memory_decides_how_many_documents_are_added_at_one_go(index, pages, monkeypatch):
    found, added, add = [], [], la.Index.add
    monkeypatch.setattr(la.Index, "add", lambda self, ids, *more, **how: added.append(len(ids)) or add(self, ids, *more, **how))
    monkeypatch.setattr("lookalike.engines.memory.Memory.batch", lambda self, most: 1000 if self.cap == 600_000_000 else most)
    for cap in ("600MB", "8GB"):
        index(f"create of-{cap} --width 3")
        assert index(f"add of-{cap} {pages} --id key --memory {cap}")[0] == "60 documents added, 60 in all\n"
        found.append(index(f"query of-{cap} {pages} --id key"))
    assert found[0] == found[1] and added[-1] == 60 and len(added) > 8 and max(added[:-1]) <= 10


def test_more_documents_than_the_memory_has_room_for_are_refused(index, count, pages, ends, monkeypatch):
    """Where the memory was named; what was added before stays."""
    monkeypatch.setattr("lookalike.engines.memory.BYTES_PER_ENTRY", 8_000_000)
    monkeypatch.setattr("lookalike.engines.memory.Memory.batch", lambda self, most: 1000)
    index("create x")
    line = f"index add x {pages} --id key --memory 300MB"
    error = ends(2, line, "documents need ", "the limit is 300 MB: raise --memory")
    n = count("x")
    assert 0 < n < 60 and f"the first {n} documents of the input were added" in error
    assert "60 in all" in index(f"add x {pages} --id key --replace")[0]
