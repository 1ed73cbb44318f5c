import json
from pathlib import Path

import click
import pytest
from json_lines import write_lines

from lookalike.cli.main import program

TEXTS = ["One two three four five", "one two three four six", "one two three four five", "seven eight"]


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", TEXTS)


def test_what_is_in_force_can_be_given_back(run):
    for command in ("dedup", "decontaminate", "compare"):
        code, first, _ = run(f"{command} --print-config")
        Path("again.toml").write_text(first)
        assert code == 0 and run(f"{command} --config again.toml --print-config")[1] == first


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("dedup", "--set fold_case=false --set slices=text --keep longest --width 2 -t 0.3 --recall 1"),
        ("pairs", "--set floor=0.1 --measure containment --width 2 -t 0.3 --max-pairs 1"),
        ("decontaminate --against other.jsonl", "--width 2 -t 0.5"),
        ("repeats", "--min-words 1"),
        ("repeats", "--unit passage --length 2 --set fold_case=false"),
    ],
)
def test_a_job_is_repeated_by_its_record(run, command, given):
    write_lines("other.jsonl", TEXTS[1:])
    found = []
    for name, how in (("first.jsonl", given), ("again.jsonl", "--config first.jsonl_lookalike.json")):
        assert run(f"{command} in.jsonl -o {name} --quiet {how}") == (0, "", "")
        found.append((Path(name).read_bytes(), json.loads(Path(f"{name}_lookalike.json").read_text())["parameters"]))
    assert found[0] == found[1]


def test_help_is_short_and_says_where_more_is(run):
    shown = [one for one in program.commands["dedup"].params if isinstance(one, click.Option) and not one.hidden]
    _, out, _ = run("dedup --help")
    assert len(shown) <= 34 and len(out.splitlines()) <= 125 and "docs/reference/config.md" in out and "max_bucket" in out
    groups = ("Common options", "Matching", "Input", "Output", "Execution", "Other settings")
    places = [out.index(f"\n{name}") for name in groups]
    assert places == sorted(places)
