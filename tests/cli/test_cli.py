"""The command line: exact outputs, exit codes, defaults equal to the Python parameters."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from cli.commands import run
from json_lines import read_lines, write_lines
from row_files import A

import lookalike as la
from lookalike.cli.config import PRESETS
from lookalike.cli.plan import plan

ROWS = [{"id": "a", "text": A}, {"id": "b", "text": "unlike"}, {"id": "c", "text": A + " more"}, {"id": "d", "text": A}]


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "in.jsonl", ROWS)


def test_dedup_prints_a_summary_and_writes_nothing(capfd, corpus, tmp_path):
    code, out, err = run(capfd, "dedup", corpus)
    assert code == 0
    assert "4 documents" in out and "exact duplicates removed             1" in out
    assert "near-duplicates removed              1" in out and "kept                                 2" in out
    assert "least similar removals (removed -> kept):" in out and f"{corpus}:3  ->  {corpus}:1" in out
    assert "nothing was written" in err
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]


def test_identical_texts_are_compared_once(capfd, tmp_path):
    """So that more documents can be removed than pairs were verified, which the summary explains."""
    said = "1 candidate pair, 1 verified (identical texts count as one)"
    assert said in run(capfd, "dedup", write_lines(tmp_path / "in.jsonl", [A, *[f"{A} more"] * 5]))[1]


def test_dedup_writes(capfd, corpus, tmp_path):
    target = tmp_path / "out.jsonl"
    code, out, _ = run(capfd, "dedup", corpus, "--id", "id", "-o", target)
    assert code == 0 and f"written: {target}" in out
    assert [row["id"] for row in read_lines(target)] == ["a", "b"]
    provenance = json.loads((tmp_path / "out.jsonl_lookalike.json").read_text())
    assert provenance["lookalike"] == la.__version__
    code, _, err = run(capfd, "dedup", corpus, "-o", target)
    assert code == 1 and "--force" in err
    assert run(capfd, "dedup", corpus, "-o", target, "--force")[0] == 0


def test_json_summary(capfd, corpus):
    code, out, err = run(capfd, "dedup", corpus, "--json", "--quiet")
    summary = json.loads(out)
    assert code == 0 and err == ""
    assert (summary["documents"], summary["kept"], summary["exact_duplicates"], summary["near_duplicates"]) == (4, 2, 1, 1)
    assert summary["plan"]["bands"] == 16 and summary["peak_memory"] > 1e6 and summary["seconds"]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_decide_what_is_not_given(capfd, preset):
    for command in ("dedup", "pairs"):
        found = tomllib.loads(run(capfd, command, "--preset", preset, "--print-config")[1])
        assert found | PRESETS[preset] == found
    assert preset in Path(__file__).parents[2].joinpath("docs/how-to/choosing-parameters.md").read_text()


def test_pairs(capfd, corpus, tmp_path):
    code, out, _ = run(capfd, "pairs", corpus, "--id", "id", "-t", "0.7", "-o", tmp_path / "pairs.csv")
    assert code == 0 and "pairs             3" in out
    lines = (tmp_path / "pairs.csv").read_text().splitlines()
    assert lines[0] == "left_id,right_id,resemblance"
    assert [line.split(",")[:2] for line in lines[1:]] == [["a", "c"], ["a", "d"], ["c", "d"]]
    assert json.loads(run(capfd, "pairs", corpus, "--json")[1])["pairs"] == 3
    assert "recall at the threshold: 1.0000 (all pairs, by" in run(capfd, "dedup", corpus, "--recall", "1")[1]
    assert "cut by --max-pairs" in run(capfd, "pairs", corpus, "--max-pairs", "1")[1]
    assert run(capfd, "pairs", corpus, "-o", tmp_path / "pairs.txt")[0] == 2


def test_compare(capfd, tmp_path):
    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.txt").write_text(A + " more")
    code, out, _ = run(capfd, "compare", tmp_path / "a.txt", tmp_path / "b.txt", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["resemblance"] == 56 / 57 and found["containment_left"] == 1.0 and found["hamming_distance"] == 1
    assert abs(found["estimated_resemblance"] - 56 / 57) < 5 * found["standard_error"]
    _, text, err = run(capfd, "compare", tmp_path / "a.txt", tmp_path / "b.txt")
    assert "resemblance                   0.9825" in text and "±" in text and err == ""
    (tmp_path / "b.txt").write_text("only these six words of text")
    said = "b.txt has only 2 shingles of 5 words; use a smaller --width, or --unit char,"
    assert said in run(capfd, "compare", tmp_path / "a.txt", tmp_path / "b.txt")[2]
    (tmp_path / "b.txt").write_text("")
    assert "undefined" in run(capfd, "compare", tmp_path / "a.txt", tmp_path / "b.txt")[1]
    assert run(capfd, "compare", tmp_path / "a.txt", tmp_path / "none.txt")[0] == 1


def test_plan(capfd):
    code, out, _ = run(capfd, "plan", "--threshold", "0.8", "--recall", "0.99", "--permutations", "256", "--documents", "1e8")
    assert code == 0
    assert "26 bands of 8 rows" in out and "0.9916" in out and "100,000,000 documents" in out
    out = run(capfd, "plan", "--permutations", "256", "--sketch-bytes", "48", "--density", "0.1")[1]
    assert "256 slots, 1 bit of each permutation for 50.0% and 2 bits of each permutation for 50.0%: 48 bytes" in out
    assert (
        "64 slots, 1 bit of 4 permutations each: 8 bytes"
        in run(capfd, "plan", "--permutations", "256", "--sketch-bytes", "8")[1]
    )
    found = json.loads(run(capfd, "plan", "--permutations", "256", "--json")[1])
    assert (found["bands"], found["rows"]) == (26, 8)
    assert list(found["candidate_probability"]) == ["0.5", "0.6", "0.7", "0.8", "0.9"]
    assert "foresight" not in found and "processor time" not in out


def test_plan_foresees_what_dedup_takes(capfd):
    words = "--documents 1e6 --bytes 1e+9 --memory 1GB --threads 2 --duplicates 0.1 --family 4"
    size = words.split()
    code, out, _ = run(capfd, "plan", *size)
    assert code == 0 and "dedup of 1,000,000 documents, 1.00 GB of text, of which 10% have a near-duplicate" in out
    found = json.loads(run(capfd, "plan", *size, "--json")[1])
    wanted = la.foresee(documents=1e6, bytes=1e9, memory="1GB", threads=2, duplicates=0.1, family=4)
    assert found["bands"] == 16 and found["foresight"] == wanted.to_dict()
    code, out, err = run(capfd, "plan", "--documents", "1e9", *size[2:])
    assert code == 2 and out == "" and "1,000,000,000 documents need" in err
    assert "--bytes needs --documents" in run(capfd, "plan", "--bytes", "1e9")[2]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["dedup"], 2, "Missing argument"),
        (["dedup", "IN", "--threshold", "1.5"], 2, "threshold must be in (0, 1]"),
        (["dedup", "IN", "--threshold", "high"], 2, "not a valid number"),
        (["dedup", "IN", "--text", "body"], 1, "field 'body' is missing; fields found: id, text"),
        (["dedup", "IN", "--id", "url"], 1, "name another with --id"),
        (["dedup", "-"], 2, "--format"),
        (["dedup", "IN", "--threads", "0"], 2, "0 is not in the range"),
        (
            ["plan", "--recall", "1"],
            2,
            "recall must be in (0, 1): it is the probability of finding a pair at the threshold, and no",
        ),
        (["index", "create", "new.idx", "--recall", "1"], 2, "dedup and pairs take 1); got 1.0"),
        (["plan", "IN", "--recall", "1"], 2, "the cost of recall 1 depends on which shingles"),
    ],
)
def test_errors(capfd, corpus, arguments, code, message):
    found, _, err = run(capfd, *[corpus if a == "IN" else a for a in arguments])
    assert found == code
    assert message in err
    assert "Traceback" not in err


def test_no_permission_is_told_before_any_work(capfd, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    code, _, err = run(capfd, "dedup", corpus, "-o", tmp_path / "out.jsonl")
    assert code == 1 and "no permission" in err


def test_standard_input(corpus, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", "dedup", "-", "--format", "jsonl", "--annotate", "-o", str(tmp_path / "o.jsonl")],
        input=corpus.read_bytes(), capture_output=True, check=True,
    )  # fmt: skip
    assert b"4 documents" in done.stdout
    assert b'"cluster": "stdin:1"' in (tmp_path / "o.jsonl").read_bytes().splitlines()[0]


def test_help_and_import_load_nothing_heavy():
    code = (
        "import sys, lookalike, lookalike.cli; dir(lookalike); "
        "print([m for m in ('numpy', 'numba', 'pyarrow', 'scipy', 'rich', 'msgspec') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_plan_has_the_parameters_of_the_function():
    import inspect

    options = {p.name: p.get_default(click.Context(plan)) for p in plan.params}
    known = inspect.signature(la.foresee).parameters | inspect.signature(la.plan).parameters
    wanted = {name: p.default if p.default is not p.empty else None for name, p in known.items()}
    assert {name: options[name] for name in wanted} == wanted | {"work": None, "format": None}


def test_interrupt_leaves_nothing_behind(tmp_path):
    (tmp_path / "out").mkdir()
    command = ["dedup", "-", "--format", "jsonl", "-o", str(tmp_path / "out/o.jsonl"), "--unit", "char"]
    process = subprocess.Popen(
        [sys.executable, "-m", "lookalike", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for i in range(20_000):  # more than a pipe holds: the job is reading when this has ended, and waits for more
        process.stdin.write(json.dumps({"text": f"{A} {i} {i + 1} {i + 2}"}).encode() + b"\n")
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    # Python ends by the signal itself where it came in the middle of a library's exec(); a shell says 130 to both.
    assert process.returncode in (130, -signal.SIGINT)
    assert b"interrupted" in err and b"Traceback" not in err
    assert list((tmp_path / "out").iterdir()) == []


def test_version(capfd):
    assert run(capfd, "--version")[1].strip() == f"lookalike, version {la.__version__}"
