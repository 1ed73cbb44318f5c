"""plan and compare: every odd value has an answer or a clear error, and no traceback."""

import json
import os
import re

import numpy as np
import pytest
from cli.commands import run

import lookalike as la


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--documents", "-5"], "documents must be a whole number in 0..1e+15; got -5.0"),
        (["--documents", "nan"], "got nan"),
        (["--documents", "1e400"], "got inf"),
        (["--documents", "1e300"], "got 1e+300"),
        (["--documents", "0.5"], "got 0.5"),
        (["--permutations", "0"], "permutations must be in 1..65536"),
        (["-t", "nan"], "threshold must be a number in (0, 1]"),
        (["-t", "1e-300"], "at least 4.6e+300 are needed"),
        (["--recall", "nan"], "recall must be a number in (0, 1)"),
        (["--sketch-bytes", "0"], "--sketch-bytes must be in 1..262144; got 0"),
        (["--sketch-bytes", "9" * 30], "--sketch-bytes must be in"),
        (["--standard-error", "0"], "the standard error must be in [0.0001, 1); got 0.0"),
        (["--standard-error", "nan"], "got nan"),
        (["--standard-error", "inf"], "got inf"),
        (["--standard-error", "1e-300"], "got 1e-300"),
        (["--density", "2"], "density must be in [0, 1]; got 2.0"),
        (["--density", "nan"], "density must be a number"),
        (
            ["--permutations", "256", "--sketch-bytes", "7", "-t", "0.5"],
            "56 bits are too few for a sketch of 256 permutations",
        ),
        (["--bands", "5"], "give both or neither"),
        (["--rows", "5"], "give both or neither"),
        (["--bands", "0", "--rows", "5"], "bands must be at least 1"),
    ],
)
def test_plan_refuses(capfd, arguments, message):
    for more in ([], ["--json"]):
        code, out, err = run(capfd, "plan", *arguments, *more)
        assert (code, out) == (2, "") and message in err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"recall": None}, "recall must be a number in (0, 1); got None"),
        ({"documents": "many"}, "documents must be a number"),
        ({"standard_error": "small"}, "standard_error must be a number"),
        ({"sketch_bytes": True}, "sketch_bytes must be an integer"),
    ],
)
def test_plan_in_python_refuses_other_types(wrong, message):
    with pytest.raises(la.errors.ParameterError, match=re.escape(message)):
        la.plan(**wrong)
    plan = la.plan(threshold=np.float32(0.75), permutations=np.int64(256), documents=np.int64(10))
    assert (
        json.loads(json.dumps(plan.to_dict()))
        == plan.to_dict()
        == la.plan(threshold=0.75, permutations=256, documents=10).to_dict()
    )


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("a/1.txt", "one two three four five six"),
        ("a/2.txt", "unlike the other one in all ways"),
        ("b/1.txt", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("a", "b", "a is a folder: compare takes two files with one document each; to compare each document of a folder with each of "
                   "another, run: lookalike pairs a --against b"),
        ("a/1.txt", "b", "b is a folder"),
        ("a/*.txt", "b/1.txt", "a/*.txt is several files"),
        ("-", "-", "can be one of the two files, not both"),
    ],
)  # fmt: skip
def test_compare_takes_two_files(capfd, folders, left, right, message):
    code, out, err = run(capfd, "compare", left, right)
    assert (code, out) == (2, "") and message in err


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv.gz", "rows.parquet"])
def test_compare_takes_no_file_of_documents(capfd, folders, tmp_path, name):
    (tmp_path / name).write_text('{"text": "a"}')
    code, _, err = run(capfd, "compare", "a/1.txt", name)
    assert code == 2 and f"{name} holds documents, as {name[4:]} files do" in err and f"lookalike pairs {name}; to" in err


@pytest.mark.parametrize(("number", "unit"), [("4", "GB"), ("3.5", "g"), ("500", "MiB")])
def test_a_size_in_two_words_is_told(capfd, folders, tmp_path, number, unit):
    code, _, err = run(capfd, "dedup", "a", "--memory", number, unit)
    assert code == 2 and f"--memory {number} {unit}: a size is one word: --memory {number}{unit}" in err
    (tmp_path / unit).write_text('{"text": "a"}')
    assert "one word" not in run(capfd, "dedup", "a", "--memory", number, unit)[2], "it may be an input"


def test_compare_reads_pipes_once(capfd, folders):
    ends = os.pipe()
    os.write(ends[1], b"one two three four five six")
    os.close(ends[1])
    try:
        found = json.loads(run(capfd, "compare", f"/dev/fd/{ends[0]}", "a/1.txt", "--json")[1])
    finally:
        os.close(ends[0])
    assert found["resemblance"] == 1.0 and found["shingles_left"] == 2


@pytest.mark.parametrize(
    "words",
    [
        "index create s3://lake/x",
        "index info s3://lake/x",
        "index remove x --from s3://lake/x",
        "show s3://lake/x",
        "show s3://lake/x ID",
        "serve s3://lake/x",
    ],
)
def test_what_is_on_this_machine_only_is_named_as_it_was_given(capfd, words):
    code, out, err = run(capfd, *words.split())
    assert (code, out) == (2, "") and err.startswith("error: s3://lake/x is on an object store, and ")


@pytest.mark.parametrize("words", ["dedup a --history", "serve", "serve --mcp"])
def test_a_name_that_is_too_long_is_an_error(capfd, folders, words):
    code, _, err = run(capfd, *words.split(), "x" * 300)
    assert code == 1 and err.startswith(f"error: {'x' * 100}")
