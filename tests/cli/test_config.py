"""Settings in ``lookalike.toml``, ``--config``, ``--set``, presets, and records of jobs."""

import gc
import json
import os
import tomllib
from pathlib import Path

import click
import pytest
from json_lines import write_lines

from lookalike.cli.main import program

TEXTS = ["One two three four five", "one two three four six", "one two three four five", "seven eight"]


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", TEXTS)


def config(text, name="lookalike.toml"):
    Path(name).write_text(text)


@pytest.fixture
def in_force(run):

    def found(line):
        code, out, err = run(f"{line} --print-config")
        assert code == 0, err
        return tomllib.loads(out)

    return found


def test_what_goes_before_what(in_force, run):
    config("threshold = 0.5\nrecall = 0.9\n[preset.own]\nthreshold = 0.4\nmax_bucket = 7\nwidth = 2\n")
    for words, threshold, most in (("", 0.5, 128), ("--preset own", 0.5, 7), ("--set threshold=0.6", 0.6, 128)):
        found = in_force(f"dedup {words}")
        assert (found["threshold"], found["max_bucket"], "width" in found) == (threshold, most, most == 7)
        assert in_force(f"dedup {words} -t 0.7")["threshold"] == 0.7
    assert "threshold" not in in_force("repeats"), "a key of other commands"
    config("", "other.toml")
    assert in_force("dedup --config other.toml")["threshold"] == 0.8
    assert run("dedup in.jsonl")[2].startswith("from lookalike.toml: threshold, recall\nnothing was written (no -o); ")


def test_values_are_those_of_toml_or_words(in_force):
    words = ("seed=random", "ignore=a", "'ignore=[\"b\", \"5\"]'", "source=5", "'query=select \"a\" # b'", "fold_case=false",
             "delimiter=\x7f", "max_document=2000", "within=[a", "conf=a.b=c")  # fmt: skip
    found = in_force(" ".join(["dedup", *(f"--set {word}" for word in words)]))
    wanted = {"ignore": ["a", "b", "5"], "source": "5", "query": 'select "a" # b', "fold_case": False, "delimiter": "\x7f",
              "seed": "random", "conf": ["a.b=c"], "max_document": "2000", "within": "[a"}  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted


def test_a_file_for_all_commands_may_say_what_one_job_has_no_use_for(run):
    config("fold_case = false\nmin_words = 3\n")
    for unit in ("line", "passage"):
        assert run(f"repeats in.jsonl --unit {unit} --quiet") == (0, "", "")
    assert run("repeats in.jsonl --set fold_case=true")[0] == 2


@pytest.mark.parametrize("command", ["dedup", "decontaminate", "compare"])
def test_what_is_in_force_can_be_given_back(run, command):
    code, first, _ = run(f"{command} --print-config")
    config(first, "again.toml")
    assert code == 0 and run(f"{command} --config again.toml --print-config")[1] == first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("preset = ['web']", "preset must be one of web, prose, code, records; got ['web']"),
        ("preset = 'wob'", "preset must be one of web, prose, code, records; got 'wob'; did you mean 'web'?"),
        ("max_buckt = 5", "'max_buckt' is not a key; did you mean 'max_bucket'?"),
        ("max_bucket = 5.5", "max_bucket must be of the type integer; got 5.5"),
        ("max_bucket = 1", "max_bucket: 1 is not in the range x>=2"),
        ("fold_case = 'no'", "fold_case must be of the type boolean; got 'no'"),
        ("threshold = '0.8'", "threshold must be of the type number; got '0.8'"),
        ("exclude = ['a', 5]", "exclude must be of the type text or a list of these; got ['a', 5]"),
        ("verify = 'exat'", "verify: 'exat' is not one of 'exact', 'sketch'; did you mean 'exact'?"),
        ("[dedup]\nseed = 5", "'dedup' is not a key; --print"),
        ("threshold = ", "neither TOML nor"),
    ],
)
def test_mistakes_in_a_file_are_named(run, text, said):
    config(text)
    code, _, err = run("dedup in.jsonl -o out.jsonl")
    assert code == 2 and f"error: lookalike.toml: {said}" in err and not os.path.exists("out.jsonl")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--set max_bucket=x", "--set: max_bucket: 'x' is not a valid integer."),
        ("--set max_bucket", "--set: it takes KEY=VALUE; got 'max_bucket'"),
        ("--set max_buckets=5", "--set: 'max_buckets' is not a key; did you mean 'max_bucket'?"),
        ("--set floor=high", "--set: floor: 'high' is not a valid number"),
        ("--max-bucket 5", "--max-bucket is not an option, but a key: --set max_bucket=VALUE"),
        ("--config none.toml", "none.toml: settings cannot be read: No such file or directory"),
        ("--config some.json", "some.json: neither TOML nor"),
    ],
)
def test_mistakes_on_the_command_line_are_named(run, words, said):
    config("[1]", "some.json")
    code, _, err = run(f"dedup in.jsonl {words}")
    assert code == 2 and f"error: {said}" in err


@pytest.mark.parametrize(
    "line",
    [
        "dedup --set fold_case=false --set slices=text --keep longest --width 2 -t 0.3 --recall 1",
        "pairs --set floor=0.1 --measure containment --width 2 -t 0.3 --max-pairs 1",
        "decontaminate --against other.jsonl --width 2 -t 0.5",
        "repeats --min-words 1",
        "repeats --unit passage --length 2 --set fold_case=false",
    ],
)
def test_a_job_is_repeated_by_its_record(run, line):
    write_lines("other.jsonl", TEXTS[1:])
    assert run(f"{line} in.jsonl -o first.jsonl --quiet") == (0, "", "")
    again = f"{line.split()[0]} in.jsonl {'--against other.jsonl' if '--against' in line else ''} -o again.jsonl"
    assert run(f"{again} --config first.jsonl_lookalike.json --quiet") == (0, "", "")
    found = []
    for name in ("first", "again"):
        record = json.loads(Path(f"{name}.jsonl_lookalike.json").read_text())
        found.append((Path(f"{name}.jsonl").read_bytes(), record["parameters"]))
    assert found[0] == found[1]


def test_help_is_short_and_says_where_more_is(run):
    shown = [one for one in program.commands["dedup"].params if isinstance(one, click.Option) and not one.hidden]
    _, out, _ = run("dedup --help")
    assert len(shown) <= 34 and len(out.splitlines()) <= 125 and "docs/reference/config.md" in out and "max_bucket" in out
    groups = ("Common options", "Matching", "Input", "Output", "Execution", "Other settings")
    places = [out.index(f"\n{name}") for name in groups]
    assert places == sorted(places)


def test_a_job_begins_anew_with_force(run, monkeypatch):
    """And goes on without it; other settings are refused, unless it begins anew."""
    from lookalike.results.result import Result

    job = "dedup in.jsonl -o out.jsonl --work work --quiet"
    with monkeypatch.context() as patch:
        patch.setattr(Result, "write", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run(job)[0] == 130 and os.path.exists("work/job.json")
    gc.collect()  # the traceback held the folder
    code, _, err = run(f"{job} -t 0.5")
    gc.collect()
    assert code == 2 and "holds an unfinished job with other parameters or inputs: threshold was 0.8, is 0.5" in err
    assert run(f"{job} -t 0.5 --force")[0] == 0 and not os.listdir("work")
