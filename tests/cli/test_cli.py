"""The command line: exact outputs, exit codes, defaults equal to the Python parameters."""

import inspect
import json
import os
import subprocess
import tomllib
from pathlib import Path

import click
import pytest
from cli.commands import process
from json_lines import read_lines, write_lines
from row_files import A

import lookalike as la
from lookalike.cli.config import PRESETS
from lookalike.cli.plan import plan


@pytest.fixture(autouse=True)
def _corpus():
    texts = {"a": A, "b": "unlike", "c": f"{A} more", "d": A}
    write_lines("in.jsonl", ({"id": id, "text": text} for id, text in texts.items()))


def test_dedup_prints_a_summary_and_writes_nothing(run):
    code, out, err = run("dedup in.jsonl")
    assert code == 0 and "nothing was written" in err and os.listdir() == ["in.jsonl"]
    for said in (
        "4 documents", "exact duplicates removed             1", "near-duplicates removed              1",
        "kept                                 2", "least similar removals (removed -> kept):", "in.jsonl:3  ->  in.jsonl:1",
    ):  # fmt: skip
        assert said in out
    write_lines("in.jsonl", [A, *[f"{A} more"] * 5])  # so that more documents are removed than pairs were verified
    assert "1 candidate pair, 1 verified (identical texts count as one)" in run("dedup in.jsonl")[1]


def test_dedup_writes(run):
    code, out, _ = run("dedup in.jsonl --id id -o out.jsonl")
    assert code == 0 and "written: out.jsonl" in out
    assert [row["id"] for row in read_lines("out.jsonl")] == ["a", "b"]
    assert json.loads(Path("out.jsonl_lookalike.json").read_text())["lookalike"] == la.__version__
    code, _, err = run("dedup in.jsonl -o out.jsonl")
    assert code == 1 and "--force" in err
    assert run("dedup in.jsonl -o out.jsonl --force")[0] == 0


def test_json_summary(run):
    code, out, err = run("dedup in.jsonl --json --quiet")
    summary = json.loads(out)
    assert code == 0 and err == ""
    assert (summary["documents"], summary["kept"], summary["exact_duplicates"], summary["near_duplicates"]) == (4, 2, 1, 1)
    assert summary["plan"]["bands"] == 16 and summary["peak_memory"] > 1e6 and summary["seconds"]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_decide_what_is_not_given(run, preset):
    for command in ("dedup", "pairs"):
        found = tomllib.loads(run(f"{command} --preset {preset} --print-config")[1])
        assert found | PRESETS[preset] == found
    assert preset in Path(__file__).parents[2].joinpath("docs/how-to/choosing-parameters.md").read_text()


def test_pairs(run):
    code, out, _ = run("pairs in.jsonl --id id -t 0.7 -o pairs.csv")
    assert code == 0 and "pairs             3" in out
    head, *rows = Path("pairs.csv").read_text().splitlines()
    assert head == "left_id,right_id,resemblance" and [row[:4] for row in rows] == ["a,c,", "a,d,", "c,d,"]
    assert json.loads(run("pairs in.jsonl --json")[1])["pairs"] == 3
    assert "recall at the threshold: 1.0000 (all pairs, by" in run("dedup in.jsonl --recall 1")[1]
    assert "cut by --max-pairs" in run("pairs in.jsonl --max-pairs 1")[1]
    assert run("pairs in.jsonl -o pairs.txt")[0] == 2


def test_compare(run):
    Path("a.txt").write_text(A)
    Path("b.txt").write_text(f"{A} more")
    code, out, _ = run("compare a.txt b.txt --json")
    found = json.loads(out)
    assert code == 0
    assert found["resemblance"] == 56 / 57 and found["containment_left"] == 1.0 and found["hamming_distance"] == 1
    assert abs(found["estimated_resemblance"] - 56 / 57) < 5 * found["standard_error"]
    _, text, err = run("compare a.txt b.txt")
    assert "resemblance                   0.9825" in text and "±" in text and err == ""
    Path("b.txt").write_text("only these six words of text")
    assert "b.txt has only 2 shingles of 5 words; use a smaller --width, or --unit char," in run("compare a.txt b.txt")[2]
    Path("b.txt").write_text("")
    assert "undefined" in run("compare a.txt b.txt")[1] and run("compare a.txt none.txt")[0] == 1


def test_plan(run):
    code, out, _ = run("plan --threshold 0.8 --recall 0.99 --permutations 256 --documents 1e8")
    assert code == 0 and "26 bands of 8 rows" in out and "0.9916" in out and "100,000,000 documents" in out
    for sketch, said in (
        (
            "48 --density 0.1",
            "256 slots, 1 bit of each permutation for 50.0% and 2 bits of each permutation for 50.0%: 48 bytes",
        ),
        ("8", "64 slots, 1 bit of 4 permutations each: 8 bytes"),
    ):
        assert said in run(f"plan --permutations 256 --sketch-bytes {sketch}")[1]
    found = json.loads(run("plan --permutations 256 --json")[1])
    assert (found["bands"], found["rows"]) == (26, 8) and "foresight" not in found
    assert list(found["candidate_probability"]) == ["0.5", "0.6", "0.7", "0.8", "0.9"]


def test_plan_foresees_what_dedup_takes(run):
    size = "--bytes 1e+9 --memory 1GB --threads 2 --duplicates 0.1 --family 4"
    code, out, _ = run(f"plan --documents 1e6 {size}")
    assert code == 0 and "dedup of 1,000,000 documents, 1.00 GB of text, of which 10% have a near-duplicate" in out
    found = json.loads(run(f"plan --documents 1e6 {size} --json")[1])
    wanted = la.foresee(documents=1e6, bytes=1e9, memory="1GB", threads=2, duplicates=0.1, family=4)
    assert found["bands"] == 16 and found["foresight"] == wanted.to_dict()
    code, out, err = run(f"plan --documents 1e9 {size}")
    assert code == 2 and out == "" and "1,000,000,000 documents need" in err
    assert "--bytes needs --documents" in run("plan --bytes 1e9")[2]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("dedup", 2, "Missing argument"),
        ("dedup in.jsonl --threshold 1.5", 2, "threshold must be in (0, 1]"),
        ("dedup in.jsonl --threshold high", 2, "not a valid number"),
        ("dedup in.jsonl --text body", 1, "field 'body' is missing; fields found: id, text"),
        ("dedup in.jsonl --id url", 1, "name another with --id"),
        ("dedup -", 2, "--format"),
        ("dedup in.jsonl --threads 0", 2, "0 is not in the range"),
        ("plan --recall 1", 2, "recall must be in (0, 1): it is the probability of finding a pair at the threshold, and no"),
        ("index create new.idx --recall 1", 2, "dedup and pairs take 1); got 1.0"),
        ("plan in.jsonl --recall 1", 2, "the cost of recall 1 depends on which shingles"),
    ],
)
def test_errors(run, line, code, message):
    found, _, err = run(line)
    assert found == code and message in err


def test_no_permission_is_told_before_any_work(run, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    code, _, err = run("dedup in.jsonl -o out.jsonl")
    assert code == 1 and "no permission" in err


def test_standard_input():
    job = process("dedup - --format jsonl --annotate -o o.jsonl")
    done = subprocess.run(job, input=Path("in.jsonl").read_bytes(), capture_output=True, check=True)
    assert b"4 documents" in done.stdout and read_lines("o.jsonl")[0]["cluster"] == "stdin:1"


def test_plan_has_the_parameters_of_the_function():
    options = {p.name: p.get_default(click.Context(plan)) for p in plan.params}
    known = inspect.signature(la.foresee).parameters | inspect.signature(la.plan).parameters
    wanted = {name: p.default if p.default is not p.empty else None for name, p in known.items()}
    assert {name: options[name] for name in wanted} == wanted | {"work": None, "format": None}


def test_version(run):
    assert run("--version")[1].strip() == f"lookalike, version {la.__version__}"
