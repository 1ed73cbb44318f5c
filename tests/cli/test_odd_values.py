"""plan and compare: every odd value has an answer or a clear error, and no traceback; options twice, and empty names."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_lines

import lookalike as la


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--documents -5", "documents must be a whole number in 0..1e+15; got -5.0"),
        ("--documents nan", "got nan"),
        ("--documents 1e400", "got inf"),
        ("--documents 0.5", "got 0.5"),
        ("--permutations 0", "permutations must be in 1..65536"),
        ("-t nan", "threshold must be a number in (0, 1]"),
        ("-t 1e-300", "at least 4.6e+300 are needed"),
        ("--recall nan", "recall must be a number in (0, 1)"),
        ("--recall 100", "got 100.0"),
        ("--sketch-bytes 0", "--sketch-bytes must be in 1..262144; got 0"),
        (f"--sketch-bytes {'9' * 30}", "--sketch-bytes must be in"),
        ("--standard-error 0", "the standard error must be in [0.0001, 1); got 0.0"),
        ("--standard-error nan", "got nan"),
        ("--standard-error 1e-300", "got 1e-300"),
        ("--density 2", "density must be in [0, 1]; got 2.0"),
        ("--density nan", "density must be a number"),
        ("--permutations 256 --sketch-bytes 7 -t 0.5", "56 bits are too few for a sketch of 256 permutations"),
        ("--bands 5", "give both or neither"),
        ("--rows 5", "give both or neither"),
        ("--bands 0 --rows 5", "bands must be at least 1"),
    ],
)
def test_plan_refuses(run, given, message):
    for more in ("", "--json"):
        code, out, err = run(f"plan {given} {more}")
        assert (code, out) == (2, "") and message in err


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("recall", None, "must be a number in (0, 1)"),
        ("documents", "many", "must be a number"),
        ("standard_error", "small", "must be a number"),
        ("sketch_bytes", True, "must be an integer"),
    ],
)
def test_plan_in_python_refuses_other_types(name, value, reason):
    with pytest.raises(la.errors.ParameterError) as caught:
        la.plan(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value) and caught.value.reason.startswith(reason)


def test_numbers_of_numpy_are_numbers_of_a_plan():
    plan = la.plan(threshold=np.float32(0.75), permutations=np.int64(256), documents=np.int64(10)).to_dict()
    assert json.loads(json.dumps(plan)) == plan == la.plan(threshold=0.75, permutations=256, documents=10).to_dict()


@pytest.fixture
def _folders():
    texts = {"a/1.txt": "one two three four five six", "a/2.txt": "unlike the other one in all ways", "b/1.txt": ""}
    for name, text in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)


in_folders = pytest.mark.usefixtures("_folders")


@in_folders
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("a b", "a is a folder: compare takes two files with one document each; to compare each document of a folder with each of "
                "another, run: lookalike pairs a --against b"),
        ("a/1.txt b", "b is a folder"),
        ("a/*.txt b/1.txt", "a/*.txt is several files"),
        ("- -", "can be one of the two files, not both"),
    ],
)  # fmt: skip
def test_compare_takes_two_files(run, files, message):
    code, out, err = run(f"compare {files}")
    assert (code, out) == (2, "") and message in err


@in_folders
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv.gz", "rows.parquet"])
def test_compare_takes_no_file_of_documents(run, name):
    Path(name).write_text('{"text": "a"}')
    code, _, err = run(f"compare a/1.txt {name}")
    assert code == 2 and f"{name} holds documents, as {name[4:]} files do" in err and f"lookalike pairs {name}; to" in err


@in_folders
@pytest.mark.parametrize(("number", "unit"), [("4", "GB"), ("3.5", "g"), ("500", "MiB")])
def test_a_size_in_two_words_is_told(run, number, unit):
    line = f"dedup a --memory {number} {unit}"
    code, _, err = run(line)
    assert code == 2 and f"--memory {number} {unit}: a size is one word: --memory {number}{unit}" in err
    Path(unit).write_text('{"text": "a"}')
    assert "one word" not in run(line)[2], "it may be an input"


@in_folders
def test_compare_reads_pipes_once(run):
    ends = os.pipe()
    os.write(ends[1], b"one two three four five six")
    os.close(ends[1])
    try:
        found = json.loads(run(f"compare /dev/fd/{ends[0]} a/1.txt --json")[1])
    finally:
        os.close(ends[0])
    assert found["resemblance"] == 1.0 and found["shingles_left"] == 2


@pytest.mark.parametrize(
    "line", ["index create AT", "index info AT", "index remove x --from AT", "show AT", "show AT ID", "serve AT"]
)
def test_what_is_on_this_machine_only_is_named_as_it_was_given(run, line):
    code, out, err = run(line.replace("AT", "s3://lake/x"))
    assert (code, out) == (2, "") and err.startswith("error: s3://lake/x is on an object store, and ")


@in_folders
@pytest.mark.parametrize("line", ["dedup a --history", "serve", "serve --mcp"])
def test_a_name_that_is_too_long_is_an_error(run, line):
    code, _, err = run(line, "x" * 300)
    assert code == 1 and err.startswith(f"error: {'x' * 100}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dedup x.jsonl -t 0.8 -t 0.9", "-t / --threshold is given "),
        ("dedup x.jsonl -o a.jsonl --id k -o b.jsonl", "-o / --output is given "),
        ("dedup x.jsonl --set fold_case=true --set fold_case=false", "fold_case is given "),
        ("repeats x.jsonl --memory 1GB --memory 2GB", "--memory is given "),
        ("compare x y --seed 1 --seed 2", "--seed is given "),
        ("index query i x --top 1 --top 2", "--top is given "),
        ("index create i --set seed=1 --set seed=2", "seed is given "),
        ("plan -t .8 -t .9", "-t / --threshold is given "),
        ("dedup x.jsonl -o ''", "--output is empty: "),
        ("dedup x.jsonl -o y.jsonl --history ''", "--history is empty: "),
        ("dedup x.jsonl --against y --against=", "--against is empty: "),
        ("dedup x.jsonl ''", "INPUT is empty: "),
        ("repeats x.jsonl --list ''", "--list is empty: "),
        ("index create ''", "INDEX is empty: "),
        ("history compact ''", "HISTORY is empty: "),
    ],
)
def test_an_option_is_given_once_and_no_name_is_empty(run, line, said):
    """The first of two values would be lost, and an empty name would mean the current folder."""
    code, _, error = run(line)
    assert code == 2 and said in error and not os.listdir()
    assert ("but takes one value" if "given" in said else "give it a value") in error


def test_flags_and_options_of_several_values_can_be_repeated(run):
    write_lines("x.jsonl", [{"a": "1", "b": "2", "text": "one two"}])
    assert run("dedup x.jsonl --json --json --key a --key b --text text")[0] == 0
    assert run("dedup . --glob *.jsonl --glob *.md")[0] == 0
