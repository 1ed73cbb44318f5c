"""``--removed``: only what was removed, with the reasons."""

import os
import signal

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la
from lookalike.files.publication import Publication

WORDS = " ".join(f"word{number}" for number in range(16))
TEXTS = {"a": WORDS, "b": WORDS, "c": f"{WORDS} more", "d": "something else that nobody has ever written", "e": ""}


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", ({"id": id, "text": text} for id, text in TEXTS.items()))


def read(name):
    if name.endswith(".parquet"):
        return pq.read_table(name).to_pylist()
    return pyarrow.csv.read_csv(name).to_pylist() if name.endswith(".csv") else read_lines(name)


def ids(name):
    return [row["id"] for row in read(name)]


@pytest.mark.parametrize("name", ["gone.jsonl", "gone.parquet", "gone.csv", "gone/in.jsonl"])
def test_the_removed_rows_with_the_columns_of_annotations(run, name):
    given = name.replace("in.jsonl", "")
    code, out, err = run(f"dedup in.jsonl --id id --removed {given} -o kept.jsonl")
    assert code == 0 and f"written: {given}" in out, err
    found = read(name)
    rows = [(row["id"], row["duplicate_of"], row["resemblance"]) for row in found]
    assert rows == [("b", "a", 1.0), ("c", "a", pytest.approx(12 / 13))]
    assert list(found[0]) == ["id", "text", "keep", "duplicate_of", "resemblance", "cluster"]
    assert not any(row["keep"] for row in found) and found[0]["text"] == WORDS and ids("kept.jsonl") == ["a", "d", "e"]


def test_all_reasons_are_there(run):
    write_lines("known.jsonl", [{"id": "r", "text": TEXTS["d"]}])
    write_lines("overrides.jsonl", [{"id": "a", "action": "remove"}])
    more = "--against known.jsonl --set empty=drop --overrides overrides.jsonl"
    assert run(f"dedup in.jsonl --id id {more} --removed gone.jsonl")[0] == 0
    found = {row["id"]: row for row in read("gone.jsonl")}
    assert found["d"]["duplicate_of"] == "r" and found["d"]["duplicate_is_reference"]
    assert found["e"]["duplicate_of"] is None and found["a"]["duplicate_of"] is None and set(found) >= {"a", "c", "d", "e"}


def test_on_standard_output_rows_alone(run):
    code, out, err = run("dedup in.jsonl --id id --removed -")
    assert code == 0 and [row["id"] for row in parse_lines(out)] == ["b", "c"] and "kept" in err
    code, out, err = run("dedup in.jsonl --removed - -o -")
    assert code == 2 and "both print rows" in err and not out


def test_in_python():
    result = la.dedup("in.jsonl", id="id")
    result.write("gone.jsonl", removed=True)
    assert ids("gone.jsonl") == ["b", "c"]
    with pytest.raises(la.errors.OutputError, match="exists; pass force=True to replace it"):
        result.write("gone.jsonl", removed=True)


@pytest.mark.parametrize(
    ("removed", "said"), [("in.jsonl", "exists"), ("kept.jsonl", "kept.jsonl"), ("gone.xlsx", "unrecognized")]
)
def test_what_cannot_be_is_refused_before_any_work(run, removed, said):
    code, _, err = run(f"dedup in.jsonl -o kept.jsonl --removed {removed}")
    assert code and said in err and os.listdir() == ["in.jsonl"]


def test_texts_have_no_columns(run):
    os.mkdir("in")
    with open("in/a.txt", "w") as file:
        file.write("one two three")
    code, _, err = run("dedup in --removed gone/")
    assert code == 2 and "a.txt, which is a document itself: name an output file" in err
    assert run("dedup in --removed gone.jsonl")[0] == 0 and read("gone.jsonl") == []


def test_a_column_of_that_name_is_refused_while_it_is_read(run):
    write_lines("in.jsonl", [{"text": "one", "keep": 1}])
    code, _, err = run("dedup in.jsonl --removed gone.jsonl")
    assert code == 1 and "'keep' already exists" in err and not os.path.exists("gone.jsonl")


def test_all_outputs_of_a_week_appear_together(run, monkeypatch):
    job = "dedup in.jsonl --id id --history history -o kept.jsonl --removed gone.jsonl"

    def stop(self, removed=()):
        raise SystemExit(128 + signal.SIGTERM)

    with monkeypatch.context() as patched:
        patched.setattr(Publication, "publish", stop)
        assert run(job)[0] == 143
    assert not {"kept.jsonl", "gone.jsonl"} & {*os.listdir()}
    assert run(job)[0] == 0 and ids("gone.jsonl") == ["b", "c"]
    assert run(job)[0] == 0, "the same job again adds nothing"
    os.remove("gone.jsonl")
    assert run(job)[0] == 0 and len(read("gone.jsonl")) == 2
