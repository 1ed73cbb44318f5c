"""Settings in ``lookalike.toml``, ``--config``, ``--set``, presets, and records of jobs."""

import gc
import json
import tomllib

import click
import pytest
from json_lines import write_lines

from lookalike.cli.main import program

from .commands import run

TEXTS = ["One two three four five", "one two three four six", "one two three four five", "seven eight"]


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", TEXTS)
    return tmp_path


def in_force(captured, *words):
    code, out, err = run(captured, *words, "--print-config")
    assert code == 0, err
    return tomllib.loads(out)


def test_what_goes_before_what(corpus, capsys):
    (corpus / "lookalike.toml").write_text(
        "threshold = 0.5\nrecall = 0.9\n[preset.own]\nthreshold = 0.4\nmax_bucket = 7\nwidth = 2\n"
    )
    layers = ([], 0.5, 128), (["--preset", "own"], 0.5, 7), (["--set", "threshold=0.6"], 0.6, 128)
    for words, threshold, most in layers:
        found = in_force(capsys, "dedup", *words)
        assert (found["threshold"], found["max_bucket"], "width" in found) == (threshold, most, most == 7)
        assert in_force(capsys, "dedup", *words, "-t", "0.7")["threshold"] == 0.7
    assert "threshold" not in in_force(capsys, "repeats"), "a key of other commands"
    (corpus / "other.toml").write_text("")
    assert in_force(capsys, "dedup", "--config", "other.toml")["threshold"] == 0.8
    assert run(capsys, "dedup", "in.jsonl")[2] == "from lookalike.toml: threshold, recall\nnothing was written (no -o); add "\
        "--annotate -o annotated.jsonl to see who matched whom\n"  # fmt: skip


def test_values_are_those_of_toml_or_words(corpus, capsys):
    words = ["seed=random", "ignore=a", 'ignore=["b", "5"]', "source=5", "query=select \"a\" # b", "fold_case=false", "delimiter=\x7f",
             "max_document=2000", "within=[a", "conf=a.b=c"]  # fmt: skip
    given = [word for one in words for word in ("--set", one)]
    found = in_force(capsys, "dedup", *given)
    assert found["ignore"] == ["a", "b", "5"] and found["source"] == "5" and found["query"] == 'select "a" # b'
    assert (found["fold_case"], found["delimiter"], found["seed"], found["conf"]) == (False, "\x7f", "random", ["a.b=c"])
    assert found["max_document"] == "2000" and found["within"] == "[a"


def test_a_file_for_all_commands_may_say_what_one_job_has_no_use_for(corpus, capsys):
    (corpus / "lookalike.toml").write_text("fold_case = false\nmin_words = 3\n")
    for unit in ("line", "passage"):
        assert run(capsys, "repeats", "in.jsonl", "--unit", unit, "--quiet") == (0, "", "")
    assert run(capsys, "repeats", "in.jsonl", "--set", "fold_case=true")[0] == 2


@pytest.mark.parametrize("command", ["dedup", "decontaminate", "compare"])
def test_what_is_in_force_can_be_given_back(corpus, capsys, command):
    code, first, _ = run(capsys, command, "--print-config")
    (corpus / "again.toml").write_text(first)
    assert code == 0 and run(capsys, command, "--config", "again.toml", "--print-config")[1] == first


BAD = [
    ("preset = ['web']", "lookalike.toml: preset must be one of web, prose, code, records; got ['web']"),
    ("max_buckt = 5", "lookalike.toml: 'max_buckt' is not a key; did you mean 'max_bucket'?"),
    ("max_bucket = 5.5", "lookalike.toml: max_bucket must be of the type integer; got 5.5"),
    ("max_bucket = 1", "lookalike.toml: max_bucket: 1 is not in the range x>=2"),
    ("fold_case = 'no'", "lookalike.toml: fold_case must be of the type boolean; got 'no'"),
    ("threshold = '0.8'", "lookalike.toml: threshold must be of the type number; got '0.8'"),
    ("exclude = ['a', 5]", "lookalike.toml: exclude must be of the type text or a list of these; got ['a', 5]"),
    ("verify = 'exat'", "lookalike.toml: verify: 'exat' is not one of 'exact', 'sketch'; did you mean 'exact'?"),
    ("[dedup]\nseed = 5", "lookalike.toml: 'dedup' is not a key; --print"),
    ("preset = 'wob'", "lookalike.toml: preset must be one of web, prose, code, records; got 'wob'; did you mean 'web'?"),
    ("threshold = ", "lookalike.toml: neither TOML nor"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_mistakes_in_a_file_are_named(corpus, capsys, text, said):
    (corpus / "lookalike.toml").write_text(text)
    code, _, err = run(capsys, "dedup", "in.jsonl", "-o", "out.jsonl")
    assert code == 2 and f"error: {said}" in err and not (corpus / "out.jsonl").exists()


@pytest.mark.parametrize(("words", "said"), [
    (["--set", "max_bucket=x"], "--set: max_bucket: 'x' is not a valid integer."),
    (["--set", "max_bucket"], "--set: it takes KEY=VALUE; got 'max_bucket'"),
    (["--set", "max_buckets=5"], "--set: 'max_buckets' is not a key; did you mean 'max_bucket'?"),
    (["--set", "floor=high"], "--set: floor: 'high' is not a valid number"),
    (["--max-bucket", "5"], "--max-bucket is not an option, but a key: --set max_bucket=VALUE"),
    (["--config", "none.toml"], "none.toml: settings cannot be read: No such file or directory"),
    (["--config", "some.json"], "some.json: neither TOML nor"),
])  # fmt: skip
def test_mistakes_on_the_command_line_are_named(corpus, capsys, words, said):
    (corpus / "some.json").write_text("[1]")
    code, _, err = run(capsys, "dedup", "in.jsonl", *words)
    assert code == 2 and f"error: {said}" in err


@pytest.mark.parametrize(
    "words",
    [
        "dedup --set fold_case=false --set slices=text --keep longest --width 2 -t 0.3 --recall 1",
        "pairs --set floor=0.1 --measure containment --width 2 -t 0.3 --max-pairs 1",
        "decontaminate --against other.jsonl --width 2 -t 0.5",
        "repeats --min-words 1",
        "repeats --unit passage --length 2 --set fold_case=false",
    ],
)
def test_a_job_is_repeated_by_its_record(corpus, capsys, words):
    write_lines(corpus / "other.jsonl", TEXTS[1:])
    words = words.split()
    more = words[1:3] if "--against" in words else []
    first, again = ("first.jsonl", "again.jsonl")
    assert run(capsys, *words, "in.jsonl", "-o", first, "--quiet") == (0, "", "")
    record = f"{first}_lookalike.json"
    assert run(capsys, words[0], "in.jsonl", *more, "-o", again, "--config", record, "--quiet") == (0, "", "")
    said, repeated = (json.loads((corpus / f"{name}_lookalike.json").read_text()) for name in (first, again))
    assert (corpus / again).read_bytes() == (corpus / first).read_bytes() and said["parameters"] == repeated["parameters"]


def test_help_is_short_and_says_where_more_is(capsys):
    dedup = program.commands["dedup"]
    shown = [one.name for one in dedup.params if isinstance(one, click.Option) and not one.hidden]
    assert len(shown) <= 34
    _, out, _ = run(capsys, "dedup", "--help")
    assert len(out.splitlines()) <= 125 and "docs/reference/config.md" in out and "max_bucket" in out
    groups = ("Common options", "Matching", "Input", "Output", "Execution", "Other settings")
    places = [out.index(f"\n{name}") for name in groups]
    assert places == sorted(places)


def test_a_job_begins_anew_with_force(corpus, capsys, monkeypatch):
    """And goes on without it; other settings are refused, unless it begins anew."""
    from lookalike.results.result import Result

    job = ["dedup", "in.jsonl", "-o", "out.jsonl", "--work", "work", "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr(Result, "write", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run(capsys, *job)[0] == 130 and (corpus / "work/job.json").exists()
    gc.collect()  # the traceback held the folder
    code, _, err = run(capsys, *job, "-t", "0.5")
    gc.collect()
    assert code == 2 and "holds an unfinished job with other parameters or inputs: threshold was 0.8, is 0.5" in err
    assert run(capsys, *job, "-t", "0.5", "--force")[0] == 0 and not any((corpus / "work").iterdir())
