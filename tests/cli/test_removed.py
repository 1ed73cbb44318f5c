"""``--removed``: only what was removed, with the reasons."""

import signal

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli.commands import run, status
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la
from lookalike.files.publication import Publication

WORDS = [f"word{number}" for number in range(16)]
ROWS = [
    {"id": "a", "text": " ".join(WORDS)},
    {"id": "b", "text": " ".join(WORDS)},
    {"id": "c", "text": " ".join([*WORDS, "more"])},
    {"id": "d", "text": "something else that nobody has ever written"},
    {"id": "e", "text": ""},
]
GONE = [("b", "a", 1.0), ("c", "a", 12 / 13)]


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "in.jsonl", ROWS)


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".csv":
        return pyarrow.csv.read_csv(path).to_pylist()
    return read_lines(path)


@pytest.mark.parametrize("name", ["gone.jsonl", "gone.parquet", "gone.csv", "gone/in.jsonl"])
def test_the_removed_rows_with_the_columns_of_annotations(corpus, tmp_path, name, capsys):
    given = str(tmp_path / "gone") + "/" if "/" in name else tmp_path / name
    code, out, err = run(capsys, "dedup", corpus, "--id", "id", "--removed", given, "-o", tmp_path / "kept.jsonl")
    assert code == 0 and f"written: {given}" in out, err
    found = read(tmp_path / name)
    assert [(row["id"], row["duplicate_of"], row["resemblance"]) for row in found] == [
        (id, of, pytest.approx(score)) for id, of, score in GONE
    ]
    assert list(found[0]) == ["id", "text", "keep", "duplicate_of", "resemblance", "cluster"]
    assert not any(row["keep"] for row in found) and found[0]["text"] == ROWS[1]["text"]
    assert [row["id"] for row in read(tmp_path / "kept.jsonl")] == ["a", "d", "e"]


def test_all_reasons_are_there(corpus, tmp_path):
    write_lines(tmp_path / "known.jsonl", [{"id": "r", "text": ROWS[3]["text"]}])
    (tmp_path / "overrides.jsonl").write_text('{"id": "a", "action": "remove"}\n')
    more = ["--against", tmp_path / "known.jsonl", "--set", "empty=drop", "--overrides", tmp_path / "overrides.jsonl"]
    assert status("dedup", corpus, "--id", "id", *more, "--removed", tmp_path / "gone.jsonl") == 0
    found = {row["id"]: row for row in read(tmp_path / "gone.jsonl")}
    assert found["d"]["duplicate_of"] == "r" and found["d"]["duplicate_is_reference"]
    assert found["e"]["duplicate_of"] is None and found["a"]["duplicate_of"] is None and set(found) >= {"a", "c", "d", "e"}


def test_on_standard_output_rows_alone(corpus, tmp_path, capsys):
    code, out, err = run(capsys, "dedup", corpus, "--id", "id", "--removed", "-")
    assert code == 0 and [row["id"] for row in parse_lines(out)] == ["b", "c"] and "kept" in err
    code, out, err = run(capsys, "dedup", corpus, "--removed", "-", "-o", "-")
    assert code == 2 and "both print rows" in err and not out


def test_in_python(corpus, tmp_path):
    result = la.dedup(corpus, id="id")
    result.write(tmp_path / "gone.jsonl", removed=True)
    assert [row["id"] for row in read(tmp_path / "gone.jsonl")] == ["b", "c"]
    with pytest.raises(la.errors.OutputError, match="exists; pass force=True to replace it"):
        result.write(tmp_path / "gone.jsonl", removed=True)


@pytest.mark.parametrize(
    ("removed", "said"),
    [("in.jsonl", "exists"), ("kept.jsonl", "kept.jsonl"), ("gone.xlsx", "unrecognized")],
)
def test_what_cannot_be_is_refused_before_any_work(corpus, tmp_path, removed, said, capsys):
    code, _, err = run(capsys, "dedup", corpus, "-o", tmp_path / "kept.jsonl", "--removed", tmp_path / removed)
    assert code and said in err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_texts_have_no_columns(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("one two three")
    code, _, err = run(capsys, "dedup", tmp_path / "in", "--removed", f"{tmp_path}/gone/")
    assert code == 2 and "a.txt, which is a document itself: name an output file" in err
    assert status("dedup", tmp_path / "in", "--removed", tmp_path / "gone.jsonl") == 0 and read(tmp_path / "gone.jsonl") == []


def test_a_column_of_that_name_is_refused_while_it_is_read(tmp_path, capsys):
    write_lines(tmp_path / "in.jsonl", [{"text": "one", "keep": 1}])
    code, _, err = run(capsys, "dedup", tmp_path / "in.jsonl", "--removed", tmp_path / "gone.jsonl")
    assert code == 1 and "'keep' already exists" in err and not (tmp_path / "gone.jsonl").exists()


def test_all_outputs_of_a_week_appear_together(corpus, tmp_path, monkeypatch):
    job = ["dedup", corpus, "--id", "id", "--history", tmp_path / "history", "-o", tmp_path / "kept.jsonl"]

    def stop(self, removed=()):
        raise SystemExit(128 + signal.SIGTERM)

    with monkeypatch.context() as patched:
        patched.setattr(Publication, "publish", stop)
        assert status(*job, "--removed", tmp_path / "gone.jsonl") == 143
    assert not any((tmp_path / name).exists() for name in ("kept.jsonl", "gone.jsonl"))
    assert status(*job, "--removed", tmp_path / "gone.jsonl") == 0
    assert [row["id"] for row in read(tmp_path / "gone.jsonl")] == ["b", "c"]
    assert status(*job, "--removed", tmp_path / "gone.jsonl") == 0, "the same job again adds nothing"
    (tmp_path / "gone.jsonl").unlink()
    assert status(*job, "--removed", tmp_path / "gone.jsonl") == 0 and len(read(tmp_path / "gone.jsonl")) == 2
